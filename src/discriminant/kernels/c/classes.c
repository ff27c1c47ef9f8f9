/* Classes that compete, as sparse fits ask of them: the loss of all rows and its conjugate, and coordinate descent on a
   model of it.

       ℓ = ln Σ_k e^{z_k} − Σ_k t_k z_k,      v = p − t,      ℓ*(u) = Σ_k p_k ln p_k  with  p = u + t  on the simplex */
#include "coordinate.h"
#include "vecmath.h"

#define ROWS 128 /* that stay in the cache */

static inline double sum_of(long n, const double *s, const double *value)
{
    Columns one = {value, NULL, NULL, n};
    return column_dot(&one, 0, s);
}

/* ℓ of every row, and v (n, K).  Of a decided row ln Σ e^z and p − 1 come from the other classes: no digits cancel. */
static void losses(long n, long K, const double *restrict t, const double *restrict z, double *restrict v,
                   double *restrict value)
{
    long top[ROWS];
    for (long from = 0; from < n; from += ROWS) {
        long rows = n - from < ROWS ? n - from : ROWS;
        double linear[ROWS], *restrict e = v + from * K;
        for (long i = 0; i < rows; i++) {
            const double *restrict zi = z + (from + i) * K, *restrict ti = t + (from + i) * K;
            long most = 0;
            for (long k = 1; k < K; k++) most = zi[k] > zi[most] ? k : most;
            top[i] = most, linear[i] = 0;
            for (long k = 0; k < K; k++) e[i * K + k] = zi[k] - zi[most];
            for (long k = 0; k < K; k++) linear[i] += ti[k] * e[i * K + k];
        }
        for (long i = 0; i < rows * K; i++) e[i] = exp_negative(e[i]);
        for (long i = 0; i < rows; i++) {
            const double *restrict ti = t + (from + i) * K;
            double others = 0;
            for (long k = 0; k < K; k++) others += k == top[i] ? 0 : e[i * K + k];
            for (long k = 0; k < K; k++) {
                double own = e[i * K + k], rest = k == top[i] ? others : 1 + others - own;
                e[i * K + k] = (ti[k] == 1 ? -rest : own - ti[k] * (1 + others)) / (1 + others);
            }
            value[from + i] = others;
        }
        for (long i = 0; i < rows; i++) value[from + i] = log1p_positive(value[from + i]) - linear[i];
    }
}

/* −Σ s ℓ*(u), −∞ where a row that counts leaves the simplex; each (ROWS, K) is written to. */
static double dual(long n, long K, const double *restrict t, const double *restrict u, const double *restrict s,
                   double *restrict each)
{
    double total = 0;
    for (long from = 0; from < n; from += ROWS) {
        long rows = n - from < ROWS ? n - from : ROWS;
        const double *restrict ui = u + from * K, *restrict ti = t + from * K;
        for (long i = 0; i < rows * K; i++) {
            double p = ui[i] + ti[i], held = p > 1e-300 ? p : 1e-300, rest = p < 1 ? 1 - p : 0;
            each[i] = p * log1p_positive(rest / held);
        }
        for (long i = 0; i < rows; i++, ui += K, ti += K) {
            double sum = 0, entropy = 0, least = 0;
            for (long k = 0; k < K; k++) {
                double p = ui[k] + ti[k];
                sum += p, least = p < least ? p : least, entropy += each[i * K + k];
            }
            if (!(s[from + i] > 0)) continue; /* rows that are held out may be anywhere */
            if (least < 0 || !(fabs(sum - 1) <= 8 * K * 2.3e-16)) return -INFINITY;
            total += s[from + i] * entropy;
        }
    }
    return total;
}

/* K outputs that compete:  H = C ⊗ M − V Wᵗ + l₂,  M = Xᵗ diag(s) X about the means, at hand or not, C (K, K) the classes'
   curvature, V and W (m K, r).  Without M, XD (n, K) is kept up to date, D = A − A₀.  The weights of a column move one
   after the other; `joint`: those of a group of columns have one penalty l₁‖a_g‖ and move together. */
typedef struct {
    Columns X;
    long m, K, r, groups;
    int joint;
    const double *M, *s, *mean, *square, *C, *V, *W, *h, *top, *G, *l1, *l2, *lower, *upper;
    const int64_t *start; /* square (m): the diagonal of M; h (m, K): that of H; top: the largest eigenvalues of groups */
    double *A, *D, *t, *shift, *XD, *g, *step, *part; /* D (K, m), t = Wᵗ D, shift: the means' D */
} Classes;

