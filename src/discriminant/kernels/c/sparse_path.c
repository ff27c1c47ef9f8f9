/* Sparse fits of one output, at one λ or along a path of them, each begun where the last one ended and with its gap.

       J(b, a) = Σ s ℓ(t, z) + λ Σ_g [l₁‖a_g‖ + ½ l₂‖a_g‖²],        z = offset + b + X a,        lower ≤ a ≤ upper

   *Working set.*  Steps see few columns; optimize/working_set.py says how they are chosen and how the slopes of all
   others are bounded without a look at them.  Bounds of weights go with groups of one.

   *Step.*  The model of J about z has the curvature s h of some earlier point, as long as that leads on: its matrix M,
   the intercept eliminated, is kept and grows with the working set.  It is minimised by coordinate descent, with Newton
   steps on the weights that are not zero where sweeps are slow.  Many sparse columns have no matrix: see coordinate.c.

   *Gap.*  Where the model is minimised, at a + d with scores z + e, its own slopes u = v + h e are a point of the dual:
   Σ s u = 0, and −Xᵗ s u is where the penalty holds the weights back (but for what the descent left, which a factor
   τ ≤ 1 takes away).  J − min J ≤ J + Σ s ℓ*(τu) − … is of fourth order in e, where slopes at z + e give the second. */
#include <stdlib.h>

#include "coordinate.h"
#include "formulas.h"

#define FIRST 50 /* groups in the first working set */
#define SHARE 0.1 /* of the gap over all columns that may be left on the working set before others are looked at */
#define PASSES 4 /* that the span is made of */
#define MOST_WEIGHT 10.0 /* Σ|c| beyond which rounding in the passes is no longer nothing */
#define ROUGH 0.3 /* of the gap wanted: how far off the slopes of the model may be */
#define PROGRESS 0.05 /* of what they are off now */
#define GROWING 0.1 /* of that while columns are missing */
#define EXACT 1e-15 /* of the least l₁: how still they stand in the last steps of a fit to all digits */
#define ALL_DIGITS 1e-8 /* tol up to which that is asked for; above, as many digits as tol says and two more */
#define STANDING 0.1 /* of tol: relative steps so short leave far less */
#define INNER 0.3
#define KEPT 0.8
#define LITTLE 96 /* columns */
#define SMALL 200000 /* values up to which bounds by the columns' lengths are cheaper than passes */
#define SETTLED 1e-4 /* of tol: the slope that an intercept may be left with */
#define FREE 1e-9 /* of a column's length: slopes of weights without a penalty that count as none */
#define MOST_EIGEN 64 /* size of a group up to which its step is exact */
#define MOST_STEPS 1000 /* these guard against a loop */
#define PATIENCE 50
#define MOST_ROUNDS 200
#define HALVINGS 10
#define LAST_STEPS 12

typedef struct { double value; long index; } Pair;

typedef struct {
    long n, d, n_groups, sparse_gram, most_gram, most_cholesky;
    int kind, intercept, failed;
    double margin, least; /* least: the dual at 0 */
    const double *t, *s, *offset, *l1, *l2, *lower, *upper, *norms, *unit; /* l1, l2 by group at λ = 1 */
    const int64_t *order, *starts;
    Columns all; /* sparse columns (row is not NULL), dense ones, rows, or none, which are asked for: */
    const double *rows, *center; /* dense values of the user, (x − center) / unit */
    PyObject *ask_look, *ask_gather;
    PyThreadState *thread;
    double *asked_v, *asked_R;
    int64_t *asked;
    /* the point */
    double strength, b, value, J, bound, proved, gap, moved; /* bound: on the working set; proved: over all columns */
    double *z, *v, *h, *dual, *zt, *vt, *ht, *e, *sv, *scratch; /* (n) */
    /* the working set: groups, coordinates one group after the other, columns */
    long k, m, steps;
    long *group, *first, *feature;
    char *inside;
    Columns X;
    double *x_own;
    int32_t *row_own;
    int64_t *start_own;
    long room;
    double *a, *g, *to, *R, *R_dual, *low, *up, *delta, *change, *B, *way, *slope, *work; /* by coordinate */
    double *L1, *L2; /* by group at λ */
    long *support;
    /* the model */
    double *hm, *w, corner, *M, *eigen, *Q;
    long formed, stride, *corner_of_Q;
    double *factor, factor_strength; /* of M on the support that it was last wanted for */
    long factored, factor_room, *factor_of;
    int smooth, several, matrix, stale; /* whether no group has a kink; whether there are many λ; whether M is worth its price;  whether it is to be formed anew */
    int growing; /* whether columns are missing that matter more than what M is of: one step a look */
    /* passes over all columns */
    double *seen_v[PASSES], *seen_R[PASSES], *near_R, passes;
    long seen;
    Pair *pairs;
} Path;

static void *reserve(Path *f, size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (!p) f->failed = 1;
    return p;
}

static double dot(const double *x, const double *y, long n)
{
    Columns one = {x, NULL, NULL, n};
    return column_dot(&one, 0, y);
}

static inline void axpy(long n, double step, const double *restrict x, double *restrict to)
{
    for (long i = 0; i < n; i++) to[i] += step * x[i];
}

static int compare_pairs(const void *x, const void *y)
{
    const Pair *p = x, *q = y;
    return p->value > q->value ? -1 : p->value < q->value ? 1 : p->index < q->index ? -1 : 1;
}

/* Losses */

/* Σ s ℓ(t, z), with ℓ' and ℓ'' of every row. */
static double losses(const Path *f, const double *restrict z, double *restrict v, double *restrict h)
{
    double *restrict value = f->scratch;
    const double *restrict t = f->t;
    if (f->kind == LOGISTIC)
        for (long i = 0; i < f->n; i++) {
            Loss l = logistic(t[i], z[i], 0.0);
            value[i] = l.value, v[i] = l.gradient, h[i] = l.curvature;
        }
    else
        for (long i = 0; i < f->n; i++) {
            Loss l = quadratic(t[i], z[i], f->margin);
            value[i] = l.value, v[i] = l.gradient, h[i] = l.curvature;
        }
    return dot(f->s, value, f->n);
}

/* −Σ s ℓ*(τu) + τ Σ s u·offset; −∞ where a row leaves the domain. */
static double dual_value(const Path *f, const double *restrict u, double scale)
{
    const double *restrict t = f->t;
    double *restrict value = f->scratch;
    if (f->kind == LOGISTIC)
        for (long i = 0; i < f->n; i++) {
            double p = scale * u[i] + t[i], q = 1 - p, small = p < q ? p : q, large = p < q ? q : p;
            /* p ln p + q ln q, with ln large = −ln(1 + small/large) and ln small = ln large − ln(1 + (large/small − 1)) */
            double held = small > 1e-300 ? small : 1e-300, log_large = -log1p_positive((small > 0 ? small : 0) / large);
            double sum = large * log_large + held * (log_large - log1p_positive((large - held) / held));
            value[i] = small < 0 ? INFINITY : sum;
        }
    else
        for (long i = 0; i < f->n; i++) {
            double c = scale * u[i], tc = t[i] * c;
            value[i] = tc > 0 ? INFINITY : f->margin * tc + c * c / 4;
        }
    double sum = 0;
    int outside = 0;
    for (long i = 0; i < f->n; i++) { /* rows that are held out may be anywhere */
        int counts = f->s[i] > 0;
        outside |= counts && isinf(value[i]);
        value[i] = counts && !isinf(value[i]) ? value[i] : 0.0;
    }
    if (outside) return -INFINITY;
    sum = -dot(f->s, value, f->n);
    for (long i = 0; f->offset && i < f->n; i++) sum += f->s[i] * scale * u[i] * f->offset[i];
    return sum;
}

/* The penalty */

static double length(const double *x, long size)
{
    double sum = 0;
    for (long i = 0; i < size; i++) sum += x[i] * x[i];
    return size == 1 ? fabs(x[0]) : sqrt(sum);
}

static double penalty(const Path *f, const double *a)
{
    double sum = 0;
    for (long k = 0; k < f->k; k++) {
        double r = length(a + f->first[k], f->first[k + 1] - f->first[k]);
        sum += f->L1[k] * r + 0.5 * f->L2[k] * r * r;
    }
    return sum;
}

