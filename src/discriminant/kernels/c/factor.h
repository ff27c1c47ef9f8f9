/* Small positive definite matrices, for kernels that solve with them: factor.c. */
#ifndef DISCRIMINANT_FACTOR_H
#define DISCRIMINANT_FACTOR_H

#include "module.h"

/* S H S = L L' with a unit diagonal, of H's lower triangle; the least pivot, or the first that is not positive. */
double cholesky_factor(const double *H, double *scale, double *L, Py_ssize_t p);

/* g becomes S L'^{-1} L^{-1} S g for g (p, k). */
void cholesky_solution(const double *L, const double *scale, double *G, Py_ssize_t p, Py_ssize_t k);

#endif
