/* Rows of a matrix, dense or CSR, one at a time.

   How they are stored is a constant wherever these functions are inlined, so that each storage gets a loop of its own
   from one text: AT_STORAGE(rows, call) makes the call with the constant in the place of STORAGE. */
#ifndef DISCRIMINANT_ROWS_H
#define DISCRIMINANT_ROWS_H

#include "buffers.h"

#define INLINE static inline __attribute__((always_inline))

enum { SINGLE = 1, SPARSE = 2, WIDE = 4 }; /* float32 values; CSR; its indices int64 */

typedef struct {
    int storage, wide_offsets;
    Py_ssize_t n, d;
    const void *values, *indices, *offsets; /* the last two of CSR: indices and indptr */
} Rows;

typedef struct {
    const void *values, *places;
    Py_ssize_t count;
} Row;

#define AT_STORAGE(rows, call)                                                                                         \
    switch ((rows)->storage) {                                                                                         \
    case 0: { enum { STORAGE = 0 }; call; } break;                                                                     \
    case SINGLE: { enum { STORAGE = SINGLE }; call; } break;                                                           \
    case SPARSE: { enum { STORAGE = SPARSE }; call; } break;                                                           \
    case SPARSE | SINGLE: { enum { STORAGE = SPARSE | SINGLE }; call; } break;                                         \
    case SPARSE | WIDE: { enum { STORAGE = SPARSE | WIDE }; call; } break;                                             \
    default: { enum { STORAGE = SPARSE | SINGLE | WIDE }; call; } break;                                               \
    }

INLINE Py_ssize_t offset_at(const Rows *rows, Py_ssize_t i)
{
    return rows->wide_offsets ? (Py_ssize_t)((const int64_t *)rows->offsets)[i] : ((const int32_t *)rows->offsets)[i];
}

INLINE double value_at(Row x, const int storage, Py_ssize_t p)
{
    return storage & SINGLE ? (double)((const float *)x.values)[p] : ((const double *)x.values)[p];
}

/* The column of entry p; every one in turn in a dense row. */
INLINE Py_ssize_t place_at(Row x, const int storage, Py_ssize_t p)
{
    if (!(storage & SPARSE)) return p;
    return storage & WIDE ? (Py_ssize_t)((const int64_t *)x.places)[p] : ((const int32_t *)x.places)[p];
}

INLINE Row row_at(const Rows *rows, const int storage, Py_ssize_t i)
{
    const Py_ssize_t size = storage & SINGLE ? 4 : 8;
    const char *values = rows->values;
    if (!(storage & SPARSE)) return (Row){values + i * rows->d * size, NULL, rows->d};
    Py_ssize_t first = offset_at(rows, i);
    const char *places = (const char *)rows->indices + first * (storage & WIDE ? 8 : 4);
    return (Row){values + first * size, places, offset_at(rows, i + 1) - first};
}

/* Sums over dense rows have eight lanes and a rest, whatever the width of the processor's vectors: enough additions
   under way at once, and no wait for the rest after the last vector. */
#define LANES 8

INLINE double sum_of(const double *lanes, double rest)
{
    return (((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))) + rest;
}

/* x · w.  A sparse row gathers: four sums beside each other hide the wait for each addition. */
INLINE double dot(Row x, const int storage, const double *w)
{
    Py_ssize_t p = 0;
    if (!(storage & SPARSE)) {
        double lanes[LANES] = {0}, rest = 0.0;
        for (; p + LANES <= x.count; p += LANES)
            for (int l = 0; l < LANES; l++) lanes[l] += value_at(x, storage, p + l) * w[p + l];
        for (; p < x.count; p++) rest += value_at(x, storage, p) * w[p];
        return sum_of(lanes, rest);
    }
    double total = 0.0, a = 0.0, b = 0.0, c = 0.0;
    for (; p + 4 <= x.count; p += 4) {
        total += value_at(x, storage, p) * w[place_at(x, storage, p)];
        a += value_at(x, storage, p + 1) * w[place_at(x, storage, p + 1)];
        b += value_at(x, storage, p + 2) * w[place_at(x, storage, p + 2)];
        c += value_at(x, storage, p + 3) * w[place_at(x, storage, p + 3)];
    }
    for (; p < x.count; p++) total += value_at(x, storage, p) * w[place_at(x, storage, p)];
    return (total + a) + (b + c);
}

