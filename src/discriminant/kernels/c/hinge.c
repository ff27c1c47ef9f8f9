/* A step of Mehrotra's interior point method for a small support vector machine: discriminant/optimize/interior_point.py
   has the equations, and the same in NumPy, where each of some hundred calls costs more than its arithmetic.

       minimise  R/2 w.w + sum c max(0, 1 - y z),     z = X w + b w_d;     R is 1, of the intercept's weight `last` */
#include <math.h>

#include "buffers.h"
#include "factor.h"

#define SHORT_OF 0.99 /* of the longest step that keeps all positive */

typedef struct {
    Py_ssize_t n, d, D;
    const double *X, *y, *c;
    double bias, last;
    double *w, *alpha, *slack, *short_by, *m, *v; /* the point; m = y z, v = the sum of alpha y x */
    double *room, *theta, *load, *da, *ds, *dshort, *gdx; /* (n,) each */
    double *dx, *scale, *H, *L; /* (D,), (D,), (D, D), (D, D) */
} Step;

static void margins(const Step *s, const double *w, double *out)
{
    for (Py_ssize_t i = 0; i < s->n; i++) {
        const double *x = s->X + i * s->d;
        double z = s->bias * w[s->d];
#pragma omp simd reduction(+:z)
        for (Py_ssize_t j = 0; j < s->d; j++) z += x[j] * w[j];
        out[i] = s->y[i] * z;
    }
}

/* out = the sum of f_i y_i x_i */
static void adjoint(const Step *s, const double *f, double *restrict out)
{
    memset(out, 0, s->D * sizeof(double));
    for (Py_ssize_t i = 0; i < s->n; i++) {
        const double *x = s->X + i * s->d, share = f[i] * s->y[i];
#pragma omp simd
        for (Py_ssize_t j = 0; j < s->d; j++) out[j] += share * x[j];
        out[s->d] += share * s->bias;
    }
}

/* The lower triangle of diag(R) + sum x x' / theta, four rows at a time */
static void matrix(const Step *s)
{
    Py_ssize_t d = s->d, D = s->D, n = s->n;
    memset(s->H, 0, D * D * sizeof(double));
    for (Py_ssize_t i = 0; i < n; i += 4) {
        const double *x[4];
        double f[4];
        for (int k = 0; k < 4; k++) {
            x[k] = s->X + (i + k < n ? i + k : n - 1) * d;
            f[k] = i + k < n ? 1.0 / s->theta[i + k] : 0.0;
        }
        for (Py_ssize_t a = 0; a < D; a++) {
            double *restrict row = s->H + a * D, g[4];
            for (int k = 0; k < 4; k++) g[k] = f[k] * (a < d ? x[k][a] : s->bias);
#pragma omp simd
            for (Py_ssize_t b = 0; b < (a < d ? a + 1 : d); b++)
                row[b] += g[0] * x[0][b] + g[1] * x[1][b] + g[2] * x[2][b] + g[3] * x[3][b];
            if (a == d) row[d] += s->bias * (g[0] + g[1] + g[2] + g[3]);
        }
    }
    for (Py_ssize_t j = 0; j < D; j++) s->H[j * D + j] += j < d ? 1.0 : s->last;
}

/* The direction, with what s alpha and short room shall change by in ds and dshort, which it overwrites */
static void direction(const Step *s)
{
    for (Py_ssize_t i = 0; i < s->n; i++) {
        double left = s->m[i] + s->short_by[i] - s->slack[i] - 1.0;
        s->load[i] = s->ds[i] / s->alpha[i] - s->dshort[i] / s->room[i] - left;
        s->da[i] = s->load[i] / s->theta[i];
    }
    adjoint(s, s->da, s->dx);
    for (Py_ssize_t j = 0; j < s->D; j++) s->dx[j] += s->v[j] - (j < s->d ? 1.0 : s->last) * s->w[j];
    cholesky_solution(s->L, s->scale, s->dx, s->D, 1);
    margins(s, s->dx, s->gdx);
    for (Py_ssize_t i = 0; i < s->n; i++) {
        s->da[i] = (s->load[i] - s->gdx[i]) / s->theta[i];
        s->ds[i] = (s->ds[i] - s->slack[i] * s->da[i]) / s->alpha[i];
        s->dshort[i] = (s->dshort[i] + s->short_by[i] * s->da[i]) / s->room[i];
    }
}

