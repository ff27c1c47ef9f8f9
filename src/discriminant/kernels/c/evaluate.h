/* Passes over some rows, for kernels that make them: evaluate.c. */
#ifndef DISCRIMINANT_EVALUATE_H
#define DISCRIMINANT_EVALUATE_H

#include "buffers.h"

enum need { VALUE = 1, GRADIENT = 2, HESSIAN = 4, PRODUCT = 8, DIAGONAL = 16, INTERCEPT = 32, OUTER = 64, GROUPS = 128 };

typedef void (*Syrk)(char *, char *, int *, int *, double *, double *, int *, double *, double *, int *);

typedef struct {
    int kind, need, single; /* single: X is float32 */
    double margin, low, high; /* low, high: the targets of the two sides */
    Py_ssize_t n, d, D, q, rows; /* rows: of a tile */
    Py_ssize_t stride; /* of a tile's columns: rows + 8, since columns a power of two apart share few places in a cache */
    const char *x; /* dense: X and its strides in bytes */
    Py_ssize_t row_stride, column_stride;
    const void *indices, *indptr; /* sparse: x holds the entries */
    int wide_indices, wide_indptr; /* 64 bits */
    const double *center, *A, *V, *targets, *shares, *weight, *offset, *factor;
    const void *codes; /* of classes */
    int bytes; /* a byte each; else 64 bits */
    const int64_t *group; /* of each row */
    Py_ssize_t offset_width;
    Syrk syrk;
    double *value, *margin_out, *mass, *gradient, *hessian, *product, *diagonal, *intercept, *outer;
    double *groups; /* (groups, q, D) */
    double *scores; /* (n): z of one output, dense rows; or NULL */
} Pass;

/* X into the pass: entries and strides, or the three arrays of CSR rows. */
int rows_of(Pass *p, Buffers *held, PyObject *X);

/* Targets, shares, weights and offsets of the rows, for q outputs. */
void targets_of(Pass *p, Buffers *held, PyObject *codes, PyObject *target, PyObject *shares, PyObject *weight,
                PyObject *offset);

/* The class of a row, of rows with codes. */
static inline Py_ssize_t class_of(const Pass *p, Py_ssize_t row)
{
    return p->bytes ? ((const uint8_t *)p->codes)[row] : ((const int64_t *)p->codes)[row];
}

/* The pass, added to what its results hold; less than zero where there is no memory for it. */
int walk(Pass *p);

#endif