/* ‖x‖² */
INLINE double square(Row x, const int storage)
{
    double lanes[LANES] = {0}, rest = 0.0;
    Py_ssize_t p = 0;
    for (; p + LANES <= x.count; p += LANES)
        for (int l = 0; l < LANES; l++) lanes[l] += value_at(x, storage, p + l) * value_at(x, storage, p + l);
    for (; p < x.count; p++) rest += value_at(x, storage, p) * value_at(x, storage, p);
    return sum_of(lanes, rest);
}

/* w += amount · x; a sparse row may name a column twice, so that its entries go one after the other. */
INLINE void add(Row x, const int storage, double *w, double amount)
{
    if (storage & SPARSE) {
        for (Py_ssize_t p = 0; p < x.count; p++) w[place_at(x, storage, p)] += amount * value_at(x, storage, p);
        return;
    }
#pragma omp simd
    for (Py_ssize_t p = 0; p < x.count; p++) w[p] += amount * value_at(x, storage, p);
}

/* Ask for a row that comes soon. */
INLINE void prefetch(Row x, const int storage)
{
    const Py_ssize_t size = storage & SINGLE ? 4 : 8, place = storage & WIDE ? 8 : 4;
    for (Py_ssize_t p = 0; p < x.count * size; p += 64) __builtin_prefetch((const char *)x.values + p);
    if (!(storage & SPARSE)) return;
    for (Py_ssize_t p = 0; p < x.count * place; p += 64) __builtin_prefetch((const char *)x.places + p);
}

/* The rows of a C-contiguous array (n, d), or of a CSR matrix of d columns. */
static inline Rows rows_in(Buffers *held, PyObject *X, int sparse)
{
    Rows rows = {0};
    PyObject *values = X;
    if (sparse) values = attribute(held, X, "data");
    const Py_buffer *view = held->failed ? NULL : hold(held, values, "X", PyBUF_C_CONTIGUOUS);
    if (!view) return rows;
    Type type = type_of(view);
    if (type != FLOAT64 && type != FLOAT32) {
        PyErr_SetString(PyExc_ValueError, "X must hold float64 or float32 numbers.");
        held->failed = 1;
        return rows;
    }
    rows.storage = type == FLOAT32 ? SINGLE : 0;
    rows.values = view->buf;
    if (!sparse) {
        if (view->ndim != 2) {
            PyErr_SetString(PyExc_ValueError, "X must have two dimensions.");
            held->failed = 1;
            return rows;
        }
        rows.n = view->shape[0];
        rows.d = view->shape[1];
        return rows;
    }
    Py_ssize_t count = length_of(view);
    const Py_buffer *indices = hold(held, attribute(held, X, "indices"), "X.indices", PyBUF_C_CONTIGUOUS);
    const Py_buffer *offsets = hold(held, attribute(held, X, "indptr"), "X.indptr", PyBUF_C_CONTIGUOUS);
    if (held->failed) return rows;
    Type place = type_of(indices), offset = type_of(offsets);
    rows.storage |= SPARSE | (place == INT64 ? WIDE : 0);
    rows.wide_offsets = offset == INT64;
    rows.indices = indices->buf;
    rows.offsets = offsets->buf;
    rows.n = length_of(offsets) - 1;
    if ((place != INT32 && place != INT64) || (offset != INT32 && offset != INT64) || length_of(indices) != count ||
        rows.n < 0 || offset_at(&rows, rows.n) > count) {
        PyErr_SetString(PyExc_ValueError, "X must be a CSR matrix whose indices and indptr are int32 or int64.");
        held->failed = 1;
    }
    return rows;
}

#endif
