/* Coordinate descent on the quadratic model of a proximal Newton step, over the columns of a working set.

       minimise  g·(a − a₀) + ½ (a − a₀)ᵗ H (a − a₀) + Σ l₁|a|,        lower ≤ a ≤ upper

   Gram form: H is at hand, and the gradient is kept up to date.  Residual form: H = Xᵗ diag(w) X + diag(l₂) is not
   formed; r = w ∘ X(a − a₀) is kept up to date, and a visit costs one walk down and one up a column.  Each descent is
   rounds of one sweep over all coordinates and some over those that are not zero; it ends, and says so, when a sweep
   over all moves no slope by more than `still`.  Sums are taken in PARTS parts, the same for every instruction set. */
#include <math.h>
#include <stdlib.h>

#include "buffers.h"
#include "coordinate.h"
#include "vecmath.h"

#define PARTS 16
#define AT_ONCE 4 /* columns */

static inline double total(double *part)
{
    for (int half = PARTS / 2; half; half /= 2)
        for (int l = 0; l < half; l++) part[l] += part[l + half];
    return part[0];
}

double column_dot(const Columns *X, long j, const double *restrict r)
{
    double part[PARTS] = {0};
    long first = X->row ? X->start[j] : j * X->n, count = X->row ? X->start[j + 1] - first : X->n, i = 0;
    const double *restrict x = X->x + first;
    const int32_t *row = X->row ? X->row + first : NULL;
    if (row)
        for (; i + PARTS <= count; i += PARTS)
            for (int l = 0; l < PARTS; l++) part[l] += x[i + l] * r[row[i + l]];
    else
        for (; i + PARTS <= count; i += PARTS)
            for (int l = 0; l < PARTS; l++) part[l] += x[i + l] * r[i + l];
    for (int l = 0; i < count; i++, l++) part[l] += x[i] * r[row ? row[i] : i];
    return total(part);
}

void column_add(const Columns *X, long j, double step, const double *restrict w, double *restrict r)
{
    long first = X->row ? X->start[j] : j * X->n, count = X->row ? X->start[j + 1] - first : X->n;
    const double *restrict x = X->x + first;
    const int32_t *row = X->row ? X->row + first : NULL;
    if (row)
        for (long i = 0; i < count; i++) r[row[i]] += step * (w ? w[row[i]] : 1.0) * x[i];
    else if (w)
        for (long i = 0; i < count; i++) r[i] += step * w[i] * x[i];
    else
        add(count, step, x, r);
}

/* (Σ w x², Σ w x) of a column. */
void column_moments(const Columns *X, long j, const double *restrict w, double *square, double *first_moment)
{
    double two[PARTS] = {0}, one[PARTS] = {0};
    long first = X->row ? X->start[j] : j * X->n, count = X->row ? X->start[j + 1] - first : X->n, i = 0;
    const double *restrict x = X->x + first;
    const int32_t *row = X->row ? X->row + first : NULL;
    for (; i + PARTS <= count; i += PARTS)
        for (int l = 0; l < PARTS; l++) {
            double wx = (row ? w[row[i + l]] : w[i + l]) * x[i + l];
            one[l] += wx;
            two[l] += wx * x[i + l];
        }
    for (int l = 0; i < count; i++, l++) {
        double wx = w[row ? row[i] : i] * x[i];
        one[l] += wx;
        two[l] += wx * x[i];
    }
    *square = total(two);
    *first_moment = total(one);
}

void columns_dot(const Columns *X, long j, long count, const double *restrict r, double *restrict out)
{
    long n = X->n, c = 0;
    for (; !X->row && c + AT_ONCE <= count; c += AT_ONCE) {
        const double *restrict x = X->x + (j + c) * n;
        vec sum[AT_ONCE] = {{0}};
        long i = 0;
        for (; i + LANES <= n; i += LANES)
            for (int q = 0; q < AT_ONCE; q++) sum[q] += *(const loose *)(x + q * n + i) * *(const loose *)(r + i);
        for (int q = 0; q < AT_ONCE; q++) {
            out[c + q] = lanes_sum(sum[q]);
            for (long rest = i; rest < n; rest++) out[c + q] += x[q * n + rest] * r[rest];
        }
    }
    for (; c < count; c++) out[c] = column_dot(X, j + c, r);
}