/* The largest τ ≤ `scale` that brings slopes of length R into the domain of Ω*; `end`: the bound on that side. */
static double scaled(double scale, double R, double l1, double l2, double end)
{
    return l2 == 0 && isinf(end) && R * scale > l1 ? l1 / R : scale;
}

static double conjugate(double R, double l1, double l2, double end)
{
    double excess = R - l1, a = l2 > 0 ? excess / l2 : INFINITY;
    a = a < end ? a : end;
    return excess <= 0 || isinf(a) ? 0.0 : excess * a - 0.5 * l2 * a * a;
}

/* The bound of min J that τu gives, with slopes R of the working set; `others`: violators outside of it, with
   slopes in near_R, `count` of them. */
static double bound_of(const Path *f, const double *u, const double *R, const Pair *others, long count)
{
    double scale = 1, conjugates = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (long k = 0; k < f->k; k++) {
            long j = f->first[k];
            double r = length(R + j, f->first[k + 1] - j), end = R[j] > 0 ? f->up[j] : -f->low[j];
            if (f->L1[k] == 0 && f->L2[k] == 0 && isinf(end)) { /* free: the model has them at rest, or proves nothing */
                if (r > FREE * (f->norms ? f->norms[f->feature[j]] : 1.0)) return -INFINITY;
            } else if (turn == 0) scale = scaled(scale, r, f->L1[k], f->L2[k], end);
            else conjugates += conjugate(scale * r, f->L1[k], f->L2[k], end);
        }
        for (long i = 0; i < count; i++) {
            long u_ = others[i].index, j = f->order[f->starts[u_]];
            double l1 = f->strength * f->l1[u_], l2 = f->strength * f->l2[u_], r = others[i].value + l1;
            double end = f->near_R[j] > 0 ? f->upper[j] : -f->lower[j];
            if (turn == 0) scale = scaled(scale, r, l1, l2, end);
            else conjugates += conjugate(scale * r, l1, l2, end);
        }
    }
    return dual_value(f, u, scale) - conjugates;
}

/* All columns */

#define STRETCH 256 /* rows that are added up before they are added to the rest: fewer roundings */
#define LINE 8 /* rows that are turned into columns at a time: a line of the cache */

static inline double centered(const Path *f, long i, long j)
{
    double x = f->rows ? f->rows[i * f->d + j] : f->all.x[j * f->n + i];
    return f->center ? x - f->center[j] : x;
}

/* Columns `feature` of dense values, in inner units, one after the other. */
static void gather(const Path *f, const long *feature, long count, double *out)
{
    for (long top = 0; top < f->n; top += LINE) {
        long end = top + LINE < f->n ? top + LINE : f->n;
        for (long k = 0; k < count; k++) {
            double scale = 1 / f->unit[feature[k]]; /* a power of two */
            for (long i = top; i < end; i++) out[k * f->n + i] = centered(f, i, feature[k]) * scale;
        }
    }
}

/* Σ w x of each column and, where `squares` are asked for, Σ w x², of dense values in inner units. */
static void dense_moments(const Path *f, const double *restrict w, double *restrict sums, double *restrict squares)
{
    long d = f->d, n = f->n;
    memset(sums, 0, d * sizeof *sums);
    if (squares) memset(squares, 0, d * sizeof *squares);
    if (!f->rows)
        for (long j = 0; j < d; j++) {
            double *x = f->scratch, scale = 1 / f->unit[j];
            for (long i = 0; i < n; i++) x[i] = centered(f, i, j) * scale;
            sums[j] = dot(x, w, n);
            for (long i = 0; squares && i < n; i++) x[i] *= x[i];
            if (squares) squares[j] = dot(x, w, n);
        }
    double *restrict part = f->work, *restrict part2 = f->work + d;
    for (long top = 0; f->rows && top < n; top += STRETCH) {
        long end = top + STRETCH < n ? top + STRETCH : n, i = top;
        memset(part, 0, 2 * d * sizeof *part);
        if (!squares && !f->center)
            for (; i + 4 <= end; i += 4) {
                const double *restrict x = f->rows + i * d, *y = x + d, *z = y + d, *u = z + d;
                double a = w[i], b = w[i + 1], c = w[i + 2], e = w[i + 3];
                for (long j = 0; j < d; j++) part[j] += (a * x[j] + b * y[j]) + (c * z[j] + e * u[j]);
            }
        for (; i < end; i++) {
            const double *restrict x = f->rows + i * d, *restrict center = f->center;
            for (long j = 0; j < d; j++) {
                double value = center ? x[j] - center[j] : x[j], once = w[i] * value;
                part[j] += once;
                if (squares) part2[j] += once * value;
            }
        }
        for (long j = 0; j < d; j++) sums[j] += part[j];
        for (long j = 0; squares && j < d; j++) squares[j] += part2[j];
    }
    for (long j = 0; f->rows && j < d; j++) sums[j] /= f->unit[j];
    for (long j = 0; f->rows && squares && j < d; j++) squares[j] /= f->unit[j] * f->unit[j];
}

/* R = −Xᵗ s v over all columns, in a pass. */
static void look(Path *f, const double *v)
{
    double *oldest_v = f->seen_v[PASSES - 1], *oldest_R = f->seen_R[PASSES - 1];
    for (int i = PASSES - 1; i > 0; i--) f->seen_v[i] = f->seen_v[i - 1], f->seen_R[i] = f->seen_R[i - 1];
    f->seen_v[0] = oldest_v, f->seen_R[0] = oldest_R;
    f->seen = f->seen < PASSES ? f->seen + 1 : PASSES;
    f->passes++;
    memcpy(oldest_v, v, f->n * sizeof *v);
    double *sv = f->asked_v ? f->asked_v : f->sv;
    for (long i = 0; i < f->n; i++) sv[i] = -f->s[i] * v[i];
    if (!f->asked_v) {
        if (f->all.row)
            for (long j = 0; j < f->d; j++) oldest_R[j] = column_dot(&f->all, j, sv);
        else dense_moments(f, sv, oldest_R, NULL);
        return;
    }
    PyEval_RestoreThread(f->thread);
    PyObject *done = PyObject_CallObject(f->ask_look, NULL);
    if (!done) f->failed = 1;
    Py_XDECREF(done);
    f->thread = PyEval_SaveThread();
    memcpy(oldest_R, f->asked_R, f->d * sizeof *oldest_R);
}

/* near_R: slopes where the span of the passes is nearest to v; hands back how far that is. */
static double near(Path *f, const double *v)
{
    long p = f->seen - 1;
    double *rest = f->e, H[PASSES][PASSES], c[PASSES] = {0}, sum = 0, top = 0;
    const double *last = f->seen_v[0];
    memcpy(f->near_R, f->seen_R[0], f->d * sizeof *rest);
    for (long i = 0; i < f->n; i++) rest[i] = v[i] - last[i];
    double far = 0;
    for (long i = 0; i < f->n; i++) far += f->s[i] * rest[i] * rest[i];
    if (far == 0 || p <= 0) return sqrt(far);
    for (long i = 0; i < p; i++) { /* normal equations of the differences to the last pass */
        const double *vi = f->seen_v[i + 1];
        double *weighted = f->scratch;
        for (long r = 0; r < f->n; r++) weighted[r] = f->s[r] * (vi[r] - last[r]);
        c[i] = dot(weighted, rest, f->n);
        for (long j = 0; j <= i; j++) H[i][j] = H[j][i] = dot(weighted, f->seen_v[j + 1], f->n) - dot(weighted, last, f->n);
        top = fmax(top, H[i][i]);
    }
    for (long i = 0; i < p; i++) { /* Cholesky; directions that add nothing are left out */
        for (long j = 0; j < i; j++) {
            double l = H[i][j];
            for (long r = 0; r < j; r++) l -= H[i][r] * H[j][r];
            H[i][j] = H[j][j] > 0 ? l / H[j][j] : 0;
        }
        double left = H[i][i];
        for (long r = 0; r < i; r++) left -= H[i][r] * H[i][r];
        H[i][i] = left > 1e-10 * top ? sqrt(left) : 0;
        for (long r = 0; r < i; r++) c[i] -= H[i][r] * c[r];
        c[i] = H[i][i] > 0 ? c[i] / H[i][i] : 0;
    }
    for (long i = p - 1; i >= 0; i--) {
        for (long r = i + 1; r < p; r++) c[i] -= H[r][i] * c[r];
        c[i] = H[i][i] > 0 ? c[i] / H[i][i] : 0;
        sum += fabs(c[i]);
    }
    if (!(sum < MOST_WEIGHT)) return sqrt(far);
    for (long i = 0; i < p; i++) {
        if (c[i] == 0) continue;
        for (long r = 0; r < f->n; r++) rest[r] -= c[i] * (f->seen_v[i + 1][r] - last[r]);
        for (long j = 0; j < f->d; j++) f->near_R[j] += c[i] * (f->seen_R[i + 1][j] - f->seen_R[0][j]);
    }
    far = 0;
    for (long i = 0; i < f->n; i++) far += f->s[i] * rest[i] * rest[i];
    return sqrt(far);
}

