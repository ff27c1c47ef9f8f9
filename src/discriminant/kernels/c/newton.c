/* Newton's method for the logistic loss of two classes on dense rows, from the start to a proved gap, in one call.

       p = -H^{-1} g,   a <- a + s p,   s = 1, 1/2, ...            H = Y' diag(s c) Y + Lambda,   g = grad J(a)

   A Hessian is kept for as long as steps by it cost less than a new one: slopes take one walk through the rows, a Hessian
   as many as it has columns, over fourteen or so.

   The proof costs no walk.  With the c of the rows that H was formed of, u = (sigma(z) - t) + c o Yp satisfies
   Y'(s u) + Lambda (a + p) = g + H p = 0, wherever H comes from: a dual point, and at a + s p the gap is at most

       sum s KL(q || sigma(z')) + (1 - s)^2 p' Lambda p / 2,      q = sigma(z) + c o Yp  where that lies in (0, 1),

   the first term about half the square of the decrement there.  With e = q - p, p = sigma(z'),

       KL(q || p) <= e^2/2 (1/p + 1/(1-p) + r / 3(1-r) / w),      r = |e| / w < 1,  w = p for e < 0, else 1 - p. */

#include "evaluate.h"
#include "factor.h"
#include "formulas.h"

#include <float.h>
#include <stdlib.h>

enum { MOST_STEPS = 60, HALVINGS = 3 };

static const double SAFE_PIVOT = 1e-9; /* as factor.py has it: below, the matrix has lost too many digits */
static const double SLOWER = 1.2;      /* times what the last step left of nu, which the next ones by its Hessian leave */
static const double GROWTH = 2.0;      /* how much of nu a step is short of Newton's, over nu: where none was measured */

typedef struct {
    Pass pass;
    Py_ssize_t D;
    int intercept;
    double value, noise;
    const double *units, *damping;
    double head[3];
    double *weights, *gradient, *hessian; /* of the columns as they are; then in units, with the penalty */
} Rows;

/* J, its gradient and, where asked for, its Hessian's lower triangle at A; less than zero where memory is short */
static int evaluate_at(Rows *rows, const double *A, int need)
{
    Py_ssize_t D = rows->D;
    const double *restrict units = rows->units, *restrict damping = rows->damping;
    double *restrict g = rows->gradient, *restrict H = rows->hessian;
    for (Py_ssize_t j = 0; j < D; j++) rows->weights[j] = A[j] / units[j];
    memset(g, 0, D * sizeof(double));
    if (need & HESSIAN) memset(H, 0, D * D * sizeof(double));
    rows->head[0] = rows->head[2] = 0.0;
    rows->head[1] = INFINITY;
    rows->pass.need = need;
    if (walk(&rows->pass) < 0) return -1;
    rows->value = rows->head[0];
    for (Py_ssize_t j = 0; j < D; j++) {
        g[j] = g[j] / units[j] + damping[j] * A[j];
        rows->value += 0.5 * damping[j] * A[j] * A[j];
    }
    if (!rows->intercept) g[0] = 0.0;
    rows->noise = fmax(1e-14, 4e-16 * sqrt((double)rows->pass.n)) * fabs(rows->value);
    if (!(need & HESSIAN)) return 0;
    for (Py_ssize_t i = 0; i < D; i++) {
        for (Py_ssize_t j = 0; j <= i; j++) H[i * D + j] /= units[i] * units[j];
        H[i * D + i] += damping[i];
        if (!rows->intercept) H[i * D] = i == 0 ? 1.0 : 0.0;
    }
    return 0;
}

