/* One pass over some rows: scores, losses and whatever of J's derivatives was asked for, while the rows are in the cache.

       z = Y A,   sum s l(t, z),   Y' (s l'),   Y' diag(s l'') Y,   Y' (s l'' o YV),   (Y o Y)' (s l''),
       Y' diag(u s l'^2) Y with a factor u of each row,   Y' (s l') group by group

   Rows are taken in tiles.  A tile is stored column after column, the column of ones first: every loop then runs over
   the rows of a tile, along memory and in vectors, for any number of columns.  Sums are kept one per vector lane until
   the pass ends.  Sparse rows (CSR) are never written out: they are walked entry by entry.

   Outputs are outermost: weights and gradients are (q, D) here, D = 1 + d. */

#include "evaluate.h"

#include "formulas.h"

#include <stdlib.h>

typedef struct { /* of one tile */
    double *x, *scaled; /* (D4, stride): columns padded to a multiple of four with zeros */
    double *z, *v, *r, *c; /* (q, rows): scores of A and V, s l', s l'' */
    double *t, *s, *own, *top, *rest, *total; /* (rows) */
    vec *gradient, *product, *intercept, *diagonal, *hessian, *outer;
    Py_ssize_t count; /* rows that are there; the others have no share */
    Py_ssize_t D4;
} Tile;

/* ---- rows into a tile ---- */

/* Rows that are asked for before their turn: the processor does not foresee a walk along eight rows at once (1e6 x 50:
   the Hessian takes 46 ms instead of 71, slopes of three classes 25 instead of 50) */
enum { AHEAD = 32 };

/* LANES numbers of each of LANES rows, less their centre, and the same turned: column after column */
#define TURNED(type, several) \
    static void turned_##type(const Pass *p, const Tile *tile, Py_ssize_t start) \
    { \
        Py_ssize_t L = p->stride, d = p->d, m = tile->count; \
        for (Py_ssize_t i = 0; i < m; i += LANES) { \
            const type *row[LANES]; /* the last row again where there are no more: what it leaves is cleared */ \
            for (int k = 0; k < LANES; k++) \
                row[k] = (const type *)(p->x + (start + (i + k < m ? i + k : m - 1)) * p->row_stride); \
            for (Py_ssize_t next = 0; next < d; next += LANES) { \
                Py_ssize_t j = next + LANES <= d ? next : d - LANES; \
                vec block[LANES]; \
                for (int k = 0; k < LANES; k++) { \
                    block[k] = __builtin_convertvector(*(const several *)(row[k] + j), vec); \
                    __builtin_prefetch((const char *)(row[k] + j) + AHEAD * p->row_stride); \
                } \
                if (p->center != NULL) \
                    for (int k = 0; k < LANES; k++) block[k] -= *(const loose *)(p->center + j); \
                turn(block); \
                for (int k = 0; k < LANES; k++) *(vec *)(tile->x + (1 + j + k) * L + i) = block[k]; \
            } \
        } \
    }

TURNED(double, loose)
TURNED(float, loose_floats)

static void load(const Pass *p, Tile *tile, Py_ssize_t start)
{
    Py_ssize_t L = p->stride, R = p->rows, m = tile->count, item = p->single ? 4 : 8;
    for (Py_ssize_t i = 0; i < R; i++) tile->x[i] = i < m ? 1.0 : 0.0;
    if (p->column_stride == item && p->d >= LANES) {
        if (p->single) turned_float(p, tile, start);
        else turned_double(p, tile, start);
    } else
        for (Py_ssize_t j = 0; j < p->d; j++) { /* columns that lie in one piece, or few of them */
            const char *column = p->x + start * p->row_stride + j * p->column_stride;
            double *restrict out = tile->x + (1 + j) * L, c = p->center == NULL ? 0.0 : p->center[j];
            if (p->single)
                for (Py_ssize_t i = 0; i < m; i++) out[i] = *(const float *)(column + i * p->row_stride) - c;
            else if (p->row_stride == item)
                for (Py_ssize_t i = 0; i < m; i++) out[i] = ((const double *)column)[i] - c;
            else
                for (Py_ssize_t i = 0; i < m; i++) out[i] = *(const double *)(column + i * p->row_stride) - c;
        }
    if (m < R)
        for (Py_ssize_t j = 1; j < p->D; j++) memset(tile->x + j * L + m, 0, (R - m) * sizeof(double));
}

/* ---- products of a tile ---- */

/* z (outputs, rows) = A (outputs, D) x; `width` vectors of rows at a time stay in registers */
static inline __attribute__((always_inline)) void
scores_of(const int outputs, const int width, const double *x, const double *A, double *z, Py_ssize_t D, Py_ssize_t R,
          Py_ssize_t L)
{
    for (Py_ssize_t i = 0; i < R; i += width * LANES) {
        vec sum[4][4];
        for (int k = 0; k < outputs; k++)
            for (int w = 0; w < width; w++) sum[k][w] = (vec){0};
        for (Py_ssize_t j = 0; j < D; j++)
            for (int w = 0; w < width; w++) {
                vec column = *(const vec *)(x + j * L + i + w * LANES);
                for (int k = 0; k < outputs; k++) sum[k][w] += A[k * D + j] * column;
            }
        for (int k = 0; k < outputs; k++)
            for (int w = 0; w < width; w++) *(vec *)(z + k * R + i + w * LANES) = sum[k][w];
    }
}

static void scores(const Pass *p, const Tile *tile, const double *A, double *z)
{
    Py_ssize_t D = p->D, R = p->rows, q = p->q, k = 0;
    for (; k + 4 <= q; k += 4) scores_of(4, 2, tile->x, A + k * D, z + k * R, D, R, p->stride);
    if (q - k == 3) scores_of(3, 2, tile->x, A + k * D, z + k * R, D, R, p->stride);
    if (q - k == 2) scores_of(2, 4, tile->x, A + k * D, z + k * R, D, R, p->stride);
    if (q - k == 1) scores_of(1, 4, tile->x, A + k * D, z + k * R, D, R, p->stride);
}

/* sum (outputs, D4) += r (outputs, rows) x', lane by lane */
static inline __attribute__((always_inline)) void
adjoint_of(const int outputs, const double *x, const double *r, vec *out, Py_ssize_t D4, Py_ssize_t R, Py_ssize_t L)
{
    for (Py_ssize_t j = 0; j < D4; j += 4) {
        vec sum[4][4];
        for (int k = 0; k < outputs; k++)
            for (int c = 0; c < 4; c++) sum[k][c] = out[k * D4 + j + c];
        for (Py_ssize_t i = 0; i < R; i += LANES)
            for (int k = 0; k < outputs; k++) {
                vec slope = *(const vec *)(r + k * R + i);
                for (int c = 0; c < 4; c++) sum[k][c] += slope * *(const vec *)(x + (j + c) * L + i);
            }
        for (int k = 0; k < outputs; k++)
            for (int c = 0; c < 4; c++) out[k * D4 + j + c] = sum[k][c];
    }
}