void columns_add(const Columns *X, long j, long count, const double *restrict steps, const double *restrict w,
                 double *restrict r)
{
    long n = X->n, c = 0;
    for (; !X->row && c + AT_ONCE <= count; c += AT_ONCE) {
        const double *restrict x = X->x + (j + c) * n, *restrict step = steps + c;
        if (step[0] == 0 && step[1] == 0 && step[2] == 0 && step[3] == 0) continue;
        if (w)
            for (long i = 0; i < n; i++)
                r[i] += w[i] * ((step[0] * x[i] + step[1] * x[n + i]) + (step[2] * x[2 * n + i] + step[3] * x[3 * n + i]));
        else
            for (long i = 0; i < n; i++)
                r[i] += (step[0] * x[i] + step[1] * x[n + i]) + (step[2] * x[2 * n + i] + step[3] * x[3 * n + i]);
    }
    for (; c < count; c++)
        if (steps[c] != 0) column_add(X, j + c, steps[c], w, r);
}

int descend_gram(long p, const double *H, double *a, double *g, const double *l1, const double *lower,
                        const double *upper, Plan plan)
{
    for (long round = 0; round < plan.rounds; round++)
        for (long sweep = 0; sweep <= plan.sweeps; sweep++) {
            double moved = 0;
            for (long j = 0; j < p; j++) {
                double h = H[j * p + j];
                if (h <= 0 || (sweep && a[j] == 0)) continue;
                double step = clamp(shrink(a[j] - g[j] / h, l1[j] / h), lower[j], upper[j]) - a[j];
                if (step == 0) continue;
                a[j] += step;
                moved = fmax(moved, h * fabs(step));
                add(p, step, H + j * p, g);
            }
            if (!sweep && moved <= plan.still) return 1;
            if (moved <= INNER * plan.still) break;
        }
    return 0;
}

/* The same where the coordinates of a group, a[start[i]] … a[start[i + 1] − 1], have one penalty l₁‖a_i‖; top[i] is at
   least the largest eigenvalue of the group's block of H. */
static int descend_groups(long p, long groups, const int64_t *start, const double *H, double *a, double *g,
                          const double *l1, const double *top, double *work, Plan plan)
{
    for (long round = 0; round < plan.rounds; round++)
        for (long sweep = 0; sweep <= plan.sweeps; sweep++) {
            double moved = 0;
            for (long i = 0; i < groups; i++) {
                double h = top[i], length = 0, size = 0;
                if (h <= 0) continue;
                for (long j = start[i]; j < start[i + 1]; j++) {
                    work[j] = a[j] - g[j] / h;
                    length += work[j] * work[j];
                    size += a[j] * a[j];
                }
                length = sqrt(length);
                double share = length > l1[i] / h ? 1 - l1[i] / h / length : 0.0;
                if (size == 0 && (sweep || share == 0)) continue;
                for (long j = start[i]; j < start[i + 1]; j++) {
                    double step = share * work[j] - a[j];
                    if (step == 0) continue;
                    a[j] += step;
                    moved = fmax(moved, h * fabs(step));
                    add(p, step, H + j * p, g);
                }
            }
            if (!sweep && moved <= plan.still) return 1;
            if (moved <= INNER * plan.still) break;
        }
    return 0;
}

/* One output in residual form.  A free intercept is eliminated: it stays at `shift`, where Σ w (X(a − a₀) + shift) = 0.
   work: r (n), then h, Σ w x and a₀ (m each). */
int descend_columns(const Columns *X, long m, const double *w, int intercept, double *a, const double *g,
                           const double *l1, const double *l2, const double *lower, const double *upper, double *work,
                           Plan plan)
{
    double *r = work, *h = work + X->n, *wx = h + m, *start = wx + m, mass = 0, shift = 0;
    memset(r, 0, X->n * sizeof *r);
    for (long i = 0; i < X->n; i++) mass += w[i];
    if (!intercept || mass <= 0) mass = INFINITY;
    for (long j = 0; j < m; j++) {
        column_moments(X, j, w, &h[j], &wx[j]);
        double left = h[j] - wx[j] * wx[j] / mass;
        h[j] = fmax(left, 1e-14 * h[j]) + l2[j];
        start[j] = a[j];
    }
    for (long round = 0; round < plan.rounds; round++)
        for (long sweep = 0; sweep <= plan.sweeps; sweep++) {
            double moved = 0;
            for (long j = 0; j < m; j++) {
                if (h[j] <= 0 || (sweep && a[j] == 0)) continue;
                double slope = g[j] + column_dot(X, j, r) + shift * wx[j] + l2[j] * (a[j] - start[j]);
                double step = clamp(shrink(a[j] - slope / h[j], l1[j] / h[j]), lower[j], upper[j]) - a[j];
                if (step == 0) continue;
                a[j] += step;
                moved = fmax(moved, h[j] * fabs(step));
                column_add(X, j, step, w, r);
                shift -= step * wx[j] / mass;
            }
            if (!sweep && moved <= plan.still) return 1;
            if (moved <= INNER * plan.still) break;
        }
    return 0;
}

