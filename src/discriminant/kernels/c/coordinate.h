/* Columns of a working set, and coordinate descent on the quadratic model of a proximal Newton step: coordinate.c. */
#ifndef DISCRIMINANT_COORDINATE_H
#define DISCRIMINANT_COORDINATE_H

#include "buffers.h"

typedef struct { long rounds, sweeps; double still; } Plan;

/* Columns of n rows: dense, one after the other, or CSC where `row` is not NULL. */
typedef struct { const double *x; const int32_t *row; const int64_t *start; long n; } Columns;

/* Columns from Python: x and either None, None or row numbers and starts. */
Columns columns_of(Buffers *held, PyObject *x, PyObject *row, PyObject *start, long n, long m);

/* Σ x_i r_i over a column's entries;  r_i += step w_i x_i, with w = NULL for ones. */
double column_dot(const Columns *X, long j, const double *restrict r);
void column_moments(const Columns *X, long j, const double *restrict w, double *square, double *first_moment);
void column_add(const Columns *X, long j, double step, const double *restrict w, double *restrict r);

/* The same of `count` columns from j on: dense ones four at a time, which halves the traffic. */
void columns_dot(const Columns *X, long j, long count, const double *restrict r, double *restrict out);
void columns_add(const Columns *X, long j, long count, const double *restrict steps, const double *restrict w,
                 double *restrict r);

int descend_gram(long p, const double *H, double *a, double *g, const double *l1, const double *lower,
                 const double *upper, Plan plan);
int descend_columns(const Columns *X, long m, const double *w, int intercept, double *a, const double *g,
                    const double *l1, const double *l2, const double *lower, const double *upper, double *work,
                    Plan plan);

#endif
