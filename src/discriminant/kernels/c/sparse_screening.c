/* All columns: passes over them, slopes between passes by linearity, and groups that may violate the conditions of a
   minimum; optimize/working_set.py says how. */
#include "sparse.h"

#define MOST_WEIGHT 10.0 /* Σ|c| beyond which rounding in the passes is no longer nothing */

#define STRETCH 256 /* rows that are added up before they are added to the rest: fewer roundings */
#define LINES 64 /* rows that are turned into columns at a time: they stay in the cache */

/* Rows top … end of a column of dense values, in inner units. */
static inline void column_part(const Path *f, long j, long top, long end, double *restrict out)
{
    long stride = f->rows ? f->d : 1;
    const double *restrict x = f->rows ? f->rows + j : f->all.x + j * f->n;
    double center = f->center ? f->center[j] : 0, scale = 1 / f->unit[j]; /* a power of two */
    for (long i = top; i < end; i++) out[i - top] = (x[i * stride] - center) * scale;
}

/* Columns `feature` of dense values, in inner units, one after the other. */
void sparse_gather(const Path *f, const long *feature, long count, double *out)
{
    for (long top = 0; top < f->n; top += LINES)
        for (long k = 0; k < count; k++)
            column_part(f, feature[k], top, top + LINES < f->n ? top + LINES : f->n, out + k * f->n + top);
}

/* Entries of the columns from `old` on out of sparse rows, where `start_own` says. */
void sparse_rows_gather(Path *f, long old)
{
    int64_t *next = f->count + f->d; /* where the next entry of a column goes, −1 for columns that do not enter */
    const Columns *X = &f->by_row;
    for (long j = 0; j < f->d; j++) next[j] = -1;
    for (long k = old; k < f->m; k++) next[f->feature[k]] = f->start_own[k];
    for (long i = 0; i < f->n; i++)
        for (long q = X->start[i]; q < X->start[i + 1]; q++) {
            long j = X->row[q];
            if (next[j] < 0) continue;
            f->row_own[next[j]] = (int32_t)i;
            f->x_own[next[j]++] = X->x[q] / f->unit[j];
        }
}

/* Σ w x of each column of sparse rows. */
static void rows_slopes(const Path *f, const double *restrict w, double *restrict sums)
{
    const Columns *X = &f->by_row;
    memset(sums, 0, f->d * sizeof *sums);
    for (long i = 0; i < f->n; i++)
        for (long q = X->start[i]; q < X->start[i + 1]; q++) sums[X->row[q]] += w[i] * X->x[q];
    for (long j = 0; j < f->d; j++) sums[j] /= f->unit[j];
}

/* Σ w x of each column and, where `squares` are asked for, Σ w x², of dense values in inner units. */
void sparse_dense_moments(const Path *f, const double *restrict w, double *restrict sums, double *restrict squares)
{
    long d = f->d, n = f->n;
    memset(sums, 0, d * sizeof *sums);
    if (squares) memset(squares, 0, d * sizeof *squares);
    if (!f->rows && !squares && !f->center) { /* the unit is a power of two: no column is to be copied for it */
        columns_dot(&f->all, 0, d, w, sums);
        for (long j = 0; j < d; j++) sums[j] /= f->unit[j];
    } else if (!f->rows)
        for (long j = 0; j < d; j++) {
            double *x = f->scratch;
            column_part(f, j, 0, n, x);
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
void sparse_pass(Path *f, const double *v)
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
        if (f->by_row.row) rows_slopes(f, sv, oldest_R);
        else if (f->all.row)
            for (long j = 0; j < f->d; j++) oldest_R[j] = column_dot(&f->all, j, sv);
        else sparse_dense_moments(f, sv, oldest_R, NULL);
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
double sparse_near(Path *f, const double *v)
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
double sparse_violation(const Path *f, long u, double strength, double far)
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
long sparse_violators(Path *f, double strength, double far)
{
    long count = 0;
    for (long u = 0; u < f->n_groups; u++) {
        if (f->inside[u]) continue;
        double over = sparse_violation(f, u, strength, far);
        if (over > 0) f->pairs[count++] = (Pair){over, u};
    }
    return count;
}