/* By how much the slopes of a group, each `far` off at most, may exceed λl₁; a bound at zero holds back what pulls at it. */
static double violation(const Path *f, long u, double strength, double far)
{
    double sum = 0, most = 0;
    for (long i = f->starts[u]; i < f->starts[u + 1]; i++) {
        long j = f->order[i];
        double slack = far > 0 ? far * f->norms[j] : 0, R = f->near_R[j];
        double up = R + slack > 0 && f->upper[j] > 0 ? R + slack : 0, down = slack - R > 0 && f->lower[j] < 0 ? slack - R : 0;
        most = fmax(up, down);
        sum += most * most;
    }
    return (f->starts[u + 1] - f->starts[u] == 1 ? most : sqrt(sum)) - strength * f->l1[u];
}

/* Groups outside the working set that violate the conditions at this strength, into `pairs`. */
static long violators(Path *f, double strength, double far)
{
    long count = 0;
    for (long u = 0; u < f->n_groups; u++) {
        if (f->inside[u]) continue;
        double over = violation(f, u, strength, far);
        if (over > 0) f->pairs[count++] = (Pair){over, u};
    }
    return count;
}

/* The working set */

static int grow(Path *f, void **p, long have, long need, size_t size)
{
    if (need <= have) return 0;
    void *more = realloc(*p, need * size);
    if (!more) return f->failed = 1;
    *p = more;
    return 0;
}

static void levels(Path *f)
{
    for (long k = 0; k < f->k; k++)
        f->L1[k] = f->strength * f->l1[f->group[k]], f->L2[k] = f->strength * f->l2[f->group[k]];
}

/* Take the first `count` groups of `pairs` in, with weights zero. */
static void enter(Path *f, long count)
{
    long old = f->m;
    for (long i = 0; i < count; i++) {
        long u = f->pairs[i].index;
        if (f->inside[u]) continue;
        f->inside[u] = 1;
        f->group[f->k] = u;
        for (long r = f->starts[u]; r < f->starts[u + 1]; r++, f->m++) {
            long j = f->feature[f->m] = f->order[r];
            f->a[f->m] = 0, f->low[f->m] = f->lower[j], f->up[f->m] = f->upper[j];
        }
        f->first[++f->k] = f->m;
    }
    levels(f);
    if (f->m == old) return;
    if (f->all.row) {
        long need = f->start_own[old];
        for (long j = old; j < f->m; j++) {
            need += f->all.start[f->feature[j] + 1] - f->all.start[f->feature[j]];
            f->start_own[j + 1] = need;
        }
        long room = need > f->room ? 2 * need : f->room;
        if (grow(f, (void **)&f->x_own, f->room, room, sizeof(double)) ||
            grow(f, (void **)&f->row_own, f->room, room, sizeof(int32_t)))
            return;
        f->room = room;
        for (long j = old; j < f->m; j++) {
            long from = f->all.start[f->feature[j]], size = f->start_own[j + 1] - f->start_own[j];
            memcpy(f->x_own + f->start_own[j], f->all.x + from, size * sizeof(double));
            memcpy(f->row_own + f->start_own[j], f->all.row + from, size * sizeof(int32_t));
        }
        f->X = (Columns){f->x_own, f->row_own, f->start_own, f->n};
        return;
    }
    long room = f->m > f->room ? (3 * f->m / 2 < f->d ? 3 * f->m / 2 : f->d) : f->room;
    if (grow(f, (void **)&f->x_own, f->room * f->n, room * f->n, sizeof(double))) return;
    f->room = room;
    f->X = (Columns){f->x_own, NULL, NULL, f->n};
    if (!f->asked) {
        gather(f, f->feature + old, f->m - old, f->x_own + old * f->n);
        return;
    }
    for (long j = old; j < f->m; j++) f->asked[j - old] = f->feature[j];
    PyEval_RestoreThread(f->thread);
    PyObject *columns = PyObject_CallFunction(f->ask_gather, "l", f->m - old);
    Buffers held = {0};
    if (!columns) held.failed = 1;
    const double *x = float64_in(&held, columns, "columns", (f->m - old) * f->n);
    if (!held.failed) memcpy(f->x_own + old * f->n, x, (f->m - old) * f->n * sizeof(double));
    f->failed |= held.failed;
    release(&held);
    Py_XDECREF(columns);
    f->thread = PyEval_SaveThread();
}

/* Before M is formed anew: groups at zero whose slopes are far below their l₁ leave. */
static void leave(Path *f)
{
    long k = 0, m = 0;
    for (long q = 0; q < f->k; q++) {
        long j = f->first[q], p = f->first[q + 1] - j;
        if (length(f->a + j, p) == 0 && length(f->g + j, p) < KEPT * f->L1[q]) {
            f->inside[f->group[q]] = 0;
            continue;
        }
        for (long i = j; i < j + p; i++, m++) {
            f->a[m] = f->a[i], f->g[m] = f->g[i], f->R_dual[m] = f->R_dual[i];
            f->low[m] = f->low[i], f->up[m] = f->up[i], f->feature[m] = f->feature[i];
            if (f->X.row) {
                long from = f->start_own[i], size = f->start_own[i + 1] - from, to = f->start_own[m];
                memmove(f->x_own + to, f->x_own + from, size * sizeof(double));
                memmove(f->row_own + to, f->row_own + from, size * sizeof(int32_t));
                f->start_own[m + 1] = to + size;
            } else if (m < i) memcpy(f->x_own + m * f->n, f->x_own + i * f->n, f->n * sizeof(double));
        }
        f->group[k] = f->group[q], f->L1[k] = f->L1[q], f->L2[k] = f->L2[q];
        f->first[++k] = m;
    }
    f->k = k, f->m = m;
}

/* The model's matrix */

#define STRIP 512 /* rows */
#define BAND 32 /* columns */
#define TILE 4

/* Σ over a strip of rows of y_i x_j, four by four. */
static void tile(const double *const y[TILE], const double *const x[TILE], long rows, double out[TILE][TILE])
{
    vec sum[TILE][TILE] = {{{0}}};
    long r = 0;
    for (; r + LANES <= rows; r += LANES)
        for (int i = 0; i < TILE; i++) {
            vec yi;
            memcpy(&yi, y[i] + r, sizeof yi);
            for (int j = 0; j < TILE; j++) {
                vec xj;
                memcpy(&xj, x[j] + r, sizeof xj);
                sum[i][j] += yi * xj;
            }
        }
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) {
            double tail = lanes_sum(sum[i][j]);
            for (long q = r; q < rows; q++) tail += y[i][q] * x[j][q];
            out[i][j] = tail;
        }
}

