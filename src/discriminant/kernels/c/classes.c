/* Classes that compete, as sparse fits ask of them: the loss of all rows and its conjugate.

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