static double dot(const double *restrict a, const double *restrict b, Py_ssize_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+:sum)
    for (Py_ssize_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* sigma(z) and 1 - sigma(z) */
static inline void posterior(double z, double *p, double *rest)
{
    double tail = exp_negative(-fabs(z)), near = 1.0 / (1.0 + tail), far = tail * near;
    *p = z >= 0 ? near : far;
    *rest = z >= 0 ? far : near;
}

static void curvatures(const double *restrict z, double *restrict c, Py_ssize_t n)
{
#pragma omp simd
    for (Py_ssize_t i = 0; i < n; i++) {
        double p, rest;
        posterior(z[i], &p, &rest);
        c[i] = p * rest;
    }
}

/* sum s KL(q || sigma(z')), bounded, with z' = z + step Yp */
static double divergence(const double *restrict z, const double *restrict after, const double *restrict c,
                         const double *restrict s, double step, Py_ssize_t n)
{
    double sum = 0.0, most = 0.0;
#pragma omp simd reduction(+:sum) reduction(max:most)
    for (Py_ssize_t i = 0; i < n; i++) {
        double p, rest, there, beyond;
        posterior(z[i], &p, &rest);
        posterior(after[i], &there, &beyond);
        double e = (z[i] < 0 ? p - there : beyond - rest) + c[i] * (after[i] - z[i]) / step;
        double w = e < 0 ? there : beyond, r = s[i] > 0 ? fabs(e) / w : 0.0;
        most = r > most ? r : most;
        sum += s[i] > 0 ? s[i] * 0.5 * e * e * (1.0 / (there * beyond) + r / (3.0 * (1.0 - r)) / w) : 0.0;
    }
    return most < 0.999 && sum < INFINITY ? sum : INFINITY;
}

/* s of each row */
static void shares_of(const Pass *p, double *s)
{
    const double *shares = p->shares;
    for (Py_ssize_t i = 0; i < p->n; i++)
        s[i] = shares[p->codes == NULL ? 0 : class_of(p, i)] * (p->weight == NULL ? 1.0 : p->weight[i]);
}

/* Steps that bring nu to `least` where each leaves the share `rate` of it */
static double steps_left(double nu, double least, double rate)
{
    return nu <= least ? 0.0 : rate < 1.0 ? ceil(log(nu / least) / -log(rate)) : INFINITY;
}

/* The same in walks, by a Hessian formed here and the cheapest number of further ones: a Newton step leaves the share
   theta = growth nu of nu, and each by the same Hessian about 2 theta. */
static double walks_left(double nu, double least, double growth, double price)
{
    double walks = 0.0, cheapest = INFINITY;
    for (int k = 0; k < 8 && nu > least; k++) {
        double theta = fmin(growth * nu, 0.5);
        nu *= theta;
        walks += price + 1.0;
        cheapest = fmin(cheapest, walks + steps_left(nu, least, 2.0 * theta));
    }
    return cheapest;
}

/* newton(X, center, units, damping, A, codes, targets, shares, weight, offset, sides, tol, least, price, intercept,
          endless, null, out) -> (whether it is solved, steps, passes, J, margin, decrement, gap, least pivot, steps
                                  since the Hessian of L)

   As evaluate has them: X dense, center, codes, targets, shares, weight, offset.  units, damping, A: (D), A the start and
   the answer.  sides: the targets of the two classes.  least: 0, or nu/sqrt(J) to go on to, once the gap is proved.
   price: walks that a Hessian costs.  endless: J may have no minimum.  null: A is the null model.
   out: gradient (D), scale (D), L (D, D) of zeros, records (steps, 6). */
PyObject *kernel_newton(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *X, *center, *units, *damping, *A_object, *codes, *target, *shares, *weight, *offset;
    PyObject *gradient_object, *scale_object, *L_object, *records_object;
    double tol, end, price;
    int endless, null;
    Rows rows = {.pass = {.kind = LOGISTIC, .q = 1}};
    Pass *p = &rows.pass;
    Buffers held = {0};
    if (!PyArg_ParseTuple(args, "OOOOOOOOOO(dd)dddppp(OOOO)", &X, &center, &units, &damping, &A_object, &codes, &target,
                          &shares, &weight, &offset, &p->low, &p->high, &tol, &end, &price, &rows.intercept,
                          &endless, &null, &gradient_object, &scale_object, &L_object, &records_object))
        return NULL;
    if (!rows_of(p, &held, X)) return release(&held);
    Py_ssize_t n = p->n, D = rows.D = p->D = p->d + 1;
    p->center = center == Py_None ? NULL : float64_in(&held, center, "center", p->d);
    rows.units = float64_in(&held, units, "units", D);
    rows.damping = float64_in(&held, damping, "damping", D);
    double *A = float64_out(&held, A_object, "A", D);
    targets_of(p, &held, codes, target, shares, weight, offset);
    double *gradient = float64_out(&held, gradient_object, "gradient", D);
    double *scale = float64_out(&held, scale_object, "scale", D);
    double *L = float64_out(&held, L_object, "L", D * D);
    double *record = float64_out(&held, records_object, "records", MOST_STEPS * 6);
    if (held.failed) return release(&held);

    double *memory = malloc((size_t)(4 * n + 4 * D + D * D) * sizeof(double));
    if (memory == NULL) {
        release(&held);
        return PyErr_NoMemory();
    }
    double *z = memory, *after = z + n, *c = after + n, *s = c + n, *P = s + n, *there = P + D;
    rows.weights = there + D;
    rows.gradient = rows.weights + D;
    rows.hessian = rows.gradient + D;
    p->A = rows.weights;
    p->value = rows.head;
    p->margin_out = rows.head + 1;
    p->mass = rows.head + 2;
    p->gradient = rows.gradient;
    p->hessian = rows.hessian;
    p->scores = z;

    int solved = 0, failed, steps = 0, passes = 1, fresh = 1, age = 0; /* age: steps by the Hessian at hand */
    double floor = -INFINITY, decrement = INFINITY, pivot = 0.0, growth = GROWTH, slack = 0.0, gap = INFINITY;
    double J, margin;
    Py_BEGIN_ALLOW_THREADS
    shares_of(p, s);
    failed = evaluate_at(&rows, A, VALUE | GRADIENT | HESSIAN) < 0;
    for (;;) {
        double noise = rows.noise, previous = decrement;
        J = rows.value;
        margin = rows.head[1];
        memcpy(gradient, rows.gradient, D * sizeof(double));
        if (failed || steps == MOST_STEPS || !isfinite(J) || (endless && margin > 0)) break;
        if (fresh) {
            pivot = cholesky_factor(rows.hessian, scale, L, D);
            if (!(pivot >= SAFE_PIVOT)) break;
            slack = (double)(D * D * D) * DBL_EPSILON / pivot;
            curvatures(z, c, n);
        }
        for (Py_ssize_t j = 0; j < D; j++) P[j] = -gradient[j];
        cholesky_solution(L, scale, P, D, 1);
        decrement = sqrt(fmax(-dot(gradient, P, D), 0.0));
        double size = sqrt(fabs(J) + 1e-300), least = (end > 0 ? end : sqrt(tol)) * size, ratio = decrement / previous;
        if (age == 1) growth = fmax(GROWTH, ratio / previous);
        age = fresh ? 0 : age;
        double step = null && steps == 0 ? fmin(1.0 / fmax(1.0 - decrement * decrement, 1e-4), 8.0) : 1.0;
        const double row[6] = {steps, J, sqrt(dot(gradient, gradient, D)), step, decrement, passes};
        memcpy(record + 6 * steps++, row, sizeof(row));
        int lost = decrement < 10.0 * sqrt(noise) && ratio > 0.3; /* rounding hides what is left */
        int proved = J - floor <= tol * fabs(J);
        solved = proved && (!(end > 0) || decrement <= least || (lost && age == 0));
        if (solved || (age == 0 && (lost || decrement <= 0.01 * least))) break;

        double theta = age == 0 ? fmin(growth * decrement, 0.5) : age == 1 ? 2.0 * ratio : SLOWER * ratio;
        double left = fmin(theta, 1.0) * decrement;
        double kept = end > 0 || left <= least ? steps_left(left, least, age == 0 ? 2.0 * theta : theta)
                      : age > 0 && gap < INFINITY ? steps_left(sqrt(gap), least, theta) : INFINITY;
        int anew = walks_left(left, least, growth, price) < kept || (age > 0 && decrement <= least && !proved);
        int need = VALUE | GRADIENT | (anew ? HESSIAN : 0), tried = 0;
        p->scores = after;
        for (; tried <= HALVINGS && !lost; tried++, step *= 0.5) {
            for (Py_ssize_t j = 0; j < D; j++) there[j] = A[j] + step * P[j];
            if ((failed = evaluate_at(&rows, there, need) < 0)) break;
            passes++;
            double enough = (step == 1.0 ? 0.25 : tried == 0 ? 1e-4 : 0.1) * step * decrement * decrement / 2;
            if (rows.value <= J - enough + noise) break;
        }
        if (failed) break;
        if (lost || tried > HALVINGS) { /* by an old Hessian: once more by that of this place */
            if (age == 0) break;
            p->scores = z;
            failed = evaluate_at(&rows, A, VALUE | GRADIENT | HESSIAN) < 0;
            passes++;
            steps--;
            fresh = 1;
            decrement = previous;
            continue;
        }
        gap = sqrt(divergence(z, after, c, s, step, n)) + slack * decrement;
        double beyond = 1.0 - step;
        gap *= gap;
        for (Py_ssize_t j = 0; j < D; j++) gap += 0.5 * beyond * beyond * rows.damping[j] * P[j] * P[j];
        floor = fmax(floor, rows.value - gap);
        double *swap = z;
        z = after;
        after = swap;
        memcpy(A, there, D * sizeof(double));
        fresh = anew;
        age++;
    }
    Py_END_ALLOW_THREADS
    free(memory);
    release(&held);
    if (failed) return PyErr_NoMemory();
    return Py_BuildValue("iiidddddi", solved, steps, passes, J, margin, decrement, J - floor, pivot, age);
}