/* Eigenvalues and vectors (columns of Q) of a group's block, by Jacobi's rotations; of a large one a bound, Q the unit. */
static void decompose(Path *f, long k)
{
    long j = f->first[k], p = f->first[k + 1] - j;
    double *Q = f->Q + f->corner_of_Q[k], *e = f->eigen + j;
    if (p == 1) return;
    if (p > MOST_EIGEN) {
        double top = 0;
        for (long i = 0; i < p; i++) {
            double row = 0;
            for (long c = 0; c < p; c++) row += fabs(f->M[(j + i) * f->stride + j + c]);
            top = fmax(top, row);
        }
        for (long i = 0; i < p; i++) e[i] = top;
        return;
    }
    double A[MOST_EIGEN * MOST_EIGEN], total = 0;
    for (long i = 0; i < p; i++)
        for (long c = 0; c < p; c++) {
            A[i * p + c] = f->M[(j + i) * f->stride + j + c], Q[i * p + c] = i == c;
            total += A[i * p + c] * A[i * p + c];
        }
    for (int turn = 0; turn < 30; turn++) {
        double off = 0;
        for (long i = 0; i < p; i++)
            for (long c = 0; c < i; c++) off += A[i * p + c] * A[i * p + c];
        if (off <= 1e-30 * total) break;
        for (long i = 1; i < p; i++)
            for (long c = 0; c < i; c++) {
                double aic = A[i * p + c];
                if (aic == 0) continue;
                double theta = (A[i * p + i] - A[c * p + c]) / (2 * aic);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)), cs = 1 / sqrt(t * t + 1), sn = t * cs;
                for (long r = 0; r < p; r++) {
                    double x = A[r * p + c], y = A[r * p + i];
                    A[r * p + c] = cs * x - sn * y, A[r * p + i] = sn * x + cs * y;
                }
                for (long r = 0; r < p; r++) {
                    double x = A[c * p + r], y = A[i * p + r];
                    A[c * p + r] = cs * x - sn * y, A[i * p + r] = sn * x + cs * y;
                }
                for (long r = 0; r < p; r++) {
                    double x = Q[r * p + c], y = Q[r * p + i];
                    Q[r * p + c] = cs * x - sn * y, Q[r * p + i] = sn * x + cs * y;
                }
            }
    }
    for (long i = 0; i < p; i++) e[i] = fmax(A[i * p + i], 0);
}

/* M for the columns that the working set has gained. */
static void form(Path *f)
{
    long from = f->formed, m = f->m, n = f->n;
    if (from == m) return;
    if (m > f->stride) {
        long stride = 3 * m / 2 < f->d ? 3 * m / 2 : f->d;
        double *M = malloc(stride * stride * sizeof *M);
        if (!M) {
            f->failed = 1;
            return;
        }
        for (long j = 0; j < from; j++) memcpy(M + j * stride, f->M + j * f->stride, from * sizeof *M);
        free(f->M);
        f->M = M, f->stride = stride;
    }
    for (long k = from; k < m; k++) {
        f->B[k] = column_dot(&f->X, k, f->w);
        memset(f->M + k * f->stride, 0, m * sizeof *f->M);
    }
    if (f->X.row)
        for (long k = from; k < m; k++) {
            memset(f->scratch, 0, n * sizeof *f->scratch);
            column_add(&f->X, k, 1.0, f->w, f->scratch);
            for (long j = 0; j <= k; j++) f->M[k * f->stride + j] = column_dot(&f->X, j, f->scratch);
        }
    else {
        double *strip = malloc(STRIP * BAND * sizeof *strip);
        f->failed |= !strip;
        for (long top = 0; strip && top < n; top += STRIP) {
            long rows = n - top < STRIP ? n - top : STRIP;
            for (long band = from; band < m; band += BAND) { /* weighted columns that stay in the cache */
                long end = band + BAND < m ? band + BAND : m;
                for (long k = band; k < end; k++)
                    for (long r = 0; r < rows; r++) strip[(k - band) * STRIP + r] = f->w[top + r] * f->X.x[k * n + top + r];
                for (long j = 0; j < end; j += TILE)
                    for (long k = j > band ? band + (j - band) / TILE * TILE : band; k < end; k += TILE) {
                        const double *y[TILE], *x[TILE];
                        double out[TILE][TILE];
                        for (long i = 0; i < TILE; i++) {
                            y[i] = strip + ((k + i < end ? k + i : k) - band) * STRIP;
                            x[i] = f->X.x + (j + i < m ? j + i : j) * n + top;
                        }
                        tile(y, x, rows, out);
                        for (long i = 0; i < TILE && k + i < end; i++)
                            for (long c = 0; c < TILE && j + c <= k + i; c++) f->M[(k + i) * f->stride + j + c] += out[i][c];
                    }
            }
        }
        free(strip);
    }
    for (long k = from; k < m; k++) {
        double full = f->M[k * f->stride + k], share = f->intercept && f->corner > 0 ? f->B[k] / f->corner : 0;
        for (long j = 0; j <= k; j++) f->M[k * f->stride + j] -= share * f->B[j];
        f->M[k * f->stride + k] = fmax(f->M[k * f->stride + k], 1e-14 * full);
        for (long j = 0; j < k; j++) f->M[j * f->stride + k] = f->M[k * f->stride + j];
    }
    f->formed = m;
    for (long k = 0; k < f->k; k++) {
        if (f->first[k] < from) continue;
        long p = f->first[k + 1] - f->first[k];
        f->corner_of_Q[k + 1] = f->corner_of_Q[k] + (p > 1 && p <= MOST_EIGEN ? p * p : 0);
        decompose(f, k);
    }
}

/* Minimising it */

static inline double shrink(double u, double level) { return copysign(fmax(fabs(u) - level, 0.0), u) + 0.0; }

/* A group's weights to their minimum, the others held; hands back by how much a slope moved. */
static double visit(Path *f, long k, int only_support)
{
    long j = f->first[k], p = f->first[k + 1] - j, exact = p <= MOST_EIGEN;
    double *a = f->to + j, *g = f->g + j, l1 = f->L1[k], l2 = f->L2[k], *r = f->work, *c = r + p, moved = 0;
    const double *e = f->eigen + j, *Q = f->Q + f->corner_of_Q[k];
    double norm = length(a, p);
    if (only_support && norm == 0) return 0;
    for (long i = 0; i < p; i++) { /* r = H a − g: the weights that would be without the kink are H⁻¹ r */
        r[i] = -g[i] + (l2 + (exact ? 0 : e[0])) * a[i];
        for (long q = 0; exact && norm > 0 && q < p; q++) r[i] += f->M[(j + i) * f->stride + j + q] * a[q];
    }
    double size = length(r, p);
    if (size <= l1) memset(c, 0, p * sizeof *c);
    else {
        for (long i = 0; i < p; i++) {
            c[i] = exact ? 0 : r[i];
            for (long q = 0; exact && q < p; q++) c[i] += Q[q * p + i] * r[q];
        }
        double top = 0, rho = 0;
        for (long i = 0; i < p; i++) top = fmax(top, e[i] + l2);
        if (top <= 0) return 0;
        if (l1 > 0) { /* ‖a‖ = ρ: Σ (c / (eρ + l₁))² = 1, by Newton on the inverse root, nearly straight */
            rho = fmax(norm, (size - l1) / top);
            for (int turn = 0; turn < 50; turn++) {
                double sum = 0, slope = 0;
                for (long i = 0; i < p; i++) {
                    double below = 1 / ((e[i] + l2) * rho + l1), part = c[i] * below;
                    sum += part * part, slope += part * part * (e[i] + l2) * below;
                }
                double step = slope > 0 ? (sqrt(sum) - 1) * sum / slope : 0, next = rho + step;
                if (next <= 0) next = rho / 4;
                if (fabs(next - rho) <= 1e-15 * rho) break;
                rho = next;
            }
        }
        for (long i = 0; i < p; i++) {
            double h = e[i] + l2, below = l1 > 0 ? h * rho + l1 : h;
            c[i] = below > 0 ? c[i] * (l1 > 0 ? rho : 1) / below : 0;
        }
        if (exact) {
            for (long i = 0; i < p; i++) {
                r[i] = 0;
                for (long q = 0; q < p; q++) r[i] += Q[i * p + q] * c[q];
            }
            c = r;
        }
    }
    for (long i = 0; i < p; i++) {
        double step = c[i] - a[i];
        if (step == 0) continue;
        a[i] = c[i];
        axpy(f->m, step, f->M + (j + i) * f->stride, f->g);
        f->g[j + i] += l2 * step;
        moved = fmax(moved, ((exact ? f->M[(j + i) * f->stride + j + i] : e[0]) + l2) * fabs(step));
    }
    return moved;
}

