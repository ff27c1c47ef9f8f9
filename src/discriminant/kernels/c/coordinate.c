/* Coordinate descent on the quadratic model of a proximal Newton step, over the columns of a working set, and what it and
   others ask of columns.  Sums over rows are taken in PARTS parts, the same for every instruction set. */
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

/* The model of K outputs:  minimise  G·D + ½ D·HD + Σ l₁|a|,  D = A − A₀,  lower ≤ a ≤ upper,

       H = C ⊗ M − V Wᵗ + diag(l₂),        M = Xᵗ diag(s) X − mean meanᵗ  at hand or not,

   C (K, K) the outputs' curvature, V and W (m K, r).  Without M, XD = diag(s) X D (n, K) is kept up to date: a visit costs
   one walk down and one up a column.  The weights of a column move one after the other; `joint`: those of a group of
   columns have one penalty l₁‖a_g‖ and move together.  A descent is rounds of one sweep over all groups and some over
   those that are not zero; it ends, and says so, when a sweep over all moves no slope by more than `still`. */
typedef struct {
    Columns X;
    long m, K, r, groups;
    int joint;
    const double *M, *s, *mean, *square, *C, *V, *W, *h, *top, *G, *l1, *l2, *lower, *upper;
    const int64_t *start; /* square (m): the diagonal of M; h (m, K): that of H; top: the largest eigenvalues of groups */
    double *A, *D, *t, *shift, *XD, *g, *step, *part; /* D (K, m), t = Wᵗ D, shift: the means' D */
} Model;

/* The slopes of column j's weights. */
static void slopes_at(const Model *c, long j, double *restrict g)
{
    long m = c->m, K = c->K;
    double *restrict part = c->part;
    if (c->M) {
        Columns D = {c->D, NULL, NULL, m};
        columns_dot(&D, 0, K, c->M + j * m, part);
    } else {
        if (K == 1) *part = column_dot(&c->X, j, c->XD);
        else {
            memset(part, 0, K * sizeof *part);
            long first = c->X.row ? c->X.start[j] : j * c->X.n, count = c->X.row ? c->X.start[j + 1] - first : c->X.n;
            for (long i = 0; i < count; i++) add(K, c->X.x[first + i], c->XD + (c->X.row ? c->X.row[first + i] : i) * K, part);
        }
        add(K, -c->mean[j], c->shift, part);
    }
    for (long k = 0; k < K; k++) {
        g[k] = c->G[j * K + k] + c->l2[j] * c->D[k * m + j];
        for (long l = 0; l < K; l++) g[k] += part[l] * c->C[l * K + k];
    }
}

static inline double known(const Model *c, long jk)
{
    double sum = 0;
    for (long i = 0; i < c->r; i++) sum += c->V[jk * c->r + i] * c->t[i];
    return sum;
}

static inline void move(const Model *c, long j, long k, double step)
{
    c->A[j * c->K + k] += step, c->D[k * c->m + j] += step;
    add(c->r, step, c->W + (j * c->K + k) * c->r, c->t);
}

static void move_rows(const Model *c, long j, const double *step)
{
    if (c->M) return;
    if (c->K == 1) column_add(&c->X, j, *step, c->s, c->XD);
    else {
        long first = c->X.row ? c->X.start[j] : j * c->X.n, count = c->X.row ? c->X.start[j + 1] - first : c->X.n;
        for (long i = 0; i < count; i++) {
            long row = c->X.row ? c->X.row[first + i] : i;
            add(c->K, c->s[row] * c->X.x[first + i], step, c->XD + row * c->K);
        }
    }
    add(c->K, c->mean[j], step, c->shift);
}

static double visit_column(const Model *c, long j)
{
    long K = c->K;
    double *g = c->g, moved = 0;
    slopes_at(c, j, g);
    for (long k = 0; k < K; k++) {
        double a = c->A[j * K + k], h = c->h[j * K + k];
        double to = clamp(shrink(a - (g[k] - known(c, j * K + k)) / h, c->l1[j] / h), c->lower[j], c->upper[j]);
        double step = c->step[k] = h > 0 ? to - a : 0;
        if (step == 0) continue;
        move(c, j, k, step);
        for (long l = k + 1; l < K; l++) g[l] += step * c->C[k * K + l] * c->square[j];
        moved = fmax(moved, h * fabs(step));
    }
    if (moved > 0) move_rows(c, j, c->step);
    return moved;
}

