/* Columns of a working set, and coordinate descent on the quadratic model of a proximal Newton step: coordinate.c. */
#ifndef DISCRIMINANT_COORDINATE_H
#define DISCRIMINANT_COORDINATE_H

#include <math.h>

#include "buffers.h"

#define INNER 0.3 /* sweeps over the support end at this share of `still` */

typedef struct { long rounds, sweeps; double still; } Plan;

static inline double clamp(double a, double low, double high) { return a < low ? low : a > high ? high : a; }

/* argmin ½(a − u)² + level|a|; signs are as good as random, so no branch depends on them, and no zero is negative. */
static inline double shrink(double u, double level) { return copysign(fmax(fabs(u) - level, 0.0), u) + 0.0; }

static inline void add(long n, double step, const double *restrict x, double *restrict to)
{
    for (long i = 0; i < n; i++) to[i] += step * x[i];
}

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

#endif