/* What Python calls: each hands back whether `still` was reached. */

PyObject *kernel_descend_gram(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *oH, *oa, *og, *o1, *olow, *oup;
    Plan plan;
    if (!PyArg_ParseTuple(args, "OOOOOOdll", &oH, &oa, &og, &o1, &olow, &oup, &plan.still, &plan.rounds, &plan.sweeps))
        return NULL;
    Buffers held = {0};
    double *a = float64_out(&held, oa, "a", ANY_LENGTH);
    long p = held.failed ? 0 : (long)length_of(&held.views[0]);
    double *g = float64_out(&held, og, "g", p);
    const double *H = float64_in(&held, oH, "H", p * p), *l1 = float64_in(&held, o1, "l1", p);
    const double *lower = float64_in(&held, olow, "lower", p), *upper = float64_in(&held, oup, "upper", p);
    if (held.failed) return release(&held);
    int done;
    Py_BEGIN_ALLOW_THREADS
    done = descend_gram(p, H, a, g, l1, lower, upper, plan);
    Py_END_ALLOW_THREADS
    release(&held);
    return PyBool_FromLong(done);
}

PyObject *kernel_descend_groups(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *oH, *oa, *og, *ostart, *o1, *otop, *owork;
    Plan plan;
    if (!PyArg_ParseTuple(args, "OOOOOOOdll", &oH, &oa, &og, &ostart, &o1, &otop, &owork, &plan.still, &plan.rounds,
                          &plan.sweeps))
        return NULL;
    Buffers held = {0};
    double *a = float64_out(&held, oa, "a", ANY_LENGTH);
    long p = held.failed ? 0 : (long)length_of(&held.views[0]);
    const double *l1 = float64_in(&held, o1, "l1", ANY_LENGTH);
    long groups = held.failed ? 0 : (long)length_of(&held.views[1]);
    double *g = float64_out(&held, og, "g", p), *work = float64_out(&held, owork, "work", p);
    const double *H = float64_in(&held, oH, "H", p * p), *top = float64_in(&held, otop, "top", groups);
    const int64_t *start = int64_in(&held, ostart, "start", groups + 1);
    if (held.failed) return release(&held);
    int done;
    Py_BEGIN_ALLOW_THREADS
    done = descend_groups(p, groups, start, H, a, g, l1, top, work, plan);
    Py_END_ALLOW_THREADS
    release(&held);
    return PyBool_FromLong(done);
}

Columns columns_of(Buffers *held, PyObject *x, PyObject *row, PyObject *start, long n, long m)
{
    int dense = row == Py_None;
    Columns X = {float64_in(held, x, "x", dense ? n * m : ANY_LENGTH), NULL, NULL, n};
    if (!dense) {
        X.row = int32_in(held, row, "row", ANY_LENGTH);
        X.start = int64_in(held, start, "start", m + 1);
    }
    return X;
}

PyObject *kernel_descend_columns(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *ox, *orow, *ostart, *ow, *oa, *og, *o1, *o2, *olow, *oup, *owork;
    int intercept;
    Plan plan;
    if (!PyArg_ParseTuple(args, "OOOOpOOOOOOOdll", &ox, &orow, &ostart, &ow, &intercept, &oa, &og, &o1, &o2, &olow,
                          &oup, &owork, &plan.still, &plan.rounds, &plan.sweeps))
        return NULL;
    Buffers held = {0};
    const double *w = float64_in(&held, ow, "w", ANY_LENGTH);
    double *a = float64_out(&held, oa, "a", ANY_LENGTH);
    long n = held.failed ? 0 : (long)length_of(&held.views[0]), m = held.failed ? 0 : (long)length_of(&held.views[1]);
    Columns X = columns_of(&held, ox, orow, ostart, n, m);
    const double *g = float64_in(&held, og, "g", m), *l1 = float64_in(&held, o1, "l1", m);
    const double *l2 = float64_in(&held, o2, "l2", m), *lower = float64_in(&held, olow, "lower", m);
    const double *upper = float64_in(&held, oup, "upper", m);
    double *work = float64_out(&held, owork, "work", n + 3 * m);
    if (held.failed) return release(&held);
    int done;
    Py_BEGIN_ALLOW_THREADS
    done = descend_columns(&X, m, w, intercept, a, g, l1, l2, lower, upper, work, plan);
    Py_END_ALLOW_THREADS
    release(&held);
    return PyBool_FromLong(done);
}