static void adjoint(const Pass *p, const Tile *tile, const double *r, vec *out)
{
    Py_ssize_t D4 = tile->D4, R = p->rows, q = p->q, k = 0;
    for (; k + 4 <= q; k += 4) adjoint_of(4, tile->x, r + k * R, out + k * D4, D4, R, p->stride);
    if (q - k == 3) adjoint_of(3, tile->x, r + k * R, out + k * D4, D4, R, p->stride);
    if (q - k == 2) adjoint_of(2, tile->x, r + k * R, out + k * D4, D4, R, p->stride);
    if (q - k == 1) adjoint_of(1, tile->x, r + k * R, out + k * D4, D4, R, p->stride);
}

/* Blocks of 4 x 4 rows of x diag(c) x', the lower triangle, lane by lane; x (D4, R), its rows L apart; y: room for 4 */
static void sandwich(const double *x, Py_ssize_t D4, Py_ssize_t R, Py_ssize_t L, const double *c, double *restrict y,
                     vec *out)
{
    for (Py_ssize_t a = 0; a < D4; a += 4) {
        for (int k = 0; k < 4; k++)
            for (Py_ssize_t i = 0; i < R; i++) y[k * L + i] = c[i] * x[(a + k) * L + i];
        for (Py_ssize_t b = 0; b <= a; b += 4, out += 16) {
            vec sum[4][4];
            for (int k = 0; k < 16; k++) sum[k / 4][k % 4] = out[k];
            for (Py_ssize_t i = 0; i < R; i += LANES) {
                vec left[4], right[4];
                for (int k = 0; k < 4; k++) left[k] = *(const vec *)(y + k * L + i);
                for (int k = 0; k < 4; k++) right[k] = *(const vec *)(x + (b + k) * L + i);
                for (int k = 0; k < 16; k++) sum[k / 4][k % 4] += left[k / 4] * right[k % 4];
            }
            for (int k = 0; k < 16; k++) out[k] = sum[k / 4][k % 4];
        }
    }
}

/* The same by BLAS, for many columns and c >= 0, straight into H */
static void sandwich_by_blas(const Pass *p, const Tile *tile, const double *c, double *H)
{
    Py_ssize_t R = p->rows, L = p->stride;
    for (Py_ssize_t i = 0; i < R; i++) tile->own[i] = sqrt(c[i]);
    for (Py_ssize_t j = 0; j < p->D; j++)
        for (Py_ssize_t i = 0; i < R; i++) tile->scaled[j * L + i] = tile->own[i] * tile->x[j * L + i];
    int n = (int)p->D, k = (int)R, stride = (int)L;
    double one = 1.0;
    p->syrk("U", "T", &n, &k, &one, tile->scaled, &stride, &one, H, &n); /* column-major upper: row-major lower */
}

/* ---- losses ---- */

#define LOSSES(formula) \
    _Pragma("omp simd reduction(+:value,mass) reduction(min:least)") for (Py_ssize_t i = 0; i < R; i++) \
    { \
        Loss l = formula(t[i], z[i], b); \
        value += s[i] * l.value; \
        r[i] = s[i] * l.gradient; \
        c[i] = s[i] * l.curvature; \
        mass += c[i]; \
        double side = t[i] == high ? z[i] : t[i] == low ? -z[i] : -INFINITY; \
        side = s[i] > 0 ? side : INFINITY; \
        least = side < least ? side : least; \
    }

static void pointwise(const Pass *p, const Tile *tile, Py_ssize_t k)
{
    Py_ssize_t R = p->rows;
    const double *restrict z = tile->z + k * R;
    double *restrict r = tile->r + k * R, *restrict c = tile->c + k * R;
    const double *restrict t = tile->t, *restrict s = tile->s;
    double b = p->margin, low = p->low, high = p->high, value = 0.0, mass = 0.0, least = *p->margin_out;
    switch (p->kind) {
    case LOGISTIC: LOSSES(logistic) break;
    case SQUARED: LOSSES(squared) break;
    case PERCEPTRON: LOSSES(perceptron) break;
    case QUADRATIC: LOSSES(quadratic) break;
    case RELAXATION: LOSSES(relaxation) break;
    case SIGMOID_SQUARED: LOSSES(sigmoid_squared) break;
    }
    *p->value += value;
    *p->margin_out = least;
    p->mass[k] += mass;
}

/* The targets and shares of one output, and its offsets added to z */
static void targets(const Pass *p, const Tile *tile, Py_ssize_t start, Py_ssize_t k, double *z)
{
    Py_ssize_t R = p->rows, m = tile->count, q = p->q;
    const double *restrict target = p->targets + k, *restrict share = p->shares + k;
    double *restrict t = tile->t, *restrict s = tile->s;
    if (p->codes != NULL) {
        for (Py_ssize_t i = 0; i < m; i++) t[i] = target[class_of(p, start + i) * q];
        for (Py_ssize_t i = 0; i < m; i++) s[i] = share[class_of(p, start + i) * q];
    } else
        for (Py_ssize_t i = 0; i < m; i++) { t[i] = target[(start + i) * q]; s[i] = share[0]; }
    if (p->weight != NULL)
        for (Py_ssize_t i = 0; i < m; i++) s[i] *= p->weight[start + i];
    if (p->offset != NULL)
        for (Py_ssize_t i = 0; i < m; i++)
            z[i] += p->offset[(start + i) * p->offset_width + (p->offset_width > 1 ? k : 0)];
    for (Py_ssize_t i = m; i < R; i++) { t[i] = p->high; s[i] = 0.0; }
}

/* l = ln sum_k e^{z_k} - t.z;  p - t;  its own class apart, so that nothing cancels where a row is decided:
   with e_k = e^{z_k - top},  l = top - z_own + ln(1 + (e_own - 1) + sum of the others),  p_own - 1 = -others/total. */