static double sweep(Path *f, int only_support)
{
    double moved = 0, *a = f->to, *g = f->g;
    for (long k = 0; k < f->k; k++) {
        long j = f->first[k];
        if (f->first[k + 1] - j > 1) {
            moved = fmax(moved, visit(f, k, only_support));
            continue;
        }
        double h = f->M[j * f->stride + j] + f->L2[k];
        if (h <= 0 || (only_support && a[j] == 0)) continue;
        double to = shrink(a[j] - g[j] / h, f->L1[k] / h), step;
        to = to < f->low[j] ? f->low[j] : to > f->up[j] ? f->up[j] : to;
        if ((step = to - a[j]) == 0) continue;
        a[j] = to;
        moved = fmax(moved, h * fabs(step));
        axpy(f->m, step, f->M + j * f->stride, g);
        g[j] += f->L2[k] * step;
    }
    return moved;
}

/* Lᵗ in place of the upper half of H = LLᵗ > 0 (p × p); 0 where it is not. */
static int factor(long p, double *H)
{
    for (long k = 0; k < p; k++) {
        if (!(H[k * p + k] > 0)) return 0;
        double root = 1 / sqrt(H[k * p + k]);
        for (long j = k; j < p; j++) H[k * p + j] *= root;
        for (long i = k + 1; i < p; i++) axpy(p - i, -H[k * p + i], H + k * p + i, H + i * p + i);
    }
    return 1;
}

/* H⁻¹ r in place. */
static void factor_solve(long p, const double *Lt, double *r)
{
    for (long k = 0; k < p; k++) {
        r[k] /= Lt[k * p + k];
        axpy(p - k - 1, -r[k], Lt + k * p + k + 1, r + k + 1);
    }
    for (long k = p - 1; k >= 0; k--) {
        r[k] -= dot(Lt + k * p + k + 1, r + k + 1, p - k - 1);
        r[k] /= Lt[k * p + k];
    }
}

static double kinks(const Path *f, const double *a)
{
    double sum = 0;
    for (long k = 0; k < f->k; k++) sum += f->L1[k] * length(a + f->first[k], f->first[k + 1] - f->first[k]);
    return sum;
}

/* The change of the model from `to` by `delta`, the kinks' apart; `change` gets that of the slopes. */
static double ahead(Path *f)
{
    double sum = 0;
    memset(f->change, 0, f->m * sizeof(double));
    for (long k = 0; k < f->k; k++)
        for (long j = f->first[k]; j < f->first[k + 1]; j++) {
            if (f->delta[j] == 0) continue;
            axpy(f->m, f->delta[j], f->M + j * f->stride, f->change);
            f->change[j] += f->L2[k] * f->delta[j];
        }
    for (long j = 0; j < f->m; j++) sum += f->delta[j] * (f->g[j] + 0.5 * f->change[j]);
    return sum;
}

/* Newton's step of the model on the weights that are not zero, signs held; 0 where it leads nowhere. */
static int jump(Path *f)
{
    long p = 0, *S = f->support;
    double *a = f->to, *r = f->work, *way = f->way, first = 1, before = kinks(f, a);
    for (long k = 0; k < f->k; k++) {
        int live = f->L1[k] == 0 || length(a + f->first[k], f->first[k + 1] - f->first[k]) > 0;
        for (long j = f->first[k]; j < f->first[k + 1]; j++)
            if (live && f->low[j] < a[j] && a[j] < f->up[j]) S[p++] = j;
    }
    if (p == 0 || p > f->most_cholesky) return 0;
    int same = f->factored == p && f->m == f->k && f->factor_strength == f->strength;
    for (long i = 0; same && i < p; i++) same = f->factor_of[i] == S[i];
    if (!same && grow(f, (void **)&f->factor, f->factor_room, p * p, sizeof(double))) return 0;
    double *H = f->factor;
    f->factor_room = p * p > f->factor_room ? p * p : f->factor_room;
    for (long i = 0; !same && i < p; i++)
        for (long c = i; c < p; c++) H[i * p + c] = f->M[S[i] * f->stride + S[c]];
    for (long k = 0, i = 0; k < f->k; k++) {
        long j = f->first[k], size = f->first[k + 1] - j, from = i;
        double norm = length(a + j, size), bend = size > 1 && norm > 0 ? f->L1[k] / norm : 0;
        for (; i < p && S[i] < j + size; i++) { /* a group's kink bends by l₁/‖a‖ (I − uuᵗ), u = a/‖a‖ */
            double u = norm > 0 ? a[S[i]] / norm : 0;
            r[i] = -(f->g[S[i]] + f->L1[k] * u);
            if (same) continue;
            H[i * p + i] = H[i * p + i] * (1 + 1e-13) + f->L2[k] + bend;
            for (long c = from; bend > 0 && c <= i; c++) H[c * p + i] -= bend * u * a[S[c]] / norm;
        }
    }
    f->factored = 0;
    if (!same && !factor(p, H)) return 0;
    f->factored = p, f->factor_strength = f->strength;
    memcpy(f->factor_of, S, p * sizeof *S);
    factor_solve(p, H, r);
    int cut = 0;
    memset(way, 0, f->m * sizeof *way);
    for (long i = 0; i < p; i++) way[S[i]] = r[i];
    for (long k = 0; k < f->k; k++) { /* where the first weight would change its sign or leave its bounds */
        long j = f->first[k];
        double end = a[j] + way[j], low = f->L1[k] > 0 && a[j] > 0 ? 0 : f->low[j], up = f->L1[k] > 0 && a[j] < 0 ? 0 : f->up[j];
        if (f->first[k + 1] - j > 1 || way[j] == 0 || (low <= end && end <= up)) continue;
        cut = 1, first = fmin(first, ((end < low ? low : up) - a[j]) / way[j]);
    }
    for (int turn = 0; turn < (cut ? 2 : 8); turn++) { /* all that would change sign become zero, or the first of them */
        double share = cut ? (turn ? first : 1.0) : pow(0.5, turn), *end = f->R;
        for (long k = 0; k < f->k; k++)
            for (long j = f->first[k]; j < f->first[k + 1]; j++) {
                end[j] = a[j] + share * way[j];
                if (f->first[k + 1] - f->first[k] == 1 && way[j] != 0) {
                    int over = end[j] * a[j] < 0 || (turn && fabs(end[j]) <= 1e-12 * fabs(a[j]));
                    if (f->L1[k] > 0 && over) end[j] = 0;
                    end[j] = end[j] < f->low[j] ? f->low[j] : end[j] > f->up[j] ? f->up[j] : end[j];
                }
                f->delta[j] = end[j] - a[j];
            }
        if (ahead(f) + kinks(f, end) < before * (1 + (turn ? 0 : 1e-15))) {
            memcpy(a, end, f->m * sizeof *a);
            axpy(f->m, 1.0, f->change, f->g);
            return 1;
        }
    }
    return 0;
}

/* Sweeps until one over all coordinates moves no slope by more than `still`; `least`: the least l₁. */
static void minimize_model(Path *f, double still, double least)
{
    long sweeps = 0, support = 0;
    if (f->smooth) jump(f);
    for (long j = 0; j < f->m; j++) support += f->to[j] != 0;
    double limit = 3 + support / 12.0, moved = INFINITY; /* limit: about what a jump costs */
    for (int round = 0; round < 100; round++) {
        double before = moved;
        moved = sweep(f, 0);
        if (moved <= still || (moved <= 1e-6 * least && moved > 0.5 * before)) return; /* the latter: rounding */
        for (int k = 0; k < 20; k++) {
            if (sweep(f, 1) <= INNER * still) break;
            if (++sweeps < limit) continue;
            if (!jump(f)) limit *= 4;
            sweeps = 0;
            break;
        }
    }
}

/* How far off the slopes of the model may be: the gap is of first order in what they exceed an l₁ by, or, where there is
   an l₂, of second: excess²/2l₂. */
