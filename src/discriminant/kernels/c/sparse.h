/* What the files of the sparse fits share: the state of a fit, and what each of them does with it.

   sparse_bound.c      losses, penalty and their conjugates: the bound of min J that a dual point gives
   sparse_screening.c  all columns: passes over them, and the slopes that these bound
   sparse_set.c        the working set: columns that enter and leave
   sparse_model.c      the quadratic model of a step: its matrix, and its minimum by coordinate descent and Newton steps
   sparse_path.c       steps, rounds, λ after λ; what Python calls */
#ifndef DISCRIMINANT_SPARSE_H
#define DISCRIMINANT_SPARSE_H

#include <math.h>
#include <stdlib.h>

#include "coordinate.h"
#include "formulas.h"

#define PASSES 4 /* that the span is made of */
#define MOST_EIGEN 64 /* size of a group up to which its step is exact */
#define STRIP 512 /* rows, and */
#define BAND 32 /* columns that products are taken of at a time */
#define TILE 4

typedef struct { double value; long index; } Pair;

typedef struct {
    long n, d, n_groups, sparse_gram, most_gram, most_cholesky;
    int kind, intercept, failed;
    double margin, least; /* least: the dual at 0 */
    const double *t, *s, *offset, *l1, *l2, *lower, *upper, *norms, *unit; /* l1, l2 by group at λ = 1 */
    const int64_t *order, *starts;
    Columns all; /* sparse columns (row is not NULL), dense ones, rows, sparse rows, or none, which are asked for: */
    const double *rows, *center; /* dense values of the user, (x − center) / unit */
    Columns by_row; /* of the user: where `row` is not NULL it holds the columns of the entries, `start` where rows begin */
    int64_t *count; /* (2 d) of entries in each column, once they have been asked for, and work space */
    PyObject *ask_look, *ask_gather;
    PyThreadState *thread;
    double *asked_v, *asked_R;
    int64_t *asked;
    /* the point */
    double strength, b, value, J, bound, proved, gap, moved; /* bound: on the working set; proved: over all columns */
    double strength_before, b_before, *a_before; /* of the λ before: a_before by feature (d) */
    double *z, *v, *h, *dual, *zt, *vt, *ht, *e, *sv, *scratch; /* (n) */
    /* the working set: groups, coordinates one group after the other, columns */
    long k, m, steps, known; /* known: of how many columns R has the slopes at this point */
    long *group, *first, *feature;
    char *inside;
    Columns X;
    double *x_own, *x_held; /* x_held: where there is room for all of them, for dense values */
    int32_t *row_own;
    int64_t *start_own;
    long room, most; /* columns that x_own has room for, and that were in it at most */
    double *a, *g, *to, *R, *R_dual, *low, *up, *delta, *change, *B, *way, *slope, *work, *strip; /* by coordinate */
    double *L1, *L2; /* by group at λ */
    long *support;
    /* the model */
    double *hm, *w, corner, *M, *eigen, *Q, *block, shift; /* block: of M, that of each group; eigen: of these */
    long formed, stride, *corner_of_Q;
    double *factor, factor_strength; /* of M on the support that it was last wanted for */
    long factored, factor_room, *factor_of;
    int smooth, several, wide, matrix, held, stale; /* whether no group has a kink; whether there are many λ; whether a group has no exact step; whether M is worth its price; whether it is at hand; whether it is to be formed anew */
    int growing; /* whether columns are missing that matter more than what M is of: one step a pass */
    /* passes over all columns */
    double *seen_v[PASSES], *seen_R[PASSES], *near_R, *own_norms, passes;
    long seen;
    Pair *pairs;
} Path;

static inline double dot(const double *x, const double *y, long n)
{
    Columns one = {x, NULL, NULL, n};
    return column_dot(&one, 0, y);
}

static inline double length(const double *x, long size)
{
    double sum = 0;
    for (long i = 0; i < size; i++) sum += x[i] * x[i];
    return size == 1 ? fabs(x[0]) : sqrt(sum);
}

/* Room for more; 1 where there is none. */
static inline int grow(Path *f, void **p, long have, long need, size_t size)
{
    if (need <= have) return 0;
    void *more = realloc(*p, need * size);
    if (!more) return f->failed = 1;
    *p = more;
    return 0;
}

/* sparse_bound.c */
double sparse_losses(const Path *f, const double *restrict z, double *restrict v, double *restrict h);
double sparse_dual_value(const Path *f, const double *restrict u, double scale);
double sparse_penalty(const Path *f, const double *a);
double sparse_bound_of(const Path *f, const double *u, const double *R, const Pair *others, long count);

/* sparse_screening.c */
void sparse_rows_gather(Path *f, long old);
void sparse_gather(const Path *f, const long *feature, long count, double *out);
void sparse_dense_moments(const Path *f, const double *restrict w, double *restrict sums, double *restrict squares);
void sparse_pass(Path *f, const double *v);
double sparse_near(Path *f, const double *v);
double sparse_violation(const Path *f, long u, double strength, double far);
long sparse_violators(Path *f, double strength, double far);

/* sparse_model.c */
void sparse_form(Path *f);
void sparse_form_blocks(Path *f);
double sparse_kinks(const Path *f, const double *a);
void sparse_minimize_model(Path *f, double still, double least);
int sparse_descend(Path *f, Plan plan);

/* sparse_set.c */
void sparse_levels(Path *f);
void sparse_enter(Path *f, long count);
void sparse_leave(Path *f, int fresh);

#endif