static void softmax(const Pass *p, const Tile *tile, Py_ssize_t start)
{
    Py_ssize_t R = p->rows, m = tile->count, q = p->q;
    double *restrict own = tile->own, *restrict top = tile->top, *restrict rest = tile->rest, *restrict s = tile->s;
    double *restrict mine = tile->t, *restrict total = tile->total;
    int hard = p->codes != NULL;
    for (Py_ssize_t i = 0; i < R; i++) {
        Py_ssize_t row = start + (i < m ? i : 0), class = hard ? class_of(p, row) : 0;
        own[i] = hard ? (double)class : -1.0;
        s[i] = i < m ? p->shares[class * q] * (p->weight == NULL ? 1.0 : p->weight[row]) : 0.0;
        mine[i] = hard ? tile->z[class * R + i] : 0.0;
        top[i] = -INFINITY;
    }
    if (p->offset != NULL)
        for (Py_ssize_t k = 0; k < q; k++)
            for (Py_ssize_t i = 0; i < m; i++) {
                tile->z[k * R + i] += p->offset[(start + i) * q + k];
                if (own[i] == (double)k) mine[i] = tile->z[k * R + i];
            }
    for (Py_ssize_t k = 0; k < q; k++) {
        const double *restrict z = tile->z + k * R;
#pragma omp simd
        for (Py_ssize_t i = 0; i < R; i++) {
            double other = own[i] == (double)k ? -INFINITY : z[i];
            top[i] = other > top[i] ? other : top[i];
        }
    }
    double least = hard ? *p->margin_out : -INFINITY, value = 0.0;
#pragma omp simd reduction(min:least)
    for (Py_ssize_t i = 0; i < R; i++) {
        double side = s[i] > 0 ? mine[i] - top[i] : INFINITY;
        least = side < least ? side : least;
        top[i] = hard && mine[i] > top[i] ? mine[i] : top[i];
        rest[i] = 0.0;
    }
    if (!hard) /* the largest output stands apart, and mine becomes t.(z - top) */
        for (Py_ssize_t k = 0; k < q; k++)
            for (Py_ssize_t i = 0; i < m; i++) {
                double below = tile->z[k * R + i] - top[i];
                if (below == 0.0) own[i] = (double)k;
                mine[i] += p->targets[(start + i) * q + k] * below;
            }
    for (Py_ssize_t k = 0; k < q; k++) {
        double *restrict z = tile->z + k * R;
#pragma omp simd
        for (Py_ssize_t i = 0; i < R; i++) {
            double e = exp_negative(z[i] - top[i]);
            rest[i] += own[i] == (double)k ? 0.0 : e;
            z[i] = e;
        }
    }
    if (hard) {
#pragma omp simd reduction(+:value)
        for (Py_ssize_t i = 0; i < R; i++) {
            double e = exp_negative(mine[i] - top[i]);
            value += s[i] * (top[i] - mine[i] + log1p_positive(rest[i] + (e - 1.0)));
            total[i] = 1.0 / (rest[i] + e);
        }
    } else {
        for (Py_ssize_t i = 0; i < m; i++) {
            value += s[i] * (log1p_positive(rest[i]) - mine[i]);
            total[i] = 1.0 / (1.0 + rest[i]);
        }
        for (Py_ssize_t i = m; i < R; i++) total[i] = 1.0 / q;
    }
    *p->value += value;
    *p->margin_out = least;
    for (Py_ssize_t k = 0; k < q; k++) { /* z becomes the posteriors, r their weighted distance from the targets */
        double *restrict z = tile->z + k * R, *restrict r = tile->r + k * R;
#pragma omp simd
        for (Py_ssize_t i = 0; i < R; i++) {
            z[i] *= total[i];
            r[i] = s[i] * (own[i] == (double)k ? -rest[i] * total[i] : z[i]);
        }
        if (!hard)
            for (Py_ssize_t i = 0; i < m; i++)
                r[i] += s[i] * ((own[i] == (double)k ? 1.0 : 0.0) - p->targets[(start + i) * q + k]);
    }
}

/* c = s p_k p_l for k != l: what the pair adds to both diagonal blocks and takes from those beside, since
   p_k (1 - p_k) is the sum of p_k p_l over the others.  Formed so, no digits cancel where a row is decided. */
static void pair_curvature(const Pass *p, const Tile *tile, Py_ssize_t k, Py_ssize_t l)
{
    Py_ssize_t R = p->rows;
    const double *restrict a = tile->z + k * R, *restrict b = tile->z + l * R, *restrict s = tile->s;
    double *restrict c = tile->c;
#pragma omp simd
    for (Py_ssize_t i = 0; i < R; i++) c[i] = s[i] * a[i] * b[i];
}

/* c = u s l'_k l'_l, where r = s l'.  The slopes of competing outputs sum to zero row by row: of their outer products a
   pair brings -c to the places of its curvature, and the sum of these over the others is c = u s l'_k l'_k. */
static void slope_product(const Pass *p, const Tile *tile, Py_ssize_t start, Py_ssize_t k, Py_ssize_t l, double sign,
                          double *restrict c)
{
    Py_ssize_t R = p->rows;
    const double *restrict a = tile->r + k * R, *restrict b = tile->r + l * R, *restrict s = tile->s;
    for (Py_ssize_t i = 0; i < R; i++) c[i] = s[i] > 0 ? sign * a[i] * b[i] / s[i] : 0.0;
    for (Py_ssize_t i = 0; i < tile->count && p->factor != NULL; i++) c[i] *= p->factor[start + i];
}

/* c = s p_k (1 - p_k) */
static void own_curvature(const Tile *tile, Py_ssize_t k, Py_ssize_t R)
{
    const double *restrict a = tile->z + k * R, *restrict s = tile->s, *restrict own = tile->own;
    const double *restrict rest = tile->rest, *restrict total = tile->total;
    double *restrict c = tile->c;
#pragma omp simd
    for (Py_ssize_t i = 0; i < R; i++) c[i] = s[i] * a[i] * (own[i] == (double)k ? rest[i] * total[i] : 1.0 - a[i]);
}

/* v becomes s p_k (v_k - sum_l p_l v_l) */
static void softmax_product(const Pass *p, const Tile *tile)
{
    Py_ssize_t R = p->rows;
    double *restrict mean = tile->top, *restrict s = tile->s;
    for (Py_ssize_t i = 0; i < R; i++) mean[i] = 0.0;
    for (Py_ssize_t k = 0; k < p->q; k++)
#pragma omp simd
        for (Py_ssize_t i = 0; i < R; i++) mean[i] += tile->z[k * R + i] * tile->v[k * R + i];
    for (Py_ssize_t k = 0; k < p->q; k++) {
        double *restrict v = tile->v + k * R, *restrict z = tile->z + k * R;
#pragma omp simd
        for (Py_ssize_t i = 0; i < R; i++) v[i] = s[i] * z[i] * (v[i] - mean[i]);
    }
}

/* ---- dense rows ---- */

static Py_ssize_t triangle(Py_ssize_t D4) { return (D4 / 4) * (D4 / 4 + 1) / 2 * 16; }

static void squares(const Pass *p, const Tile *tile, const double *restrict c, vec *out)
{
    for (Py_ssize_t j = 0; j < p->D; j++)
        for (Py_ssize_t i = 0; i < p->rows; i += LANES) {
            vec x = *(const vec *)(tile->x + j * p->stride + i);
            out[j] += *(const vec *)(c + i) * x * x;
        }
}

static void dense_sandwich(const Pass *p, const Tile *tile, const double *c, vec *lanes, double *H)
{
    if (p->syrk != NULL) sandwich_by_blas(p, tile, c, H);
    else sandwich(tile->x, tile->D4, p->rows, p->stride, c, tile->scaled, lanes);
}

/* groups[g] += r y of the group's rows, which are in the cache and are read as they lie */
#define BY_GROUP(type) \
    static void by_group_##type(const Pass *p, const Tile *tile, Py_ssize_t start) \
    { \
        const double *restrict c = p->center; \
        Py_ssize_t d = p->d, R = p->rows, step = p->column_stride, m = tile->count; \
        int side_by_side = step == (Py_ssize_t)sizeof(type); \
        for (Py_ssize_t i = 0; i < m; i++) { \
            const type *restrict x = (const type *)(p->x + (start + i) * p->row_stride); \
            if (i + 8 < m) { \
                const double *next = p->groups + p->group[start + i + 8] * p->q * p->D; \
                for (Py_ssize_t j = 0; j < p->D; j += 8) __builtin_prefetch(next + j, 1); \
            } \
            for (Py_ssize_t k = 0; k < p->q; k++) { \
                double *restrict out = p->groups + (p->group[start + i] * p->q + k) * p->D, f = tile->r[k * R + i]; \
                *out++ += f; \
                if (side_by_side && c == NULL) { \
                    _Pragma("omp simd") for (Py_ssize_t j = 0; j < d; j++) out[j] += f * x[j]; \
                } else if (side_by_side) { \
                    _Pragma("omp simd") for (Py_ssize_t j = 0; j < d; j++) out[j] += f * (x[j] - c[j]); \
                } else \
                    for (Py_ssize_t j = 0; j < d; j++) \
                        out[j] += f * (*(const type *)((const char *)x + j * step) - (c == NULL ? 0.0 : c[j])); \
            } \
        } \
    }

