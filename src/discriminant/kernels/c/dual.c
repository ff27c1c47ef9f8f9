/* Dual coordinate descent for linear support vector machines, a row at a time: discriminant/kernels/dual.py has the
   formulas, and the same in NumPy. */
#include <math.h>
#include <stdlib.h>

#include "rows.h"

#define AHEAD 2       /* rows: the order is random, and no processor foresees it */
#define SETTLED 1e-14 /* a row whose scores move by less is left alone */

typedef struct {
    Rows rows;
    Py_ssize_t visits, classes;
    const int64_t *order, *codes;
    const double *y, *upper, *diagonal, *curvature;
    double *alpha, *w, bias, shift;
    double *slope, *beta, *knots; /* (classes,) each, of the K-class machine */
} Descent;

/* One pass over rows in the order given.  Rows at a bound that their slope holds there by more than `limit`, the largest
   violation of the pass before, are dropped from the order (shrinking).  Returns the largest violation. */
INLINE double epoch(Descent *s, const int storage, int64_t *order, const double limit)
{
    const Py_ssize_t d = s->rows.d;
    double *w = s->w, worst = 0.0;
    Py_ssize_t kept = 0;
    for (Py_ssize_t visit = 0; visit < s->visits; visit++) {
        const Py_ssize_t i = (Py_ssize_t)order[visit];
        if (visit + AHEAD < s->visits) prefetch(row_at(&s->rows, storage, (Py_ssize_t)order[visit + AHEAD]), storage);
        const Row x = row_at(&s->rows, storage, i);
        const double y = s->y[i], old = s->alpha[i], upper = s->upper[i];
        const double z = s->shift + s->bias * w[d] + dot(x, storage, w);
        const double slope = y * z - 1.0 + s->diagonal[i] * old;
        const double violation = old <= 0.0 ? fmin(slope, 0.0) : old >= upper ? fmax(slope, 0.0) : slope;
        if (violation == 0.0 && fabs(slope) > limit) continue;
        order[kept++] = i;
        if (violation == 0.0 || s->curvature[i] <= 0.0) continue;
        worst = fmax(worst, fabs(violation));
        const double aim = old - slope / s->curvature[i];
        const double new = aim < 0.0 ? 0.0 : aim > upper ? upper : aim;
        const double step = (new - old) * y;
        s->alpha[i] = new;
        add(x, storage, w, step);
        w[d] += step * s->bias;
    }
    s->visits = kept;
    return worst;
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* argmin ‖x − beta‖² with x ≤ top at `own`, x ≤ 0 elsewhere and Σ x = 0, in place: x = min(top, beta − θ).  The sum
   falls in θ, and its knots are beta − top. */
static void project(double *beta, double *knots, Py_ssize_t K, Py_ssize_t own, double top)
{
    for (Py_ssize_t k = 0; k < K; k++) knots[k] = beta[k] - (k == own ? top : 0.0);
    qsort(knots, (size_t)K, sizeof(double), ascending);
    double low = knots[0] - 1.0, high = knots[K - 1] + 1.0;
    for (Py_ssize_t k = 0; k < K; k++) {
        double total = 0.0;
        for (Py_ssize_t j = 0; j < K; j++) total += fmin(j == own ? top : 0.0, beta[j] - knots[k]);
        if (total < 0.0) {
            high = knots[k];
            break;
        }
        low = knots[k];
    }
    double fixed = 0.0, moving = 0.0; /* between low and high the sum is linear */
    Py_ssize_t count = 0;
    for (Py_ssize_t j = 0; j < K; j++) {
        const double limit = j == own ? top : 0.0;
        if (beta[j] - limit <= low) {
            moving += beta[j];
            count++;
        } else {
            fixed += limit;
        }
    }
    const double theta = count ? (moving + fixed) / (double)count : high;
    for (Py_ssize_t j = 0; j < K; j++) beta[j] = fmin(j == own ? top : 0.0, beta[j] - theta);
}

/* The same for Crammer and Singer's machine: alpha (n, K), w (d + 1, K), `upper` the costs; returns the largest change
   in units of scores. */
INLINE double machine_epoch(const Descent *s, const int storage)
{
    const Py_ssize_t d = s->rows.d, K = s->classes;
    double worst = 0.0, *slope = s->slope, *beta = s->beta, *last = s->w + d * K;
    for (Py_ssize_t visit = 0; visit < s->visits; visit++) {
        const Py_ssize_t i = (Py_ssize_t)s->order[visit], own = (Py_ssize_t)s->codes[i];
        const double Q = s->curvature[i], cost = s->upper[i];
        double *alpha = s->alpha + i * K, moved = 0.0;
        if (Q <= 0.0 || cost <= 0.0) continue;
        const Row x = row_at(&s->rows, storage, i);
        for (Py_ssize_t k = 0; k < K; k++) slope[k] = s->bias * last[k] + (k != own);
        for (Py_ssize_t p = 0; p < x.count; p++) {
            const double value = value_at(x, storage, p), *w = s->w + place_at(x, storage, p) * K;
#pragma omp simd
            for (Py_ssize_t k = 0; k < K; k++) slope[k] += w[k] * value;
        }
        for (Py_ssize_t k = 0; k < K; k++) beta[k] = alpha[k] - slope[k] / Q;
        project(beta, s->knots, K, own, cost);
        for (Py_ssize_t k = 0; k < K; k++) {
            beta[k] -= alpha[k];
            moved = fmax(moved, fabs(beta[k]) * Q);
        }
        if (moved <= SETTLED) continue;
        worst = fmax(worst, moved);
        for (Py_ssize_t k = 0; k < K; k++) {
            alpha[k] += beta[k];
            last[k] += beta[k] * s->bias;
        }
        for (Py_ssize_t p = 0; p < x.count; p++) {
            const double value = value_at(x, storage, p);
            double *w = s->w + place_at(x, storage, p) * K;
#pragma omp simd
            for (Py_ssize_t k = 0; k < K; k++) w[k] += beta[k] * value;
        }
    }
    return worst;
}

/* dual_epochs(X, sparse, y, alpha, upper, diagonal, curvature, w, bias, shift, order, times): the rows of `order` that are
   left, and the visits made. */
PyObject *kernel_dual_epochs(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *X, *y, *alpha, *upper, *diagonal, *curvature, *w, *order;
    int sparse;
    Py_ssize_t times, visited = 0;
    Descent s = {0};
    if (!PyArg_ParseTuple(args, "OpOOOOOOddOn", &X, &sparse, &y, &alpha, &upper, &diagonal, &curvature, &w, &s.bias,
                          &s.shift, &order, &times))
        return NULL;
    Buffers held = {0};
    s.rows = rows_in(&held, X, sparse);
    const Py_buffer *weights = hold(&held, w, "w", PyBUF_C_CONTIGUOUS), *places = hold(&held, order, "order",
                                                                                       PyBUF_C_CONTIGUOUS);
    if (held.failed) return release(&held);
    if (sparse) s.rows.d = length_of(weights) - 1;
    s.visits = length_of(places);
    s.w = float64_out(&held, w, "w", s.rows.d + 1);
    int64_t *rest = int64_out(&held, order, "order", s.visits);
    s.y = float64_in(&held, y, "y", s.rows.n);
    s.alpha = float64_out(&held, alpha, "alpha", s.rows.n);
    s.upper = float64_in(&held, upper, "upper", s.rows.n);
    s.diagonal = float64_in(&held, diagonal, "diagonal", s.rows.n);
    s.curvature = float64_in(&held, curvature, "curvature", s.rows.n);
    if (held.failed) return release(&held);
    double worst = INFINITY;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t k = 0; k < times && s.visits; k++) {
        visited += s.visits;
        AT_STORAGE(&s.rows, worst = epoch(&s, STORAGE, rest, worst));
    }
    Py_END_ALLOW_THREADS
    release(&held);
    return Py_BuildValue("nn", s.visits, visited);
}