static double stillness(const Path *f, double goal, double exact)
{
    double least = INFINITY, rough = INFINITY, off = 0;
    for (long k = 0; k < f->k; k++) {
        long j = f->first[k], p = f->first[k + 1] - j;
        double a = f->a[j], second = sqrt(2 * ROUGH * goal * fabs(f->J) * f->L2[k] / f->m);
        int live = p == 1 && (a != 0 || f->L1[k] == 0) && f->low[j] < a && a < f->up[j];
        off = fmax(off, live ? fabs(f->g[j] + (a > 0 ? f->L1[k] : a < 0 ? -f->L1[k] : 0)) : length(f->g + j, p) - f->L1[k]);
        if (f->L1[k] > 0) least = fmin(least, f->L1[k]), rough = fmin(rough, fmax(ROUGH * goal * f->L1[k], second));
    }
    if (isinf(least)) least = 1, rough = ROUGH * goal;
    if (f->growing) return GROWING * off;
    return exact ? exact * least : fmax(fmin(rough, PROGRESS * off), EXACT * least);
}

/* Take u, with slopes R, for the dual point if its bound is better than what is known and than `least`. */
static int propose(Path *f, const double *u, double least)
{
    double bound = bound_of(f, u, f->R, NULL, 0);
    if (!(bound > f->bound || (f->bound <= f->least && bound > least))) return 0;
    f->bound = fmax(bound, f->least);
    memcpy(f->dual, u, f->n * sizeof *u);
    memcpy(f->R_dual, f->R, f->m * sizeof *f->R);
    return 1;
}

/* Whether M is to be formed anew: it costs less than the steps that are left at the rate of the last one.  In
   multiplications: a step goes twice down its columns, sweeps over M and takes losses; tiles of M are four times as fast
   as that where columns are dense, and entries of sparse ones twice as slow (1000×180: 6 steps; 5000×20: half a one). */
static int outdated(const Path *f, double before, double goal)
{
    double m = f->m, entries = f->X.row ? (double)f->start_own[f->m] / m : (double)f->n, wanted = goal * fabs(f->J);
    double price = m * m * entries * (f->X.row ? 0.5 : 0.125) / (2 * m * entries + 10 * m * m + 60.0 * f->n);
    if (f->gap <= wanted) return 0;
    return !(f->gap < 0.9 * before) || log(wanted / f->gap) / log(f->gap / before) > price + 1;
}

/* One step that gets J down, and the bound of min J on the working set up; 0 where there is none. */
static int step(Path *f, double goal, double exact)
{
    long n = f->n, m = f->m;
    int dear = f->X.row ? m > f->sparse_gram : !f->several && m > LITTLE && m > n / 8; /* M costs more than many sweeps */
    if (exact == EXACT && !f->X.row && m <= f->most_cholesky) dear = 0;
    int matrix = f->m != f->k || (m <= f->most_gram && (f->matrix || !dear));
    int fresh = f->stale || !matrix;
    if (fresh) {
        memcpy(f->hm, f->h, n * sizeof *f->hm);
        for (long i = 0; i < n; i++) f->w[i] = f->s[i] * f->h[i];
        f->corner = 0;
        for (long i = 0; i < n; i++) f->corner += f->w[i];
        f->formed = f->factored = 0, f->stale = !matrix;
    }
    f->steps++;
    double before = f->gap, g0 = f->intercept ? dot(f->s, f->v, n) : 0, shift = f->corner > 0 ? g0 / f->corner : 0, *u = f->sv;
    for (long i = 0; i < n; i++) u[i] = f->s[i] * f->v[i] - shift * f->w[i];
    for (long k = 0; k < f->k; k++)
        for (long j = f->first[k]; j < f->first[k + 1]; j++) f->g[j] = column_dot(&f->X, j, u) + f->L2[k] * f->a[j];
    if (matrix && fresh && !f->growing) leave(f);
    m = f->m;
    if (matrix) form(f);
    if (f->failed) return 0;
    memcpy(f->to, f->a, m * sizeof *f->a);
    memcpy(f->slope, f->g, m * sizeof *f->g);
    double still = stillness(f, goal, exact);
    if (matrix) minimize_model(f, still, exact ? still / exact : 0.0);
    else {
        Plan plan = {exact ? 50 : 4, exact ? 10 : 6, still};
        int reached = descend_columns(&f->X, m, f->w, f->intercept, f->to, f->g, f->L1, f->L2, f->low, f->up, f->work, plan);
        f->matrix |= !reached && !f->growing && m <= f->most_cholesky; /* sweeps are slow here */
    }
    double model = f->intercept ? -g0 * shift : 0, moved = 0, *e = f->e;
    memset(e, 0, n * sizeof *e);
    for (long j = 0; j < m; j++) {
        double d = f->to[j] - f->a[j];
        if (d == 0) continue;
        model += f->slope[j] * d;
        moved = fmax(moved, fabs(d));
        column_add(&f->X, j, d, NULL, e);
    }
    model += kinks(f, f->to) - kinks(f, f->a);
    double b = f->intercept && f->corner > 0 ? -(g0 + dot(f->w, e, n)) / f->corner : 0;
    for (long i = 0; i < n; i++) e[i] += b;
    for (long i = 0; i < n; i++) u[i] = f->v[i] + f->hm[i] * e[i];
    if (matrix)
        for (long k = 0; k < f->k; k++)
            for (long j = f->first[k]; j < f->first[k + 1]; j++) f->R[j] = f->L2[k] * f->to[j] - f->g[j];
    else {
        for (long i = 0; i < n; i++) f->zt[i] = f->s[i] * u[i];
        for (long j = 0; j < m; j++) f->R[j] = -column_dot(&f->X, j, f->zt);
    }
    int told = propose(f, u, f->least);
    f->gap = fmax(f->J - f->bound, 0.0);
    f->moved = moved;
    if (moved == 0 && fabs(g0) <= 1e-15) return 0;
    /* so near to the end the rounding of J decides nothing */
    double slack = f->gap <= 1e-9 * fabs(f->J) ? 1e-13 * fabs(f->J) + 1e-14 : 1e-15 * fabs(f->J), t = 1;
    for (int k = 0; k < (fresh ? HALVINGS : 2); k++, t *= 0.5) {
        for (long j = 0; t < 1 && j < m; j++) f->to[j] = f->a[j] + 0.5 * (f->to[j] - f->a[j]); /* at t = 1 zeros are exact */
        for (long i = 0; i < n; i++) f->zt[i] = f->z[i] + t * e[i];
        double value = losses(f, f->zt, f->vt, f->ht), J = value + penalty(f, f->to);
        if (!(f->J + 1e-4 * t * fmin(model, 0.0) + slack >= J)) continue;
        double *z = f->z, *v = f->v, *h = f->h, *a = f->a;
        f->z = f->zt, f->v = f->vt, f->h = f->ht, f->a = f->to;
        f->zt = z, f->vt = v, f->ht = h, f->to = a;
        f->b += t * b, f->value = value, f->J = J;
        if (!told) { /* the model's slopes are none of the loss: those of the new point */
            double sum = f->intercept ? dot(f->s, f->v, n) : 0, corner = dot(f->s, f->h, n), by = corner > 0 ? sum / corner : 0;
            for (long i = 0; i < n; i++) u[i] = f->v[i] - by * f->h[i], f->zt[i] = f->s[i] * u[i];
            for (long j = 0; j < m; j++) f->R[j] = -column_dot(&f->X, j, f->zt);
            propose(f, u, f->bound <= f->least ? -INFINITY : f->least);
        }
        f->gap = fmax(J - f->bound, 0.0);
        f->stale |= !f->growing && outdated(f, before, goal);
        return 1;
    }
    if (fresh) return 0;
    f->stale = 1;
    return step(f, goal, exact);
}

/* Steps until the gap on the working set is ≤ goal·|J|. */
static void minimize(Path *f, double goal)
{
    double patience = INFINITY;
    int stuck = 0;
    for (long k = 0; k < MOST_STEPS && stuck < 4 && !f->failed; k++) {
        if (f->gap <= goal * fabs(f->J)) return;
        if (k % PATIENCE == PATIENCE - 1) { /* weights without a penalty may be on their way to infinity */
            if (f->gap > 0.5 * patience) return;
            patience = f->gap;
        }
        double J = f->J, gap = f->gap;
        if (!step(f, goal, 0.0) || f->growing) return;
        stuck = f->J >= J * (1 - 1e-15) && f->gap > 0.7 * gap ? stuck + 1 : 0;
    }
}