BY_GROUP(double)
BY_GROUP(float)

static void by_group(const Pass *p, const Tile *tile, Py_ssize_t start)
{
    if (!(p->need & GROUPS)) return;
    if (p->single) by_group_float(p, tile, start);
    else by_group_double(p, tile, start);
}

static void dense_pointwise(const Pass *p, Tile *tile, Py_ssize_t start)
{
    Py_ssize_t R = p->rows, D4 = tile->D4;
    scores(p, tile, p->A, tile->z);
    if (p->need & PRODUCT) scores(p, tile, p->V, tile->v);
    for (Py_ssize_t k = 0; k < p->q; k++) {
        double *c = tile->c + k * R;
        targets(p, tile, start, k, tile->z + k * R);
        if (p->scores != NULL) memcpy(p->scores + start, tile->z, tile->count * sizeof(double));
        pointwise(p, tile, k);
        if (p->need & PRODUCT)
            for (Py_ssize_t i = 0; i < R; i++) tile->v[k * R + i] *= c[i];
        if (p->need & DIAGONAL) squares(p, tile, c, tile->diagonal + k * D4);
        if (p->need & HESSIAN) dense_sandwich(p, tile, c, tile->hessian + k * triangle(D4), p->hessian + k * p->D * p->D);
        if (p->need & OUTER) {
            slope_product(p, tile, start, k, k, 1.0, tile->rest);
            dense_sandwich(p, tile, tile->rest, tile->outer + k * triangle(D4), p->outer + k * p->D * p->D);
        }
    }
    by_group(p, tile, start);
    if (p->need & GRADIENT) adjoint(p, tile, tile->r, tile->gradient);
    if (p->need & INTERCEPT) adjoint(p, tile, tile->c, tile->intercept);
    if (p->need & PRODUCT) adjoint(p, tile, tile->v, tile->product);
}

static void dense_softmax(const Pass *p, Tile *tile, Py_ssize_t start)
{
    Py_ssize_t R = p->rows, q = p->q;
    scores(p, tile, p->A, tile->z);
    if (p->need & PRODUCT) scores(p, tile, p->V, tile->v);
    softmax(p, tile, start);
    if (p->need & GRADIENT) adjoint(p, tile, tile->r, tile->gradient);
    if (p->need & PRODUCT) {
        softmax_product(p, tile);
        adjoint(p, tile, tile->v, tile->product);
    }
    if (p->need & DIAGONAL)
        for (Py_ssize_t k = 0; k < q; k++) {
            own_curvature(tile, k, R);
            squares(p, tile, tile->c, tile->diagonal + k * tile->D4);
        }
    if (p->need & INTERCEPT) sandwich(tile->z, (q + 3) / 4 * 4, R, R, tile->s, tile->scaled, tile->intercept);
    by_group(p, tile, start);
    Py_ssize_t pair = 0;
    for (Py_ssize_t k = 1; k < q && p->need & (HESSIAN | OUTER); k++)
        for (Py_ssize_t l = 0; l < k; l++, pair += triangle(tile->D4)) {
            if (p->need & HESSIAN) {
                pair_curvature(p, tile, k, l);
                sandwich(tile->x, tile->D4, R, p->stride, tile->c, tile->scaled, tile->hessian + pair);
            }
            if (p->need & OUTER) {
                slope_product(p, tile, start, k, l, -1.0, tile->c);
                sandwich(tile->x, tile->D4, R, p->stride, tile->c, tile->scaled, tile->outer + pair);
            }
        }
}

/* A pair's sum into its four places in a matrix of classes */
static void add_pair(double *out, Py_ssize_t k, Py_ssize_t l, Py_ssize_t q, double sum)
{
    out[k * q + k] += sum;
    out[l * q + l] += sum;
    out[k * q + l] -= sum;
    out[l * q + k] -= sum;
}

static void unfold(const vec *in, double *out, Py_ssize_t q, Py_ssize_t D, Py_ssize_t D4)
{
    for (Py_ssize_t k = 0; k < q; k++)
        for (Py_ssize_t j = 0; j < D; j++) out[k * D + j] += lanes_sum(in[k * D4 + j]);
}

/* A triangle of blocks into both triangles of a D x D matrix whose rows lie `stride` apart */
static void unfold_triangle(const vec *in, double *out, Py_ssize_t D, Py_ssize_t D4, Py_ssize_t stride, double sign)
{
    for (Py_ssize_t a = 0; a < D4; a += 4)
        for (Py_ssize_t b = 0; b <= a; b += 4, in += 16)
            for (int k = 0; k < 16; k++) {
                Py_ssize_t i = a + k / 4, j = b + k % 4;
                if (i >= D || j > i) continue;
                double sum = sign * lanes_sum(in[k]);
                out[i * stride + j] += sum;
                if (j < i) out[j * stride + i] += sum;
            }
}

/* The lower triangle into the upper one, some cache lines at a time */
static void mirror(double *H, Py_ssize_t D)
{
    for (Py_ssize_t a = 0; a < D; a += 32)
        for (Py_ssize_t b = 0; b <= a; b += 32)
            for (Py_ssize_t i = a; i < a + 32 && i < D; i++)
                for (Py_ssize_t j = b; j < b + 32 && j < i; j++) H[j * D + i] = H[i * D + j];
}

/* The sums over outputs, or over pairs of them, into a Hessian */
static void unfold_sandwiches(const Pass *p, const vec *in, double *H, Py_ssize_t D4)
{
    Py_ssize_t q = p->q, D = p->D;
    for (Py_ssize_t k = 0; k < q && p->syrk != NULL; k++) mirror(H + k * D * D, D);
    if (p->syrk != NULL) return;
    if (p->kind != SOFTMAX) {
        for (Py_ssize_t k = 0; k < q; k++) unfold_triangle(in + k * triangle(D4), H + k * D * D, D, D4, D, 1.0);
        return;
    }
    for (Py_ssize_t k = 1; k < q; k++)
        for (Py_ssize_t l = 0; l < k; l++, in += triangle(D4)) {
            unfold_triangle(in, H + k * D * q * D + k * D, D, D4, q * D, 1.0);
            unfold_triangle(in, H + l * D * q * D + l * D, D, D4, q * D, 1.0);
            unfold_triangle(in, H + k * D * q * D + l * D, D, D4, q * D, -1.0);
            unfold_triangle(in, H + l * D * q * D + k * D, D, D4, q * D, -1.0);
        }
}