/* machine_epoch(X, sparse, codes, alpha, cost, curvature, W, bias, order) */
PyObject *kernel_machine_epoch(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *X, *codes, *alpha, *cost, *curvature, *W, *order;
    int sparse;
    Descent s = {0};
    if (!PyArg_ParseTuple(args, "OpOOOOOdO", &X, &sparse, &codes, &alpha, &cost, &curvature, &W, &s.bias, &order))
        return NULL;
    Buffers held = {0};
    s.rows = rows_in(&held, X, sparse);
    const Py_buffer *weights = hold(&held, W, "W", PyBUF_C_CONTIGUOUS), *places = hold(&held, order, "order",
                                                                                       PyBUF_C_CONTIGUOUS);
    if (held.failed) return release(&held);
    if (weights->ndim != 2 || (!sparse && weights->shape[0] != s.rows.d + 1)) {
        PyErr_SetString(PyExc_ValueError, "W must be (columns + 1, classes).");
        return release(&held);
    }
    s.rows.d = weights->shape[0] - 1;
    s.classes = weights->shape[1];
    s.visits = length_of(places);
    s.w = float64_out(&held, W, "W", (s.rows.d + 1) * s.classes);
    s.order = int64_in(&held, order, "order", s.visits);
    s.codes = int64_in(&held, codes, "codes", s.rows.n);
    s.alpha = float64_out(&held, alpha, "alpha", s.rows.n * s.classes);
    s.upper = float64_in(&held, cost, "cost", s.rows.n);
    s.curvature = float64_in(&held, curvature, "curvature", s.rows.n);
    if (held.failed) return release(&held);
    s.slope = PyMem_Calloc((size_t)(3 * s.classes + 1), sizeof(double));
    if (!s.slope) {
        release(&held);
        return PyErr_NoMemory();
    }
    s.beta = s.slope + s.classes;
    s.knots = s.beta + s.classes;
    double worst;
    Py_BEGIN_ALLOW_THREADS
    AT_STORAGE(&s.rows, worst = machine_epoch(&s, STORAGE));
    Py_END_ALLOW_THREADS
    PyMem_Free(s.slope);
    release(&held);
    return PyFloat_FromDouble(worst);
}
