/* Solving with a small positive definite matrix: LAPACK's way through NumPy costs more than the arithmetic.

       S H S = L L',   s_i = h_ii^{-1/2}        H^{-1} g = S L'^{-1} L^{-1} S g        trace (L L')^{-1} = |L^{-1}|^2 */

#include "factor.h"

#include "buffers.h"
#include "vecmath.h"

static double dot(const double *restrict a, const double *restrict b, Py_ssize_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+:sum)
    for (Py_ssize_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* a -= f b */
static void take(double *restrict a, double f, const double *restrict b, Py_ssize_t n)
{
#pragma omp simd
    for (Py_ssize_t i = 0; i < n; i++) a[i] -= f * b[i];
}

/* out = the products of four rows and four others over their first n numbers */
static void products(const double *const rows[4], const double *const others[4], Py_ssize_t n, double out[4][4])
{
    vec sum[4][4] = {{{0}}};
    Py_ssize_t c = 0;
    for (; c + LANES <= n; c += LANES)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) sum[i][j] += *(const loose *)(rows[i] + c) * *(const loose *)(others[j] + c);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) out[i][j] = lanes_sum(sum[i][j]);
    for (; c < n; c++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) out[i][j] += rows[i][c] * others[j][c];
}

/* Rows a to a + 3 of L, four columns at a time; the least pivot, or the first that is not positive */
static double four_rows(const double *H, const double *scale, double *L, Py_ssize_t p, Py_ssize_t a)
{
    double least = INFINITY, sum[4][4];
    const double *rows[4], *others[4];
    for (int i = 0; i < 4; i++) rows[i] = L + (a + i < p ? a + i : p - 1) * p;
    for (Py_ssize_t b = 0; b <= a; b += 4) {
        for (int j = 0; j < 4; j++) others[j] = L + (b + j < p ? b + j : p - 1) * p;
        products(rows, others, b, sum);
        for (Py_ssize_t i = a; i < a + 4 && i < p; i++)
            for (Py_ssize_t j = b; j < b + 4 && j <= i; j++) {
                double *row = L + i * p, *other = L + j * p;
                double left = i == j ? 1.0 : H[i * p + j] * scale[i] * scale[j];
                left -= sum[i - a][j - b] + dot(row + b, other + b, j - b);
                if (i > j) row[j] = left / other[j];
                else if (!(left > 0)) return left;
                else {
                    row[j] = sqrt(left);
                    least = left < least ? left : least;
                }
            }
    }
    return least;
}

double cholesky_factor(const double *H, double *scale, double *L, Py_ssize_t p)
{
    double least = INFINITY;
    for (Py_ssize_t i = 0; i < p; i++) scale[i] = H[i * p + i] > 0 ? 1.0 / sqrt(H[i * p + i]) : 0.0;
    for (Py_ssize_t a = 0; a < p && least > 0; a += 4) {
        double pivot = four_rows(H, scale, L, p, a);
        least = least < pivot ? least : pivot; /* that is no number, too */
    }
    for (Py_ssize_t i = 0; i < p; i++)
        if (scale[i] == 0) scale[i] = 1.0;
    return least;
}

void cholesky_solution(const double *L, const double *scale, double *G, Py_ssize_t p, Py_ssize_t k)
{
    for (Py_ssize_t i = 0; i < p; i++) {
        double *row = G + i * k;
        for (Py_ssize_t c = 0; c < k; c++) row[c] *= scale[i];
        if (k == 1) row[0] -= dot(L + i * p, G, i);
        else for (Py_ssize_t j = 0; j < i; j++) take(row, L[i * p + j], G + j * k, k);
        for (Py_ssize_t c = 0; c < k; c++) row[c] /= L[i * p + i];
    }
    for (Py_ssize_t i = p - 1; i >= 0; i--) {
        double *row = G + i * k;
        for (Py_ssize_t c = 0; c < k; c++) row[c] /= L[i * p + i];
        if (k == 1) take(G, row[0], L + i * p, i);
        else for (Py_ssize_t j = 0; j < i; j++) take(G + j * k, L[i * p + j], row, k);
        for (Py_ssize_t c = 0; c < k; c++) row[c] *= scale[i];
    }
}

/* cholesky(H, scale, L) -> the least pivot, of a unit diagonal; NaN where H holds one.  After a pivot that is not
   positive L ends.

   H (p, p), of which the lower triangle is read; L (p, p) of zeros.  A direction without curvature has a pivot of one. */
PyObject *kernel_cholesky(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *matrix, *scales, *triangle;
    Buffers held = {0};
    if (!PyArg_ParseTuple(args, "OOO", &matrix, &scales, &triangle)) return NULL;
    double *scale = float64_out(&held, scales, "scale", ANY_LENGTH);
    Py_ssize_t p = held.failed ? 0 : length_of(&held.views[0]);
    const double *H = float64_in(&held, matrix, "H", p * p);
    double *L = float64_out(&held, triangle, "L", p * p);
    if (held.failed) return release(&held);
    double least = cholesky_factor(H, scale, L, p);
    release(&held);
    return PyFloat_FromDouble(least);
}

/* cholesky_trace(L) -> the trace of (L L')^{-1}, p >= 1 */
PyObject *kernel_cholesky_trace(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *triangle;
    Buffers held = {0};
    if (!PyArg_ParseTuple(args, "O", &triangle)) return NULL;
    const double *L = float64_in(&held, triangle, "L", ANY_LENGTH);
    Py_ssize_t p = held.failed ? 0 : held.views[0].shape[0];
    double *x = PyMem_Malloc(p * sizeof(double)), trace = 0.0;
    if (held.failed || x == NULL) return release(&held);
    for (Py_ssize_t j = 0; j < p; j++)
        for (Py_ssize_t i = j; i < p; i++) { /* column j of the inverse of L */
            x[i] = ((i == j) - dot(L + i * p + j, x + j, i - j)) / L[i * p + i];
            trace += x[i] * x[i];
        }
    PyMem_Free(x);
    release(&held);
    return PyFloat_FromDouble(trace);
}

/* cholesky_solve(L, scale, G) -> None; G (p, k) becomes S L'^{-1} L^{-1} S G */
PyObject *kernel_cholesky_solve(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *triangle, *scales, *sides;
    Buffers held = {0};
    if (!PyArg_ParseTuple(args, "OOO", &triangle, &scales, &sides)) return NULL;
    const double *scale = float64_in(&held, scales, "scale", ANY_LENGTH);
    Py_ssize_t p = held.failed ? 0 : length_of(&held.views[0]);
    const double *L = float64_in(&held, triangle, "L", p * p);
    double *G = float64_out(&held, sides, "G", ANY_LENGTH);
    Py_ssize_t k = held.failed || p == 0 ? 0 : length_of(&held.views[2]) / p;
    if (held.failed) return release(&held);
    cholesky_solution(L, scale, G, p, k);
    release(&held);
    return Py_NewRef(Py_None);
}