static int dense(const Pass *p)
{
    Py_ssize_t R = p->rows, q = p->q, D = p->D, D4 = (D + 3) / 4 * 4;
    int coupled = p->kind == SOFTMAX;
    Py_ssize_t pairs = coupled ? q * (q - 1) / 2 : q;
    Py_ssize_t L = p->stride, copies = p->syrk != NULL ? D4 : 4, q4 = (q + 3) / 4 * 4;
    size_t reals = (size_t)L * (D4 + copies) + (size_t)R * (3 * q + q4 + 6);
    size_t each = (size_t)D4 * q, gradients = each, products = p->need & PRODUCT ? each : 0;
    size_t diagonals = p->need & DIAGONAL ? each : 0, sandwiches = p->syrk == NULL ? (size_t)triangle(D4) * pairs : 0;
    size_t hessians = p->need & HESSIAN ? sandwiches : 0, outers = p->need & OUTER ? sandwiches : 0;
    size_t intercepts = !(p->need & INTERCEPT) ? 0 : coupled ? (size_t)triangle(q4) : each;
    size_t vectors = gradients + products + diagonals + intercepts + hessians + outers;
    char *memory = NULL;
    if (posix_memalign((void **)&memory, 64, reals * 8 + vectors * sizeof(vec)) != 0) return -1;
    memset(memory, 0, vectors * sizeof(vec));
    Tile tile = {.D4 = D4};
    vec *at = (vec *)memory;
    tile.gradient = at; at += gradients;
    tile.product = at; at += products;
    tile.diagonal = at; at += diagonals;
    tile.intercept = at; at += intercepts;
    tile.hessian = at; at += hessians;
    tile.outer = at; at += outers;
    double *real = (double *)at;
    tile.x = real; real += L * D4;
    tile.scaled = real; real += L * copies;
    tile.z = real; real += R * q4;
    tile.v = real; real += R * q;
    tile.r = real; real += R * q;
    tile.c = real; real += R * q;
    tile.t = real; tile.s = real + R; tile.own = real + 2 * R; tile.top = real + 3 * R; tile.rest = real + 4 * R;
    tile.total = real + 5 * R;
    memset(tile.x + L * D, 0, L * (D4 - D) * sizeof(double));
    memset(tile.z + R * q, 0, R * (q4 - q) * sizeof(double));
    for (Py_ssize_t start = 0; start < p->n; start += R) {
        tile.count = p->n - start < R ? p->n - start : R;
        load(p, &tile, start);
        if (coupled) dense_softmax(p, &tile, start);
        else dense_pointwise(p, &tile, start);
    }
    if (p->need & GRADIENT) unfold(tile.gradient, p->gradient, q, D, D4);
    if (p->need & PRODUCT) unfold(tile.product, p->product, q, D, D4);
    if (p->need & DIAGONAL) unfold(tile.diagonal, p->diagonal, q, D, D4);
    if (p->need & INTERCEPT && !coupled) unfold(tile.intercept, p->intercept, q, D, D4);
    for (Py_ssize_t k = 1; k < q && p->need & INTERCEPT && coupled; k++)
        for (Py_ssize_t l = 0; l < k; l++) {
            Py_ssize_t a = k / 4, b = l / 4; /* their block of the triangle */
            add_pair(p->intercept, k, l, q, lanes_sum(tile.intercept[(a * (a + 1) / 2 + b) * 16 + k % 4 * 4 + l % 4]));
        }
    if (p->need & HESSIAN) unfold_sandwiches(p, tile.hessian, p->hessian, D4);
    if (p->need & OUTER) unfold_sandwiches(p, tile.outer, p->outer, D4);
    free(memory);
    return 0;
}

/* ---- dense rows as they lie: one output, no second derivatives ---- */

/* Rows that follow one another in memory are not turned into tiles where only scores and slopes are asked for: a pass
   then costs little more than reading X (1e6 x 50: 17 ms a thread against 24 by tiles). */

#define DIRECT(type) \
    static void scores_##type(const Pass *p, const Tile *tile, Py_ssize_t start) \
    { \
        const double *restrict a = p->A + 1, *restrict c = p->center; \
        Py_ssize_t d = p->d; \
        for (Py_ssize_t i = 0; i < tile->count; i++) { /* one row at a time: more streams disturb prefetching */ \
            const type *restrict x = (const type *)(p->x + (start + i) * p->row_stride); \
            double s = 0.0; \
            if (c == NULL) { \
                _Pragma("omp simd reduction(+:s)") for (Py_ssize_t j = 0; j < d; j++) s += x[j] * a[j]; \
            } else { \
                _Pragma("omp simd reduction(+:s)") for (Py_ssize_t j = 0; j < d; j++) s += (x[j] - c[j]) * a[j]; \
            } \
            tile->z[i] = p->A[0] + s; \
        } \
    } \
\
    /* g += sum of r x and, where h is given, h += sum of c x, in one walk through the rows */ \
    static void adjoint_##type(const Pass *p, const Tile *tile, double *restrict g, double *restrict h, Py_ssize_t start) \
    { \
        const double *restrict c = p->center; \
        Py_ssize_t d = p->d, m = tile->count; \
        for (Py_ssize_t i = 0; i < m; i++) g[0] += tile->r[i]; \
        for (Py_ssize_t i = 0; i < m && h != NULL; i++) h[0] += tile->c[i]; \
        for (Py_ssize_t i = 0; i < m; i += 4) { \
            const type *restrict x[4]; \
            double f[4], e[4]; \
            for (int k = 0; k < 4; k++) { \
                x[k] = (const type *)(p->x + (start + (i + k < m ? i + k : m - 1)) * p->row_stride); \
                f[k] = i + k < m ? tile->r[i + k] : 0.0; \
                e[k] = i + k < m ? tile->c[i + k] : 0.0; \
            } \
            const type *restrict x0 = x[0], *restrict x1 = x[1], *restrict x2 = x[2], *restrict x3 = x[3]; \
            double f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3], e0 = e[0], e1 = e[1], e2 = e[2], e3 = e[3]; \
            if (c == NULL && h == NULL) { \
                _Pragma("omp simd") for (Py_ssize_t j = 0; j < d; j++) \
                    g[1 + j] += f0 * x0[j] + f1 * x1[j] + f2 * x2[j] + f3 * x3[j]; \
                continue; \
            } \
            _Pragma("omp simd") for (Py_ssize_t j = 0; j < d; j++) { \
                double at = c == NULL ? 0.0 : c[j]; \
                double y0 = x0[j] - at, y1 = x1[j] - at, y2 = x2[j] - at, y3 = x3[j] - at; \
                g[1 + j] += f0 * y0 + f1 * y1 + f2 * y2 + f3 * y3; \
                if (h != NULL) h[1 + j] += e0 * y0 + e1 * y1 + e2 * y2 + e3 * y3; \
            } \
        } \
    }

DIRECT(double)
DIRECT(float)