/* How many of so many violators enter: as many as there are, and twice that where nearly all of these are needed. */
static long fewer(const Path *f, long count)
{
    long used = 0;
    for (long k = 0; k < f->k; k++) used += f->a[f->first[k]] != 0;
    long most = 10 * used > 7 * f->k ? 2 * f->k : f->k;
    most = most > FIRST ? most : FIRST;
    return count < most ? count : most;
}

/* Look beyond the working set: the bound of min J over all columns; hands back how many groups entered that must. */
static long check(Path *f)
{
    long count = 0;
    for (int turn = 0; f->k < f->n_groups && turn < 2 && !f->failed; turn++) {
        if (!f->seen || (!f->norms && turn)) look(f, f->dual);
        double far = near(f, f->dual);
        if (far > 0 && !f->norms) {
            look(f, f->dual);
            far = near(f, f->dual);
        }
        count = violators(f, f->strength, far);
        if (count == 0) break;
        if (far > 0 && count * 40 > f->n_groups + 120) {
            look(f, f->dual);
            continue;
        }
        if (far > 0) { /* a few that could violate: they enter, and their slopes are taken */
            long k = f->k, m = f->m;
            enter(f, count);
            for (long i = 0; i < f->n; i++) f->e[i] = -f->s[i] * f->dual[i];
            for (long j = m; j < f->m && !f->failed; j++) f->R_dual[j] = column_dot(&f->X, j, f->e);
            for (count = 0; k < f->k; k++)
                count += length(f->R_dual + f->first[k], f->first[k + 1] - f->first[k]) > f->L1[k];
            if (count) f->bound = fmax(bound_of(f, f->dual, f->R_dual, NULL, 0), f->least);
        } else {
            f->bound = fmax(bound_of(f, f->dual, f->R_dual, f->pairs, count), f->least);
            qsort(f->pairs, count, sizeof *f->pairs, compare_pairs);
            enter(f, fewer(f, count));
        }
        break;
    }
    f->proved = fmax(f->proved, f->bound);
    f->gap = fmax(f->J - f->proved, 0.0);
    return count;
}

/* Move the intercept to where its slope is no more than `least`. */
static void settle(Path *f, double least)
{
    double size = INFINITY;
    for (int k = 0; f->intercept && k < 60; k++) {
        double g = dot(f->s, f->v, f->n), corner = dot(f->s, f->h, f->n), last = size;
        size = fabs(g);
        if (size <= least || (size <= 1e-12 && size > 0.5 * last)) break;
        /* far from the minimum a Newton step overshoots; the logistic's own scale limits it */
        double by = corner > 0 ? fmax(-2.0, fmin(2.0, g / corner)) : 0.0;
        f->b -= by;
        for (long i = 0; i < f->n; i++) f->z[i] -= by;
        f->value = losses(f, f->z, f->v, f->h);
    }
}

/* Stand at this λ, with nothing proved. */
static void stand(Path *f, double strength)
{
    f->strength = strength;
    levels(f);
    f->J = f->value + penalty(f, f->a);
    f->bound = f->proved = f->least;
    f->gap = INFINITY;
    memset(f->dual, 0, f->n * sizeof *f->dual);
    memset(f->R_dual, 0, f->d * sizeof *f->R_dual);
}

/* The intercept and what is not penalised at all; hands back λ_max, the least λ at which nothing else enters. */
static double begin(Path *f)
{
    long count = 0;
    f->smooth = 1;
    for (long u = 0; u < f->n_groups; u++) {
        int open_ended = f->l1[u] == 0 && f->l2[u] == 0;
        f->smooth &= f->l1[u] == 0;
        for (long i = f->starts[u]; i < f->starts[u + 1]; i++)
            open_ended &= isinf(f->lower[f->order[i]]) && isinf(f->upper[f->order[i]]);
        if (open_ended) f->pairs[count++] = (Pair){0, u};
    }
    enter(f, count);
    f->value = losses(f, f->z, f->v, f->h);
    settle(f, 1e-15);
    stand(f, 1.0);
    if (count && !f->failed) minimize(f, 1e-10);
    else memcpy(f->dual, f->v, f->n * sizeof *f->v);
    look(f, f->dual);
    memcpy(f->near_R, f->seen_R[0], f->d * sizeof(double));
    double largest = 0;
    for (long u = 0; u < f->n_groups; u++)
        if (f->l1[u] > 0) largest = fmax(largest, violation(f, u, 0.0, 0.0) / f->l1[u]);
    return largest;
}

/* One λ: until the gap over all columns is ≤ tol·|J|; `exact`: to the last digits. */
static void solve(Path *f, double strength, double previous, double tol, int exact, int first, double *records, long *rounds)
{
    if (f->seen && f->k < f->n_groups) { /* the strong rule: a slope can hardly have grown by more than its l₁ fell */
        near(f, f->dual);
        long count = violators(f, fmax(2 * strength - previous, 0.5 * strength), 0.0), most = fewer(f, count);
        qsort(f->pairs, count, sizeof *f->pairs, compare_pairs);
        long many = count / 4 < f->n / 4 ? count / 4 : f->n / 4; /* no more than rows can be in the support */
        enter(f, f->smooth ? count : first && most < many ? many : most);
    }
    stand(f, strength);
    f->growing = first && f->k < f->n_groups;
    double left = INFINITY, goal = first && f->k < f->n_groups ? fmax(0.9 * tol, SHARE) : 0.9 * tol;
    for (long round = 0; round < MOST_ROUNDS && !f->failed; round++) {
        minimize(f, goal);
        long missing = check(f);
        double before = left;
        left = f->gap / fmax(fabs(f->J), 1e-300);
        if (records) {
            double *record = records + 5 * *rounds;
            record[0] = f->steps, record[1] = f->J, record[2] = f->gap, record[3] = strength, record[4] = f->passes;
            ++*rounds;
        }
        if (left <= tol || (missing == 0 && !f->growing && (goal <= 0.9 * tol || left > 0.9 * before))) break;
        goal = fmax(0.9 * tol, SHARE * left);
        if (f->growing && 10 * missing < f->k) f->growing = 0, f->stale = 1;
    }
    f->growing = 0;
    double last = INFINITY;
    for (int k = 0; exact && f->m && k < LAST_STEPS && !f->failed; k++) {
        double J = f->J, size = 0;
        f->stale |= k == 0;
        if (!step(f, 0.0, tol > ALL_DIGITS ? 0.01 * tol : EXACT) || f->J > J + 1e-12 * fabs(J)) break;
        for (long j = 0; j < f->m; j++) size = fmax(size, fabs(f->a[j]));
        f->stale = f->moved > 0.1 * last;
        last = f->moved;
        if (last <= fmin(1e-5, STANDING * tol) * size) break;
    }
    if (exact) check(f);
    settle(f, exact ? 1e-15 : SETTLED * tol);
    f->J = f->value + penalty(f, f->a);
    f->gap = fmax(f->J - f->proved, 0.0);
}

/* solve_path((x, row, start, center) or None, (look, gather, v, R, features), (t, s, offset), (l1, l2, lower, upper, order,
   starts, norms, unit), (kind, intercept, exact), (margin, tol), (sparse gram, most gram, most cholesky), strengths,
   (a, b) or None, (weights, numbers, records)): (λ_max, passes, rounds).

   weights (L, 1 + d) get intercepts and weights in the user's units, numbers (3, L) J, gaps and steps, records (·, 5)
   what each round of the last λ found: steps, J, gap, λ and passes. */