/* The longest t <= 1 / SHORT_OF that leaves slacks, multipliers, shortfalls and room positive */
static double longest(const Step *s)
{
    double t = 1.0 / SHORT_OF;
    for (Py_ssize_t i = 0; i < s->n; i++) {
        if (-s->ds[i] * t > s->slack[i]) t = -s->slack[i] / s->ds[i];
        if (-s->da[i] * t > s->alpha[i]) t = -s->alpha[i] / s->da[i];
        if (-s->dshort[i] * t > s->short_by[i]) t = -s->short_by[i] / s->dshort[i];
        if (s->da[i] * t > s->room[i]) t = s->room[i] / s->da[i];
    }
    return t;
}

/* s alpha + short room, a step of t further */
static double complementarity(const Step *s, double t)
{
    double sum = 0.0;
    for (Py_ssize_t i = 0; i < s->n; i++)
        sum += (s->slack[i] + t * s->ds[i]) * (s->alpha[i] + t * s->da[i])
             + (s->short_by[i] + t * s->dshort[i]) * (s->room[i] - t * s->da[i]);
    return sum;
}

/* Whether a step could be taken */
static int advance(const Step *s)
{
    for (Py_ssize_t i = 0; i < s->n; i++) {
        s->room[i] = s->c[i] - s->alpha[i];
        s->theta[i] = s->slack[i] / s->alpha[i] + s->short_by[i] / s->room[i];
        s->ds[i] = -s->slack[i] * s->alpha[i];
        s->dshort[i] = -s->short_by[i] * s->room[i];
    }
    matrix(s);
    memset(s->L, 0, s->D * s->D * sizeof(double));
    if (!(cholesky_factor(s->H, s->scale, s->L, s->D) > 0)) return 0;
    direction(s);
    double t = longest(s), now = complementarity(s, 0.0), ahead = complementarity(s, t) / now;
    double centre = ahead * ahead * ahead * now / (2.0 * s->n);
    for (Py_ssize_t i = 0; i < s->n; i++) {
        double both = s->da[i] * s->ds[i], other = s->da[i] * s->dshort[i];
        s->ds[i] = centre - s->slack[i] * s->alpha[i] - both;
        s->dshort[i] = centre - s->short_by[i] * s->room[i] + other;
    }
    direction(s);
    t = SHORT_OF * longest(s);
    double sum = 0.0;
    for (Py_ssize_t i = 0; i < s->n; i++) sum += s->da[i];
    for (Py_ssize_t j = 0; j < s->D; j++) sum += s->dx[j];
    if (!isfinite(sum)) return 0;
    t = t < 1.0 ? t : 1.0;
    for (Py_ssize_t j = 0; j < s->D; j++) s->w[j] += t * s->dx[j];
    for (Py_ssize_t i = 0; i < s->n; i++) {
        s->alpha[i] += t * s->da[i];
        s->slack[i] += t * s->ds[i];
        s->short_by[i] += t * s->dshort[i];
    }
    return 1;
}

/* hinge_step(X, y, c, bias, last, w, point, v, work) -> whether a step could be taken

   point (4, n): alpha, slacks, shortfalls and margins; v (D,): the sum of alpha y x.  All of a point are renewed. */
PyObject *kernel_hinge_step(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *X, *y, *c, *w, *point, *v, *work;
    Step s = {0};
    if (!PyArg_ParseTuple(args, "OOOddOOOO", &X, &y, &c, &s.bias, &s.last, &w, &point, &v, &work)) return NULL;
    Buffers held = {0};
    s.y = float64_in(&held, y, "y", ANY_LENGTH);
    s.n = held.failed ? 0 : length_of(&held.views[0]);
    s.w = float64_out(&held, w, "w", ANY_LENGTH);
    s.D = held.failed ? 1 : length_of(&held.views[1]);
    s.d = s.D - 1;
    s.X = float64_in(&held, X, "X", s.n * s.d);
    s.c = float64_in(&held, c, "c", s.n);
    s.alpha = float64_out(&held, point, "point", 4 * s.n);
    s.v = float64_out(&held, v, "v", s.D);
    double *room = float64_out(&held, work, "work", 7 * s.n + 2 * s.D * s.D + 2 * s.D);
    if (held.failed) return release(&held);
    s.slack = s.alpha + s.n;
    s.short_by = s.slack + s.n;
    s.m = s.short_by + s.n;
    double **part[] = {&s.room, &s.theta, &s.load, &s.da, &s.ds, &s.dshort, &s.gdx};
    for (int k = 0; k < 7; k++, room += s.n) *part[k] = room;
    s.H = room; s.L = room + s.D * s.D; s.dx = s.L + s.D * s.D; s.scale = s.dx + s.D;
    int moved;
    Py_BEGIN_ALLOW_THREADS
    moved = advance(&s);
    margins(&s, s.w, s.m);
    adjoint(&s, s.alpha, s.v);
    Py_END_ALLOW_THREADS
    release(&held);
    return PyBool_FromLong(moved);
}