static int direct(const Pass *p)
{
    Py_ssize_t R = p->rows;
    double *memory = NULL;
    if (posix_memalign((void **)&memory, 64, (size_t)R * 5 * 8) != 0) return -1;
    Tile tile = {.z = memory, .r = memory + R, .c = memory + 2 * R, .t = memory + 3 * R, .s = memory + 4 * R};
    for (Py_ssize_t start = 0; start < p->n; start += R) {
        tile.count = p->n - start < R ? p->n - start : R;
        for (Py_ssize_t i = tile.count; i < R; i++) tile.z[i] = 0.0;
        if (p->single) scores_float(p, &tile, start);
        else scores_double(p, &tile, start);
        targets(p, &tile, start, 0, tile.z);
        if (p->scores != NULL) memcpy(p->scores + start, tile.z, tile.count * sizeof(double));
        pointwise(p, &tile, 0);
        double *also = p->need & INTERCEPT ? p->intercept : NULL;
        if (p->single) adjoint_float(p, &tile, p->gradient, also, start);
        else adjoint_double(p, &tile, p->gradient, also, start);
        by_group(p, &tile, start);
    }
    free(memory);
    return 0;
}

/* ---- sparse rows ---- */

static inline int64_t place(const void *at, int wide, Py_ssize_t i)
{
    return wide ? ((const int64_t *)at)[i] : ((const int32_t *)at)[i];
}

static inline double entry(const Pass *p, int64_t i)
{
    return p->single ? ((const float *)p->x)[i] : ((const double *)p->x)[i];
}

/* z (q, rows) of a tile; weights lie (D, q) here, so that the outputs of an entry are side by side */
static void sparse_scores(const Pass *p, const Tile *tile, const double *restrict W, double *z, Py_ssize_t start)
{
    Py_ssize_t R = p->rows, q = p->q;
    for (Py_ssize_t i = 0; i < tile->count; i++) {
        int64_t first = place(p->indptr, p->wide_indptr, start + i), last = place(p->indptr, p->wide_indptr, start + i + 1);
        if (q == 1) {
            double a = 0.0, b = 0.0;
            int64_t e = first;
            for (; e + 1 < last; e += 2) { /* two chains, so that one load need not wait for the other's sum */
                a += entry(p, e) * W[1 + place(p->indices, p->wide_indices, e)];
                b += entry(p, e + 1) * W[1 + place(p->indices, p->wide_indices, e + 1)];
            }
            if (e < last) a += entry(p, e) * W[1 + place(p->indices, p->wide_indices, e)];
            z[i] = W[0] + a + b;
            continue;
        }
        double *restrict sum = tile->scaled;
        for (Py_ssize_t k = 0; k < q; k++) sum[k] = W[k];
        for (int64_t e = first; e < last; e++) {
            double x = entry(p, e);
            const double *restrict w = W + (1 + place(p->indices, p->wide_indices, e)) * q;
            for (Py_ssize_t k = 0; k < q; k++) sum[k] += x * w[k];
        }
        for (Py_ssize_t k = 0; k < q; k++) z[k * R + i] = sum[k];
    }
    for (Py_ssize_t k = 0; k < q; k++)
        for (Py_ssize_t i = tile->count; i < R; i++) z[k * R + i] = 0.0;
}

/* out (D, q) += sum over rows of r y, or of r y^2 */
static void sparse_adjoint(const Pass *p, const Tile *tile, const double *r, double *restrict out, Py_ssize_t start,
                           int square)
{
    Py_ssize_t R = p->rows, q = p->q;
    for (Py_ssize_t i = 0; i < tile->count; i++) {
        int64_t first = place(p->indptr, p->wide_indptr, start + i), last = place(p->indptr, p->wide_indptr, start + i + 1);
        double *restrict slope = tile->scaled;
        for (Py_ssize_t k = 0; k < q; k++) {
            slope[k] = r[k * R + i];
            out[k] += slope[k];
        }
        if (q == 1) {
            double f = slope[0];
            for (int64_t e = first; e < last; e++) {
                double x = entry(p, e);
                out[1 + place(p->indices, p->wide_indices, e)] += f * (square ? x * x : x);
            }
            continue;
        }
        for (int64_t e = first; e < last; e++) {
            double x = entry(p, e);
            x = square ? x * x : x;
            double *restrict to = out + (1 + place(p->indices, p->wide_indices, e)) * q;
            for (Py_ssize_t k = 0; k < q; k++) to[k] += x * slope[k];
        }
    }
}

/* Both triangles of Y' diag(c) Y */
static void sparse_sandwich(const Pass *p, const Tile *tile, const double *c, double sign, double *out,
                            Py_ssize_t start, Py_ssize_t stride)
{
    for (Py_ssize_t i = 0; i < tile->count; i++) {
        int64_t first = place(p->indptr, p->wide_indptr, start + i), last = place(p->indptr, p->wide_indptr, start + i + 1);
        out[0] += sign * c[i];
        for (int64_t a = first; a < last; a++) {
            double f = sign * c[i] * entry(p, a);
            Py_ssize_t row = 1 + place(p->indices, p->wide_indices, a);
            out[row] += f;
            out[row * stride] += f;
            for (int64_t b = first; b < last; b++)
                out[row * stride + 1 + place(p->indices, p->wide_indices, b)] += f * entry(p, b);
        }
    }
}

/* The same of a pair of outputs, in its four places */
static void sparse_pair(const Pass *p, const Tile *tile, double *H, Py_ssize_t k, Py_ssize_t l, Py_ssize_t start)
{
    Py_ssize_t D = p->D, q = p->q;
    sparse_sandwich(p, tile, tile->c, 1.0, H + k * D * q * D + k * D, start, q * D);
    sparse_sandwich(p, tile, tile->c, 1.0, H + l * D * q * D + l * D, start, q * D);
    sparse_sandwich(p, tile, tile->c, -1.0, H + k * D * q * D + l * D, start, q * D);
    sparse_sandwich(p, tile, tile->c, -1.0, H + l * D * q * D + k * D, start, q * D);
}

static void sparse_by_group(const Pass *p, const Tile *tile, Py_ssize_t start)
{
    for (Py_ssize_t i = 0; i < tile->count; i++)
        for (Py_ssize_t k = 0; k < p->q; k++) {
            double *out = p->groups + (p->group[start + i] * p->q + k) * p->D, f = tile->r[k * p->rows + i];
            int64_t last = place(p->indptr, p->wide_indptr, start + i + 1);
            out[0] += f;
            for (int64_t e = place(p->indptr, p->wide_indptr, start + i); e < last; e++)
                out[1 + place(p->indices, p->wide_indices, e)] += f * entry(p, e);
        }
}

static void turned(const double *in, double *out, Py_ssize_t rows, Py_ssize_t columns, int add)
{
    for (Py_ssize_t i = 0; i < rows; i++)
        for (Py_ssize_t j = 0; j < columns; j++)
            out[j * rows + i] = in[i * columns + j] + (add ? out[j * rows + i] : 0.0);
}

