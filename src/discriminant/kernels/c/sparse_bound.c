/* The bound of min J that a dual point gives, and what it is made of: see the head of sparse_path.c. */
#include "sparse.h"

#define FREE 1e-9 /* of a column's length: slopes of weights without a penalty that count as none */

/* Σ s ℓ(t, z), with ℓ' and ℓ'' of every row. */
double sparse_losses(const Path *f, const double *restrict z, double *restrict v, double *restrict h)
{
    double *restrict value = f->scratch;
    const double *restrict t = f->t;
    if (f->kind == LOGISTIC)
        for (long i = 0; i < f->n; i++) {
            Loss l = logistic(t[i], z[i], 0.0);
            value[i] = l.value, v[i] = l.gradient, h[i] = l.curvature;
        }
    else
        for (long i = 0; i < f->n; i++) {
            Loss l = quadratic(t[i], z[i], f->margin);
            value[i] = l.value, v[i] = l.gradient, h[i] = l.curvature;
        }
    return dot(f->s, value, f->n);
}

/* −Σ s ℓ*(τu) + τ Σ s u·offset; −∞ where a row leaves the domain. */
double sparse_dual_value(const Path *f, const double *restrict u, double scale)
{
    const double *restrict t = f->t;
    double *restrict value = f->scratch;
    if (f->kind == LOGISTIC)
        for (long i = 0; i < f->n; i++) {
            double p = scale * u[i] + t[i], q = 1 - p, small = p < q ? p : q, large = p < q ? q : p;
            /* p ln p + q ln q, with ln large = −ln(1 + small/large) and ln small = ln large − ln(1 + (large/small − 1)) */
            double held = small > 1e-300 ? small : 1e-300, log_large = -log1p_positive((small > 0 ? small : 0) / large);
            double sum = large * log_large + held * (log_large - log1p_positive((large - held) / held));
            value[i] = small < 0 ? INFINITY : sum;
        }
    else
        for (long i = 0; i < f->n; i++) {
            double c = scale * u[i], tc = t[i] * c;
            value[i] = tc > 0 ? INFINITY : f->margin * tc + c * c / 4;
        }
    double sum = 0;
    int outside = 0;
    for (long i = 0; i < f->n; i++) { /* rows that are held out may be anywhere */
        int counts = f->s[i] > 0;
        outside |= counts && isinf(value[i]);
        value[i] = counts && !isinf(value[i]) ? value[i] : 0.0;
    }
    if (outside) return -INFINITY;
    sum = -dot(f->s, value, f->n);
    for (long i = 0; f->offset && i < f->n; i++) sum += f->s[i] * scale * u[i] * f->offset[i];
    return sum;
}

double sparse_penalty(const Path *f, const double *a)
{
    double sum = 0;
    for (long k = 0; k < f->k; k++) {
        double r = length(a + f->first[k], f->first[k + 1] - f->first[k]);
        sum += f->L1[k] * r + 0.5 * f->L2[k] * r * r;
    }
    return sum;
}

/* The largest τ ≤ `scale` that brings slopes of length R into the domain of Ω*; `end`: the bound on that side. */
static double scaled(double scale, double R, double l1, double l2, double end)
{
    return l2 == 0 && isinf(end) && R * scale > l1 ? l1 / R : scale;
}

static double conjugate(double R, double l1, double l2, double end)
{
    double excess = R - l1, a = l2 > 0 ? excess / l2 : INFINITY;
    a = a < end ? a : end;
    return excess <= 0 || isinf(a) ? 0.0 : excess * a - 0.5 * l2 * a * a;
}

/* The bound of min J that τu gives, with slopes R of the working set; `others`: violators outside of it, with
   slopes in near_R, `count` of them. */
double sparse_bound_of(const Path *f, const double *u, const double *R, const Pair *others, long count)
{
    double scale = 1, conjugates = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (long k = 0; k < f->k; k++) {
            long j = f->first[k];
            double r = length(R + j, f->first[k + 1] - j), end = R[j] > 0 ? f->up[j] : -f->low[j];
            if (f->L1[k] == 0 && f->L2[k] == 0 && isinf(end)) { /* free: the model has them at rest, or proves nothing */
                if (r > FREE * (f->norms ? f->norms[f->feature[j]] : 1.0)) return -INFINITY;
            } else if (turn == 0) scale = scaled(scale, r, f->L1[k], f->L2[k], end);
            else conjugates += conjugate(scale * r, f->L1[k], f->L2[k], end);
        }
        for (long i = 0; i < count; i++) {
            long u_ = others[i].index, j = f->order[f->starts[u_]];
            double l1 = f->strength * f->l1[u_], l2 = f->strength * f->l2[u_], r = others[i].value + l1;
            double end = f->near_R[j] > 0 ? f->upper[j] : -f->lower[j];
            if (turn == 0) scale = scaled(scale, r, l1, l2, end);
            else conjugates += conjugate(scale * r, l1, l2, end);
        }
    }
    return sparse_dual_value(f, u, scale) - conjugates;
}
