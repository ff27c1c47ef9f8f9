/* Posteriors of rows of scores: discriminant/decision/posteriors.py has the formulas, and the same in NumPy, which
   goes over the scores eight times.  One score a row stands for two classes. */
#include <math.h>

#include "buffers.h"
#include "vecmath.h"

#define STRIP 64    /* rows at once: their scores lie in the first cache */
#define COLUMNS 32  /* classes up to which rows are turned, so that exp runs over them */
#define LEAST -700.0 /* below, exp_negative is no longer exp */
#define PLENTY 4096 /* scores for which other threads may have the interpreter */

/* (sigma(-z), sigma(z)) */
static void pairs(const double *restrict z, Py_ssize_t n, double *restrict out)
{
    for (Py_ssize_t start = 0; start < n; start += STRIP) {
        int rows = (int)(n - start < STRIP ? n - start : STRIP);
        double small[STRIP], least = 0.0;
#pragma omp simd reduction(min:least)
        for (int i = 0; i < rows; i++) {
            double x = -fabs(z[start + i]);
            least = x < least ? x : least;
            small[i] = exp_negative(x);
        }
        if (least < LEAST)
            for (int i = 0; i < rows; i++) small[i] = exp(-fabs(z[start + i]));
        for (int i = 0; i < rows; i++) {
            double all = 1.0 + small[i], large = 1.0 / all, rest = small[i] / all;
            int second = z[start + i] >= 0.0;
            out[2 * (start + i)] = second ? rest : large;
            out[2 * (start + i) + 1] = second ? large : rest;
        }
    }
}

/* e^(z_k - max z) / their sum, of some rows with few classes; those that a strip lacks are its first */
static int turned(const double *restrict z, int rows, Py_ssize_t K, double *restrict out)
{
    double e[COLUMNS][STRIP], top[STRIP], sum[STRIP], least = 0.0, check = 0.0;
    for (Py_ssize_t k = 0; k < K; k++) {
        for (int i = 0; i < rows; i++) e[k][i] = z[i * K + k];
        for (int i = rows; i < STRIP; i++) e[k][i] = z[k];
    }
    for (int i = 0; i < STRIP; i++) top[i] = -INFINITY, sum[i] = 0.0;
    for (Py_ssize_t k = 0; k < K; k++)
        for (int i = 0; i < STRIP; i++) top[i] = e[k][i] > top[i] ? e[k][i] : top[i];
#pragma omp simd reduction(+:check)
    for (int i = 0; i < STRIP; i++) check += top[i];
    if (!isfinite(check)) return 0;
    for (Py_ssize_t k = 0; k < K; k++) {
#pragma omp simd reduction(min:least)
        for (int i = 0; i < STRIP; i++) {
            double x = e[k][i] - top[i];
            least = x < least ? x : least;
            e[k][i] = exp_negative(x);
        }
    }
    if (least < LEAST)
        for (Py_ssize_t k = 0; k < K; k++)
            for (int i = 0; i < rows; i++) e[k][i] = exp(z[i * K + k] - top[i]);
    for (Py_ssize_t k = 0; k < K; k++)
        for (int i = 0; i < STRIP; i++) sum[i] += e[k][i];
    for (Py_ssize_t k = 0; k < K; k++) {
        for (int i = 0; i < STRIP; i++) e[k][i] /= sum[i];
        for (int i = 0; i < rows; i++) out[i * K + k] = e[k][i];
    }
    return 1;
}

/* The same of one row with many */
static int row(const double *restrict z, Py_ssize_t K, double *restrict out)
{
    double top = z[0], sum = 0.0, least = 0.0;
    for (Py_ssize_t k = 1; k < K; k++) top = z[k] > top ? z[k] : top;
    if (!isfinite(top)) return 0;
#pragma omp simd reduction(min:least)
    for (Py_ssize_t k = 0; k < K; k++) {
        double x = z[k] - top;
        least = x < least ? x : least;
        out[k] = exp_negative(x);
    }
    if (least < LEAST)
        for (Py_ssize_t k = 0; k < K; k++) out[k] = exp(z[k] - top);
#pragma omp simd reduction(+:sum)
    for (Py_ssize_t k = 0; k < K; k++) sum += out[k];
#pragma omp simd
    for (Py_ssize_t k = 0; k < K; k++) out[k] /= sum;
    return 1;
}

static int posteriors(const double *z, Py_ssize_t n, Py_ssize_t K, double *out)
{
    int known = 1;
    if (K == 1) pairs(z, n, out);
    else if (K > COLUMNS || n < STRIP / 4)
        for (Py_ssize_t i = 0; i < n && known; i++) known = row(z + i * K, K, out + i * K);
    else
        for (Py_ssize_t i = 0; i < n && known; i += STRIP)
            known = turned(z + i * K, (int)(n - i < STRIP ? n - i : STRIP), K, out + i * K);
    return known;
}

/* posteriors(z, classes, out): z (n, classes), or (n,) of one score a row with out (n, 2); whether all rows had a
   largest score that is a number. */
PyObject *kernel_posteriors(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *z, *out;
    Py_ssize_t K;
    if (!PyArg_ParseTuple(args, "OnO", &z, &K, &out)) return NULL;
    Buffers held;
    held.count = held.owned_count = held.failed = 0;
    const double *scores = float64_in(&held, z, "z", ANY_LENGTH);
    if (held.failed) return release(&held);
    Py_ssize_t total = length_of(&held.views[0]);
    if (K < 1 || total % K) {
        PyErr_SetString(PyExc_ValueError, "z must hold a score of each class for every row.");
        return release(&held);
    }
    double *found = float64_out(&held, out, "out", K == 1 ? 2 * total : total);
    if (held.failed) return release(&held);
    int known;
    if (total < PLENTY) known = posteriors(scores, total / K, K, found);
    else {
        Py_BEGIN_ALLOW_THREADS
        known = posteriors(scores, total / K, K, found);
        Py_END_ALLOW_THREADS
    }
    release(&held);
    return PyBool_FromLong(known);
}