static void sparse_tile(const Pass *p, Tile *tile, const double *W, const double *V, double *sums, Py_ssize_t start)
{
    Py_ssize_t R = p->rows, q = p->q, D = p->D, size = D * q;
    int coupled = p->kind == SOFTMAX;
    sparse_scores(p, tile, W, tile->z, start);
    if (p->need & PRODUCT) sparse_scores(p, tile, V, tile->v, start);
    if (coupled) {
        softmax(p, tile, start);
        if (p->need & PRODUCT) softmax_product(p, tile);
    } else
        for (Py_ssize_t k = 0; k < q; k++) {
            targets(p, tile, start, k, tile->z + k * R);
            pointwise(p, tile, k);
            if (p->need & PRODUCT)
                for (Py_ssize_t i = 0; i < R; i++) tile->v[k * R + i] *= tile->c[k * R + i];
            if (p->need & HESSIAN) sparse_sandwich(p, tile, tile->c + k * R, 1.0, p->hessian + k * D * D, start, D);
            if (!(p->need & OUTER)) continue;
            slope_product(p, tile, start, k, k, 1.0, tile->rest);
            sparse_sandwich(p, tile, tile->rest, 1.0, p->outer + k * D * D, start, D);
        }
    if (p->need & GROUPS) sparse_by_group(p, tile, start);
    if (p->need & GRADIENT) sparse_adjoint(p, tile, tile->r, sums, start, 0);
    if (p->need & PRODUCT) sparse_adjoint(p, tile, tile->v, sums + size, start, 0);
    if (p->need & INTERCEPT && !coupled) sparse_adjoint(p, tile, tile->c, sums + 2 * size, start, 0);
    if (!coupled && p->need & DIAGONAL) sparse_adjoint(p, tile, tile->c, sums + 3 * size, start, 1);
    if (coupled && p->need & DIAGONAL) {
        for (Py_ssize_t k = 0; k < q; k++) {
            own_curvature(tile, k, R);
            memcpy(tile->v + k * R, tile->c, R * sizeof(double));
        }
        sparse_adjoint(p, tile, tile->v, sums + 3 * size, start, 1);
    }
    for (Py_ssize_t k = 1; coupled && k < q && p->need & (HESSIAN | INTERCEPT | OUTER); k++)
        for (Py_ssize_t l = 0; l < k; l++) {
            pair_curvature(p, tile, k, l);
            double sum = 0.0;
            for (Py_ssize_t i = 0; i < tile->count; i++) sum += tile->c[i];
            if (p->need & INTERCEPT) add_pair(p->intercept, k, l, q, sum);
            if (p->need & HESSIAN) sparse_pair(p, tile, p->hessian, k, l, start);
            if (!(p->need & OUTER)) continue;
            slope_product(p, tile, start, k, l, -1.0, tile->c);
            sparse_pair(p, tile, p->outer, k, l, start);
        }
}

static int sparse(const Pass *p)
{
    Py_ssize_t R = p->rows, q = p->q, D = p->D;
    size_t size = (size_t)D * q;
    double *memory = NULL;
    if (posix_memalign((void **)&memory, 64, (6 * size + (size_t)R * (4 * q + 6) + q + 8) * 8) != 0) return -1;
    double *W = memory, *V = W + size, *sums = V + size, *real = sums + 4 * size;
    real += (64 - (uintptr_t)real % 64) % 64 / 8;
    memset(sums, 0, 4 * size * 8);
    turned(p->A, W, q, D, 0);
    if (p->need & PRODUCT) turned(p->V, V, q, D, 0);
    Tile tile = {0};
    tile.z = real; tile.v = real + R * q; tile.r = real + 2 * R * q; tile.c = real + 3 * R * q;
    real += 4 * R * q;
    tile.t = real; tile.s = real + R; tile.own = real + 2 * R; tile.top = real + 3 * R; tile.rest = real + 4 * R;
    tile.total = real + 5 * R;
    tile.scaled = real + 6 * R;
    for (Py_ssize_t start = 0; start < p->n; start += R) {
        tile.count = p->n - start < R ? p->n - start : R;
        sparse_tile(p, &tile, W, V, sums, start);
    }
    double *out[4] = {p->gradient, p->product, p->intercept, p->diagonal};
    int asked[4] = {p->need & GRADIENT, p->need & PRODUCT, p->need & INTERCEPT && p->kind != SOFTMAX, p->need & DIAGONAL};
    for (int k = 0; k < 4; k++)
        if (asked[k]) turned(sums + k * size, out[k], D, q, 1);
    free(memory);
    return 0;
}

/* ---- Python ---- */

/* evaluate(kind, need, margin, sides, X, center, A, V, codes, targets, shares, weight, offset, factor, group, blas, out)

   X: (n, d) float32 or float64 of any strides, or (data, indices, indptr, d).  A, V: (q, D).  codes: (n,) of bytes or int64, then
   targets (K, q); or None, then targets (n, q).  shares: (K, q), or (1, q).  out: value, margin and sums of s l''
   (2 + q,), gradient (q, D), Hessian, product, diagonal, intercept, outer products, groups (groups, q, D); None where not
   asked for.  group: (n,) int64, each below the number of groups.  Sums are added to what is there. */
static const double *optional(Buffers *held, PyObject *object, const char *name, Py_ssize_t length)
{
    return object == Py_None ? NULL : float64_in(held, object, name, length);
}

static double *optional_out(Buffers *held, PyObject *object, const char *name, Py_ssize_t length)
{
    return object == Py_None ? NULL : float64_out(held, object, name, length);
}

int rows_of(Pass *p, Buffers *held, PyObject *X)
{
    if (!PyTuple_Check(X)) {
        const Py_buffer *rows = hold(held, X, "X", PyBUF_STRIDES);
        if (rows == NULL) return 0;
        if (rows->ndim != 2 || (type_of(rows) != FLOAT64 && type_of(rows) != FLOAT32)) {
            PyErr_SetString(PyExc_ValueError, "X must have two dimensions and hold float64 or float32 numbers.");
            return 0;
        }
        p->x = rows->buf;
        p->single = type_of(rows) == FLOAT32;
        p->n = rows->shape[0];
        p->d = rows->shape[1];
        p->row_stride = rows->strides[0];
        p->column_stride = rows->strides[1];
        return 1;
    }
    PyObject *part[3];
    if (!PyArg_ParseTuple(X, "OOOn", &part[0], &part[1], &part[2], &p->d)) return 0;
    const Py_buffer *data = hold(held, part[0], "data", PyBUF_C_CONTIGUOUS);
    const Py_buffer *indices = hold(held, part[1], "indices", PyBUF_C_CONTIGUOUS);
    const Py_buffer *indptr = hold(held, part[2], "indptr", PyBUF_C_CONTIGUOUS);
    if (held->failed) return 0;
    p->x = data->buf;
    p->single = type_of(data) == FLOAT32;
    p->indices = indices->buf;
    p->wide_indices = indices->itemsize == 8;
    p->indptr = indptr->buf;
    p->wide_indptr = indptr->itemsize == 8;
    p->n = length_of(indptr) - 1;
    return 1;
}