static double visit_group(const Model *c, long q)
{
    long K = c->K, first = c->start[q], size = (c->start[q + 1] - first) * K;
    double *g = c->g, *a = c->A + first * K, top = c->top[q], length = 0, moved = 0;
    if (top <= 0) return 0;
    for (long j = first; j < c->start[q + 1]; j++) slopes_at(c, j, g + (j - first) * K);
    for (long i = 0; i < size; i++) {
        g[i] = a[i] - (g[i] - known(c, first * K + i)) / top;
        length += g[i] * g[i];
    }
    double level = c->l1[q] / top, share = sqrt(length) > level ? 1 - level / sqrt(length) : 0;
    for (long j = first; j < c->start[q + 1]; j++) {
        for (long k = 0; k < K; k++) {
            long i = (j - first) * K + k;
            double step = c->step[k] = share * g[i] - a[i];
            if (step != 0) move(c, j, k, step);
            moved = fmax(moved, top * fabs(step));
        }
        if (moved > 0) move_rows(c, j, c->step);
    }
    return moved;
}

static int descend(const Model *c, Plan plan)
{
    for (long round = 0; round < plan.rounds; round++)
        for (long sweep = 0; sweep <= plan.sweeps; sweep++) {
            double moved = 0;
            for (long q = 0; q < c->groups; q++) {
                int zero = sweep > 0;
                for (long i = c->start[q] * c->K; zero && i < c->start[q + 1] * c->K; i++) zero = c->A[i] == 0;
                if (!zero) moved = fmax(moved, c->joint ? visit_group(c, q) : visit_column(c, q));
            }
            if (!sweep && moved <= plan.still) return 1;
            if (moved <= INNER * plan.still) break;
        }
    return 0;
}

/* descend((x, row, start) or None, M or None, (s, mean, square), (C, V, W, h, top), A, G, (l1, l2, lower, upper,
   start), joint, work, still, rounds, sweeps): whether `still` was reached; l1 and start by group, h (m, K) with l₂. */
PyObject *kernel_descend(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *ocolumns, *oM, *os, *omean, *osquare, *oC, *oV, *oW, *oh, *otop, *oA, *oG, *o1, *o2, *olow, *oup, *ostart, *owork;
    Model c = {0};
    Plan plan;
    if (!PyArg_ParseTuple(args, "OO(OOO)(OOOOO)OO(OOOOO)pOdll", &ocolumns, &oM, &os, &omean, &osquare, &oC, &oV, &oW, &oh,
                          &otop, &oA, &oG, &o1, &o2, &olow, &oup, &ostart, &c.joint, &owork, &plan.still, &plan.rounds,
                          &plan.sweeps))
        return NULL;
    Buffers held = {0};
    c.s = float64_in(&held, os, "s", ANY_LENGTH), c.mean = float64_in(&held, omean, "mean", ANY_LENGTH);
    c.l1 = float64_in(&held, o1, "l1", ANY_LENGTH), c.A = float64_out(&held, oA, "A", ANY_LENGTH);
    c.V = float64_in(&held, oV, "V", ANY_LENGTH);
    long n = 0, m = 0, K = 0, groups = 0;
    if (!held.failed) {
        n = (long)length_of(&held.views[0]), m = c.m = (long)length_of(&held.views[1]);
        groups = c.groups = (long)length_of(&held.views[2]), K = c.K = m ? (long)length_of(&held.views[3]) / m : 0;
        c.r = m && K ? (long)length_of(&held.views[4]) / (m * K) : 0;
    }
    if (oM != Py_None) c.M = float64_in(&held, oM, "M", m * m);
    else {
        PyObject *ox, *orow, *oplace;
        if (!PyArg_ParseTuple(ocolumns, "OOO", &ox, &orow, &oplace)) held.failed = 1;
        else c.X = columns_of(&held, ox, orow, oplace, n, m);
    }
    c.square = float64_in(&held, osquare, "square", m), c.C = float64_in(&held, oC, "C", K * K);
    c.W = float64_in(&held, oW, "W", m * K * c.r), c.h = float64_in(&held, oh, "h", m * K);
    c.G = float64_in(&held, oG, "G", m * K), c.top = float64_in(&held, otop, "top", c.joint ? groups : ANY_LENGTH);
    c.l2 = float64_in(&held, o2, "l2", m), c.lower = float64_in(&held, olow, "lower", m);
    c.upper = float64_in(&held, oup, "upper", m), c.start = int64_in(&held, ostart, "start", groups + 1);
    double *work = float64_out(&held, owork, "work", (2 * m + 3 + (c.M ? 0 : n)) * K + c.r);
    if (held.failed) return release(&held);
    c.D = work, c.t = c.D + m * K, c.shift = c.t + c.r, c.step = c.shift + K, c.part = c.step + K, c.g = c.part + K;
    c.XD = c.g + m * K;
    int done;
    Py_BEGIN_ALLOW_THREADS
    done = descend(&c, plan);
    Py_END_ALLOW_THREADS
    release(&held);
    return PyBool_FromLong(done);
}