PyObject *kernel_solve_path(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *ocolumns, *orows[3], *open[8], *ov, *oR, *ofeatures, *ostrengths, *ostart, *oweights, *onumbers, *orecords;
    Path f;
    int exact;
    double tol;
    memset(&f, 0, sizeof f);
    if (!PyArg_ParseTuple(args, "O(OOOOO)(OOO)(OOOOOOOO)(ipp)(dd)(lll)OO(OOO)", &ocolumns, &f.ask_look, &f.ask_gather, &ov, &oR,
                          &ofeatures, &orows[0], &orows[1], &orows[2], &open[0], &open[1], &open[2], &open[3], &open[4],
                          &open[5], &open[6], &open[7], &f.kind, &f.intercept, &exact, &f.margin, &tol,
                          &f.sparse_gram, &f.most_gram, &f.most_cholesky, &ostrengths, &ostart, &oweights, &onumbers, &orecords))
        return NULL;
    Buffers held = {0};
    f.t = float64_in(&held, orows[0], "t", ANY_LENGTH), f.lower = float64_in(&held, open[2], "lower", ANY_LENGTH);
    f.l1 = float64_in(&held, open[0], "l1", ANY_LENGTH);
    const double *strengths = float64_in(&held, ostrengths, "strengths", ANY_LENGTH);
    double *records = float64_out(&held, orecords, "records", ANY_LENGTH);
    if (held.failed) return release(&held);
    long n = f.n = (long)length_of(&held.views[0]), d = f.d = (long)length_of(&held.views[1]);
    long G = f.n_groups = (long)length_of(&held.views[2]), L = (long)length_of(&held.views[3]);
    if (length_of(&held.views[4]) < 5 * (MOST_ROUNDS + 1)) {
        PyErr_SetString(PyExc_ValueError, "records must hold MOST_ROUNDS + 1 rows of 5.");
        return release(&held);
    }
    f.s = float64_in(&held, orows[1], "s", n);
    if (orows[2] != Py_None) f.offset = float64_in(&held, orows[2], "offset", n);
    f.l2 = float64_in(&held, open[1], "l2", G), f.upper = float64_in(&held, open[3], "upper", d);
    f.order = int64_in(&held, open[4], "order", d), f.starts = int64_in(&held, open[5], "starts", G + 1);
    if (open[6] != Py_None) f.norms = float64_in(&held, open[6], "norms", d);
    f.unit = float64_in(&held, open[7], "unit", d);
    double *weights = float64_out(&held, oweights, "weights", L * (1 + d)), *numbers = float64_out(&held, onumbers, "numbers", 3 * L);
    const double *a = NULL, *b = NULL;
    if (ostart != Py_None) {
        PyObject *oa, *ob;
        if (!PyArg_ParseTuple(ostart, "OO", &oa, &ob)) held.failed = 1;
        a = float64_in(&held, oa, "a", d), b = float64_in(&held, ob, "b", 1);
    }
    f.all = f.X = (Columns){NULL, NULL, NULL, n};
    if (ocolumns != Py_None) {
        PyObject *ox, *orow, *ostarts, *ocenter;
        if (!PyArg_ParseTuple(ocolumns, "OOOO", &ox, &orow, &ostarts, &ocenter)) held.failed = 1;
        else if (orow != Py_None) f.all = columns_of(&held, ox, orow, ostarts, n, d);
        else {
            const Py_buffer *view = hold(&held, ox, "x", PyBUF_ANY_CONTIGUOUS);
            if (view && (type_of(view) != FLOAT64 || length_of(view) != n * d)) {
                PyErr_Format(PyExc_ValueError, "x must hold %ld float64 numbers.", n * d);
                held.failed = 1;
            }
            if (view) *(PyBuffer_IsContiguous(view, 'C') ? &f.rows : &f.all.x) = view->buf;
            if (ocenter != Py_None) f.center = float64_in(&held, ocenter, "center", d);
        }
    } else {
        f.asked_v = float64_out(&held, ov, "v", n), f.asked_R = float64_out(&held, oR, "R", d);
        f.asked = int64_out(&held, ofeatures, "features", d);
    }
    for (long u = 0; !held.failed && u < G; u++) held.failed = f.starts[u] > f.starts[u + 1];
    if (held.failed) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "starts must not fall.");
        return release(&held);
    }
    long squares = 0, widest = 1;
    for (long u = 0; u < G; u++) {
        long p = f.starts[u + 1] - f.starts[u];
        squares += p > 1 && p <= MOST_EIGEN ? p * p : 0, widest = p > widest ? p : widest;
    }
    double **by_row[] = {&f.z, &f.v, &f.h, &f.dual, &f.zt, &f.vt, &f.ht, &f.e, &f.sv, &f.scratch, &f.hm, &f.w};
    double **by_column[] = {&f.a, &f.g, &f.to, &f.R, &f.R_dual, &f.low, &f.up, &f.L1, &f.L2, &f.delta, &f.change, &f.B,
                            &f.way, &f.slope, &f.eigen, &f.near_R};
    long **counts[] = {&f.group, &f.first, &f.feature, &f.support, &f.corner_of_Q, &f.factor_of};
    enum { ROWS = sizeof by_row / sizeof *by_row, COLUMNS = sizeof by_column / sizeof *by_column };
    double *row_memory = reserve(&f, (ROWS + PASSES) * n, sizeof(double));
    double *column_memory = reserve(&f, (COLUMNS + PASSES) * (d + 1), sizeof(double));
    long *count_memory = reserve(&f, 6 * (d + 2), sizeof(long));
    f.work = reserve(&f, n + 3 * d + 2 * widest, sizeof(double));
    f.Q = reserve(&f, squares, sizeof(double));
    f.inside = reserve(&f, G, 1);
    f.pairs = reserve(&f, G, sizeof *f.pairs);
    f.start_own = reserve(&f, d + 1, sizeof *f.start_own);
    double *own_norms = !f.norms && (f.all.row || L > 1 || n * d <= SMALL) ? reserve(&f, 2 * d, sizeof(double)) : NULL;
    double largest = 0;
    long rounds = 0;
    if (!f.failed) {
        for (int i = 0; i < ROWS; i++) *by_row[i] = row_memory + i * n;
        for (int i = 0; i < COLUMNS; i++) *by_column[i] = column_memory + i * (d + 1);
        for (int i = 0; i < 6; i++) *counts[i] = count_memory + i * (d + 2);
        for (int i = 0; i < PASSES; i++)
            f.seen_v[i] = row_memory + (ROWS + i) * n, f.seen_R[i] = column_memory + (COLUMNS + i) * (d + 1);
        f.stale = 1, f.several = L > 1;
        f.thread = PyEval_SaveThread();
        for (long i = 0; f.offset && i < n; i++) f.z[i] = f.offset[i];
        if (own_norms) {
            double *squares = own_norms, *means = own_norms + d;
            if (f.all.row)
                for (long j = 0; j < d; j++) column_moments(&f.all, j, f.s, squares + j, means + j);
            else dense_moments(&f, f.s, means, squares);
            for (long j = 0; j < d; j++)
                own_norms[j] = sqrt(f.intercept ? fmax(squares[j] - means[j] * means[j], 0) + 1e-14 * squares[j] : squares[j]);
            f.norms = own_norms;
        }
        f.least = dual_value(&f, f.dual, 0.0);
        largest = begin(&f);
        if (a) {
            long count = 0;
            for (long u = 0; u < G; u++)
                for (long i = f.starts[u]; i < f.starts[u + 1]; i++)
                    if (a[f.order[i]] != 0) {
                        f.pairs[count++] = (Pair){0, u};
                        break;
                    }
            enter(&f, count);
            for (long i = 0; !f.failed && i < n; i++) f.z[i] = *b + (f.offset ? f.offset[i] : 0);
            f.b = *b;
            for (long j = 0; !f.failed && j < f.m; j++) {
                f.a[j] = a[f.feature[j]];
                if (f.a[j] != 0) column_add(&f.X, j, f.a[j], NULL, f.z);
            }
            if (!f.failed) f.value = losses(&f, f.z, f.v, f.h);
            f.stale = 1;
        }
        for (long i = 0; i < L && !f.failed; i++) {
            long before = f.steps;
            rounds = 0;
            solve(&f, strengths[i], i ? strengths[i - 1] : a ? strengths[0] : fmax(strengths[0], 0.0), tol, exact, !i && !a, records, &rounds);
            double *out = weights + i * (1 + d);
            out[0] = f.b;
            for (long j = 0; j < f.m; j++)
                if (f.a[j] != 0) out[1 + f.feature[j]] = f.a[j] / f.unit[f.feature[j]];
            numbers[i] = f.J, numbers[L + i] = f.gap, numbers[2 * L + i] = f.steps - before;
        }
        PyEval_RestoreThread(f.thread);
    }
    void *memory[] = {row_memory, column_memory, count_memory, f.work, f.Q, f.inside, f.pairs, f.start_own, own_norms, f.x_own, f.row_own, f.M, f.factor};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
    release(&held);
    if (f.failed) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    return Py_BuildValue("(ddl)", largest, f.passes, rounds);
}