void targets_of(Pass *p, Buffers *held, PyObject *codes, PyObject *target, PyObject *shares, PyObject *weight,
                PyObject *offset)
{
    if (codes != Py_None) {
        const Py_buffer *classes = hold(held, codes, "codes", PyBUF_C_CONTIGUOUS);
        if (classes == NULL) return;
        p->bytes = type_of(classes) == INT8;
        p->codes = numbers(held, codes, "codes", p->bytes ? INT8 : INT64, p->n, 0);
    }
    p->targets = float64_in(held, target, "targets", p->codes == NULL ? p->n * p->q : ANY_LENGTH);
    p->shares = float64_in(held, shares, "shares", ANY_LENGTH);
    p->weight = optional(held, weight, "weight", p->n);
    p->offset = optional(held, offset, "offset", ANY_LENGTH);
    p->offset_width = p->offset == NULL || p->n == 0 ? 1 : length_of(&held->views[held->count - 1]) / p->n;
}

int walk(Pass *p)
{
    int is_sparse = p->indptr != NULL;
    Py_ssize_t item = p->single ? 4 : 8;
    int as_it_lies = !is_sparse && p->q == 1 && p->kind != SOFTMAX && p->column_stride == item && p->d >= 8
                     && !(p->need & (HESSIAN | PRODUCT | DIAGONAL | OUTER));
    p->rows = as_it_lies ? 32 : is_sparse ? (p->q <= 64 ? 256 : 64) : p->D <= 1024 ? (p->q > 32 ? 64 : 256) : 64; /* a tile and its scores stay in the cache */
    Py_ssize_t tiles = (p->n + p->rows - 1) / p->rows; /* of equal size, so that none is padded by much */
    if (tiles > 0) p->rows = ((p->n + tiles - 1) / tiles + 31) / 32 * 32;
    p->stride = p->rows + 8;
    return as_it_lies ? direct(p) : is_sparse ? sparse(p) : dense(p);
}

PyObject *kernel_evaluate(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *X, *center, *A, *V, *codes, *target, *shares, *weight, *offset, *factor, *group, *blas;
    PyObject *head, *gradient, *hessian, *product, *diagonal, *intercept, *outer, *groups;
    Pass p = {0};
    Buffers held = {0};
    if (!PyArg_ParseTuple(args, "iid(dd)OOOOOOOOOOOO(OOOOOOOO)", &p.kind, &p.need, &p.margin, &p.low, &p.high, &X, &center,
                          &A, &V, &codes, &target, &shares, &weight, &offset, &factor, &group, &blas, &head,
                          &gradient, &hessian, &product, &diagonal, &intercept, &outer, &groups))
        return NULL;
    if (!rows_of(&p, &held, X)) return release(&held);
    const Py_buffer *weights = hold(&held, A, "A", PyBUF_C_CONTIGUOUS);
    if (weights == NULL) return release(&held);
    if (weights->ndim != 2 || type_of(weights) != FLOAT64 || weights->shape[1] != p.d + 1) {
        PyErr_SetString(PyExc_ValueError, "A must be (q, 1 + d) in float64.");
        return release(&held);
    }
    p.A = weights->buf;
    p.q = weights->shape[0];
    p.D = p.d + 1;
    Py_ssize_t size = p.q * p.D;
    p.center = optional(&held, center, "center", p.d);
    p.V = optional(&held, V, "V", size);
    targets_of(&p, &held, codes, target, shares, weight, offset);
    p.factor = optional(&held, factor, "factor", p.n);
    if (group != Py_None) {
        p.group = int64_in(&held, group, "group", p.n);
        p.groups = optional_out(&held, groups, "groups", ANY_LENGTH);
    }
    p.value = float64_out(&held, head, "value, margin and mass", 2 + p.q);
    p.gradient = optional_out(&held, gradient, "gradient", size);
    p.hessian = optional_out(&held, hessian, "hessian", p.kind == SOFTMAX ? size * size : size * p.D);
    p.product = optional_out(&held, product, "product", size);
    p.diagonal = optional_out(&held, diagonal, "diagonal", size);
    p.intercept = optional_out(&held, intercept, "intercept", p.kind == SOFTMAX ? p.q * p.q : size);
    p.outer = optional_out(&held, outer, "outer", p.kind == SOFTMAX ? size * size : size * p.D);
    if (held.failed) return release(&held);
    p.margin_out = p.value + 1;
    p.mass = p.value + 2;
    if (blas != Py_None && (p.syrk = (Syrk)PyCapsule_GetPointer(blas, PyCapsule_GetName(blas))) == NULL)
        return release(&held);
    int failed;
    Py_BEGIN_ALLOW_THREADS
    failed = walk(&p);
    Py_END_ALLOW_THREADS
    release(&held);
    return failed ? PyErr_NoMemory() : Py_NewRef(Py_None);
}

/* Rows that follow one another in memory are measured where they lie: 40,000 x 50 takes 1 ms, by tiles 2.5 */
static void lengths_of(const Pass *p, const double *restrict scale, Py_ssize_t count, Py_ssize_t start, double *length)
{
    const double *restrict c = p->center;
    for (Py_ssize_t i = 0; i < count; i++) {
        const double *restrict x = (const double *)(p->x + (start + i) * p->row_stride);
        double sum = 0.0;
        if (c == NULL) {
#pragma omp simd reduction(+:sum)
            for (Py_ssize_t j = 0; j < p->d; j++) sum += scale[j] * x[j] * x[j];
        } else {
#pragma omp simd reduction(+:sum)
            for (Py_ssize_t j = 0; j < p->d; j++) sum += scale[j] * (x[j] - c[j]) * (x[j] - c[j]);
        }
        length[i] = sum;
    }
}

/* longest_row(X, center, scales) -> max over rows of sum_j scales_j (x_j - c_j)^2, X dense */
PyObject *kernel_longest_row(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *X, *center, *scales;
    Pass p = {0};
    Buffers held = {0};
    if (!PyArg_ParseTuple(args, "OOO", &X, &center, &scales)) return NULL;
    if (PyTuple_Check(X) || !rows_of(&p, &held, X)) return release(&held);
    const double *restrict scale = float64_in(&held, scales, "scales", p.d);
    p.center = optional(&held, center, "center", p.d);
    if (held.failed) return release(&held);
    double most = 0.0, *length = NULL;
    p.D = p.d + 1;
    p.rows = 64;
    p.stride = p.rows + 8;
    if (posix_memalign((void **)&length, 64, (size_t)(p.stride * p.D + p.rows) * 8) != 0) {
        release(&held);
        return PyErr_NoMemory();
    }
    Tile tile = {.x = length + p.rows};
    int as_it_lies = !p.single && p.column_stride == 8 && p.d >= 8;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t start = 0; start < p.n; start += p.rows) {
        tile.count = p.n - start < p.rows ? p.n - start : p.rows;
        if (as_it_lies) lengths_of(&p, scale, tile.count, start, length);
        else {
            load(&p, &tile, start);
            memset(length, 0, p.rows * sizeof(double));
            for (Py_ssize_t j = 0; j < p.d; j++) {
                const double *restrict x = tile.x + (1 + j) * p.stride;
                for (Py_ssize_t i = 0; i < p.rows; i++) length[i] += scale[j] * x[i] * x[i];
            }
        }
        for (Py_ssize_t i = 0; i < tile.count; i++) most = length[i] > most ? length[i] : most;
    }
    free(length);
    Py_END_ALLOW_THREADS
    release(&held);
    return PyFloat_FromDouble(most);
}