/* The slopes of column j's weights. */
static void slopes_at(const Classes *c, long j, double *restrict g)
{
    long m = c->m, K = c->K;
    double *restrict part = c->part;
    if (c->M) {
        Columns D = {c->D, NULL, NULL, m};
        columns_dot(&D, 0, K, c->M + j * m, part);
    } else {
        long first = c->X.row ? c->X.start[j] : j * c->X.n, count = c->X.row ? c->X.start[j + 1] - first : c->X.n;
        memset(part, 0, K * sizeof *part);
        for (long i = 0; i < count; i++) {
            long row = c->X.row ? c->X.row[first + i] : i;
            add(K, c->s[row] * c->X.x[first + i], c->XD + row * K, part);
        }
        add(K, -c->mean[j], c->shift, part);
    }
    for (long k = 0; k < K; k++) {
        g[k] = c->G[j * K + k] + c->l2[j] * c->D[k * m + j];
        for (long l = 0; l < K; l++) g[k] += part[l] * c->C[l * K + k];
    }
}

static inline double known(const Classes *c, long jk)
{
    double sum = 0;
    for (long i = 0; i < c->r; i++) sum += c->V[jk * c->r + i] * c->t[i];
    return sum;
}

static inline void move(const Classes *c, long j, long k, double step)
{
    c->A[j * c->K + k] += step, c->D[k * c->m + j] += step;
    add(c->r, step, c->W + (j * c->K + k) * c->r, c->t);
}

static void move_rows(const Classes *c, long j, const double *step)
{
    if (c->M) return;
    long first = c->X.row ? c->X.start[j] : j * c->X.n, count = c->X.row ? c->X.start[j + 1] - first : c->X.n;
    for (long i = 0; i < count; i++) add(c->K, c->X.x[first + i], step, c->XD + (c->X.row ? c->X.row[first + i] : i) * c->K);
    add(c->K, c->mean[j], step, c->shift);
}

static double visit_column(const Classes *c, long j)
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

static double visit_group(const Classes *c, long q)
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

static int descend_classes(const Classes *c, Plan plan)
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

/* descend_classes((x, row, start) or None, M or None, (s, mean, square), (C, V, W, h, top), A, G, (l1, l2, lower, upper,
   start), joint, work, still, rounds, sweeps): whether `still` was reached; l1 and start by group, h (m, K) with l₂. */
PyObject *kernel_descend_classes(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *ocolumns, *oM, *os, *omean, *osquare, *oC, *oV, *oW, *oh, *otop, *oA, *oG, *o1, *o2, *olow, *oup, *ostart, *owork;
    Classes c = {0};
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
    done = descend_classes(&c, plan);
    Py_END_ALLOW_THREADS
    release(&held);
    return PyBool_FromLong(done);
}

/* softmax_losses(t, z, s, v, value): Σ s ℓ; v (n, K) and value (n) are written to. */
PyObject *kernel_softmax_losses(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *ot, *oz, *os, *ov, *ovalue;
    if (!PyArg_ParseTuple(args, "OOOOO", &ot, &oz, &os, &ov, &ovalue)) return NULL;
    Buffers held = {0};
    const double *s = float64_in(&held, os, "s", ANY_LENGTH), *t = float64_in(&held, ot, "t", ANY_LENGTH);
    long n = held.failed ? 0 : (long)length_of(&held.views[0]), K = n ? (long)length_of(&held.views[1]) / n : 0;
    const double *z = float64_in(&held, oz, "z", n * K);
    double *v = float64_out(&held, ov, "v", n * K), *value = float64_out(&held, ovalue, "value", n), sum;
    if (held.failed) return release(&held);
    Py_BEGIN_ALLOW_THREADS
    losses(n, K, t, z, v, value);
    sum = sum_of(n, s, value);
    Py_END_ALLOW_THREADS
    release(&held);
    return PyFloat_FromDouble(sum);
}

/* softmax_dual(t, u, s, work): −Σ s ℓ*(u), −∞ where a row leaves the simplex; work holds 128 K numbers. */
PyObject *kernel_softmax_dual(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *ot, *ou, *os, *owork;
    if (!PyArg_ParseTuple(args, "OOOO", &ot, &ou, &os, &owork)) return NULL;
    Buffers held = {0};
    const double *s = float64_in(&held, os, "s", ANY_LENGTH), *t = float64_in(&held, ot, "t", ANY_LENGTH);
    long n = held.failed ? 0 : (long)length_of(&held.views[0]), K = n ? (long)length_of(&held.views[1]) / n : 0;
    const double *u = float64_in(&held, ou, "u", n * K);
    double *work = float64_out(&held, owork, "work", ROWS * K), sum;
    if (held.failed) return release(&held);
    Py_BEGIN_ALLOW_THREADS
    sum = dual(n, K, t, u, s, work);
    Py_END_ALLOW_THREADS
    release(&held);
    return PyFloat_FromDouble(sum);
}
