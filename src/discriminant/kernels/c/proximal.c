/* Proximal Newton steps of one output over the columns of a working set, with the duality gap of every point.

       J(b, a) = Σ s ℓ(t, z) + Σ l₁|a| + ½ l₂ a²,        z = offset + b + X a,        lower ≤ a ≤ upper

   optimize/set_solver.py says what is done and does it, too: for classes that compete, groups, weights without a penalty
   and where there is no compiler.  Here all steps that coordinate descent can do cheaply are one call. */
#include "coordinate.h"
#include "formulas.h"

#define ROUGH 0.3 /* how far below the gap at hand the model's own slopes are brought */
#define PROGRESS 0.05 /* of what the slopes are off that a step may leave */
#define EXACT 1e-15 /* of the least l₁: how still the slopes stand in the last steps of a fit */
#define HALVINGS 10

enum status { DONE, STALE, UNFINISHED, STUCK }; /* STALE: H, not of this point, leads on too slowly */

typedef struct {
    Columns X;
    long n, m;
    int kind, intercept;
    double margin, least, J, gap, g0, corner; /* least: the dual at v = 0; g0, corner: of the intercept */
    const double *t, *s, *offset, *l1, *l2, *lower, *upper;
    double *a, *b, *z, *v, *h, *R; /* v: slopes after a Newton step of the intercept; R = −Xᵗ s v */
    double *rows[4], *coordinates[3], *work; /* to work with: (n), (m) and n + 3m */
} Fit;

static double dot(const double *x, const double *y, long n)
{
    Columns one = {x, NULL, NULL, n};
    return column_dot(&one, 0, y);
}

/* Σ s ℓ(t, z), with ℓ' and ℓ'' of every row. */
static double losses(const Fit *f, const double *restrict z, double *restrict v, double *restrict h)
{
    double *restrict value = f->rows[0];
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

static double entropy(double p) { return p > 0 ? p * log(p) : p < 0 ? INFINITY : 0.0; }

/* −Σ s ℓ*(τv) + τ Σ s v·offset. */
static double dual(const Fit *f, double scale)
{
    double sum = 0;
    for (long i = 0; i < f->n; i++) {
        double u = scale * f->v[i], p = u + f->t[i], tu = f->t[i] * u;
        if (f->s[i] <= 0) continue;
        sum += f->s[i] * (f->kind == LOGISTIC ? entropy(p) + entropy(1 - p) : tu > 0 ? INFINITY : f->margin * tu + u * u / 4);
        if (f->offset) sum -= f->s[i] * u * f->offset[i];
    }
    return -sum;
}

static double penalty(const Fit *f, const double *a)
{
    double sum = 0;
    for (long j = 0; j < f->m; j++) sum += f->l1[j] * fabs(a[j]) + 0.5 * f->l2[j] * a[j] * a[j];
    return sum;
}

/* J, slopes and gap where v and h are those of z, and `value` is their Σ s ℓ. */
static void prove(Fit *f, double value)
{
    double *sv = f->rows[0], scale = 1, conjugate = 0;
    f->corner = dot(f->s, f->h, f->n);
    f->g0 = f->intercept ? dot(f->s, f->v, f->n) : 0.0;
    double shift = f->corner > 0 ? f->g0 / f->corner : 0.0;
    for (long i = 0; i < f->n; i++) f->v[i] -= shift * f->h[i];
    for (long i = 0; i < f->n; i++) sv[i] = f->s[i] * f->v[i];
    for (long j = 0; j < f->m; j++) {
        f->R[j] = -column_dot(&f->X, j, sv);
        int stiff = f->l2[j] == 0 && (f->R[j] > 0 ? isinf(f->upper[j]) : isinf(f->lower[j]));
        if (stiff && fabs(f->R[j]) * scale > f->l1[j]) scale = f->l1[j] / fabs(f->R[j]);
    }
    for (long j = 0; j < f->m; j++) {
        double excess = scale * fabs(f->R[j]) - f->l1[j], end = f->R[j] > 0 ? f->upper[j] : -f->lower[j];
        if (excess <= 0) continue;
        double a = f->l2[j] > 0 ? excess / f->l2[j] : INFINITY;
        a = a < end ? a : end;
        if (!isinf(a)) conjugate += excess * a - 0.5 * f->l2[j] * a * a;
    }
    f->J = value + penalty(f, f->a);
    double bound = dual(f, scale) - conjugate;
    f->gap = fmax(f->J - (bound > f->least ? bound : f->least), 0.0);
}

/* Move the intercept to where its slope is nothing; hands back Σ s ℓ there. */
static double settle(Fit *f)
{
    double value = losses(f, f->z, f->v, f->h), size = INFINITY;
    for (int k = 0; f->intercept && k < 60; k++) {
        double g = dot(f->s, f->v, f->n), corner = dot(f->s, f->h, f->n), last = size;
        size = fabs(g);
        if (size <= 1e-15 || (size <= 1e-12 && size > 0.5 * last)) break;
        /* far from the minimum a Newton step overshoots; the logistic's own scale limits it */
        double step = corner > 0 ? fmax(-2.0, fmin(2.0, g / corner)) : 0.0;
        *f->b -= step;
        for (long i = 0; i < f->n; i++) f->z[i] -= step;
        value = losses(f, f->z, f->v, f->h);
    }
    return value;
}

/* How much the slopes of the model may be off: see SetSolver._still.  G is the gradient of the smooth part. */
static double stillness(const Fit *f, const double *G, double tol)
{
    double least = INFINITY, off = 0;
    for (long j = 0; j < f->m; j++) {
        double a = f->a[j];
        int live = (a != 0 || f->l1[j] == 0) && f->lower[j] < a && a < f->upper[j];
        off = fmax(off, live ? fabs(G[j] + (a > 0 ? f->l1[j] : a < 0 ? -f->l1[j] : 0)) : fabs(G[j]) - f->l1[j]);
        if (f->l1[j] > 0) least = fmin(least, f->l1[j]);
    }
    if (isinf(least)) least = 1;
    double rough = ROUGH * fmax(f->gap / fmax(fabs(f->J), 1e-300), tol) * least;
    return tol == 0 ? EXACT * least : fmax(fmin(rough, PROGRESS * off), EXACT * least);
}

/* One step that gets J down; `reached`: whether the model was minimised.  H: its matrix, or NULL. */
static enum status step(Fit *f, const double *H, int halvings, double tol, Plan plan, int *reached)
{
    double *E = f->rows[1], *z = f->rows[2], *w = f->rows[3];
    double *G = f->coordinates[0], *to = f->coordinates[1], *D = f->coordinates[2];
    for (long j = 0; j < f->m; j++) G[j] = f->l2[j] * f->a[j] - f->R[j], to[j] = f->a[j];
    plan.still = stillness(f, G, tol);
    for (long i = 0; i < f->n; i++) w[i] = f->s[i] * f->h[i];
    if (H) {
        memcpy(D, G, f->m * sizeof *D);
        *reached = descend_gram(f->m, H, to, D, f->l1, f->lower, f->upper, plan);
    } else
        *reached = descend_columns(&f->X, f->m, w, f->intercept, to, G, f->l1, f->l2, f->lower, f->upper, f->work, plan);
    double model = 0, moved = 0;
    memset(E, 0, f->n * sizeof *E);
    for (long j = 0; j < f->m; j++) {
        D[j] = to[j] - f->a[j];
        if (D[j] == 0) continue;
        model += G[j] * D[j] + f->l1[j] * (fabs(to[j]) - fabs(f->a[j]));
        moved = fmax(moved, fabs(D[j]));
        column_add(&f->X, j, D[j], NULL, E);
    }
    if (moved == 0) return STUCK;
    double b = f->intercept && f->corner > 0 ? -(f->g0 + dot(w, E, f->n)) / f->corner : 0.0;
    /* so near to the end the rounding of J decides nothing */
    double slack = f->gap <= 1e-9 * fabs(f->J) ? 1e-13 * fabs(f->J) + 1e-14 : 1e-15 * fabs(f->J);
    double t = 1;
    for (int k = 0; k < halvings; k++, t *= 0.5) {
        for (long j = 0; t < 1 && j < f->m; j++) to[j] = f->a[j] + t * D[j]; /* at t = 1 zeros and bounds are exact */
        for (long i = 0; i < f->n; i++) z[i] = f->z[i] + t * (E[i] + b);
        double value = losses(f, z, f->v, f->h), J = value + penalty(f, to);
        if (!(f->J + 1e-4 * t * fmin(model, 0.0) + slack >= J)) continue;
        memcpy(f->a, to, f->m * sizeof *to);
        memcpy(f->z, z, f->n * sizeof *z);
        *f->b += t * b;
        prove(f, value);
        return DONE;
    }
    prove(f, losses(f, f->z, f->v, f->h));
    return STUCK;
}

/* Steps, from where the intercept has settled if so wanted, until the gap is ≤ tol·|J| (`least_steps` of them in any case), or one leaves more than `share` of it for want of
   sweeps or of a matrix H of this point. */
static enum status minimize(Fit *f, const double *H, int fresh, int settled, double tol, double share, long least_steps,
                            long *steps, Plan plan)
{
    long most = *steps;
    int reached = 0;
    prove(f, settled ? settle(f) : losses(f, f->z, f->v, f->h));
    for (*steps = 0; *steps < most; ++*steps) {
        if (tol > 0 && f->gap <= tol * fabs(f->J) && *steps >= least_steps) return DONE; /* 0: to the last digits */
        double before = f->gap;
        enum status found = step(f, H, H && !(fresh && *steps == 0) ? 2 : HALVINGS, tol, plan, &reached);
        if (found != DONE) return found;
        if (f->gap <= share * before || f->gap <= tol * fabs(f->J)) continue;
        if (H || !reached) {
            ++*steps;
            return reached ? STALE : UNFINISHED;
        }
    }
    return f->gap <= tol * fabs(f->J) || (tol == 0 && reached) ? DONE : UNFINISHED;
}

/* minimize_columns((x, row, start), (t, s, offset), (l1, l2, lower, upper), (a, b, z), (v, h, R), work, H, (kind,
   intercept, fresh, settled), (margin, least, tol, share), (steps, least steps, rounds, sweeps)): (status, steps, J, gap, g0,
   corner); a, b, z, v, h, R are written. */
PyObject *kernel_minimize_columns(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *ox, *orow, *ostart, *ot, *os, *ooffset, *o1, *o2, *olow, *oup, *oa, *ob, *oz, *ov, *oh, *oR, *owork, *oH;
    Fit f;
    Plan plan;
    int fresh, settled;
    double tol, share;
    long steps, least_steps;
    memset(&f, 0, sizeof f);
    if (!PyArg_ParseTuple(args, "(OOO)(OOO)(OOOO)(OOO)(OOO)OO(ippp)(dddd)(llll)", &ox, &orow, &ostart, &ot, &os,
                          &ooffset, &o1, &o2, &olow, &oup, &oa, &ob, &oz, &ov, &oh, &oR, &owork, &oH, &f.kind,
                          &f.intercept, &fresh, &settled, &f.margin, &f.least, &tol, &share, &steps, &least_steps, &plan.rounds,
                          &plan.sweeps))
        return NULL;
    Buffers held = {0};
    f.t = float64_in(&held, ot, "t", ANY_LENGTH), f.l1 = float64_in(&held, o1, "l1", ANY_LENGTH);
    long n = f.n = held.failed ? 0 : (long)length_of(&held.views[0]);
    long m = f.m = held.failed ? 0 : (long)length_of(&held.views[1]);
    f.X = columns_of(&held, ox, orow, ostart, n, m);
    f.s = float64_in(&held, os, "s", n);
    if (ooffset != Py_None) f.offset = float64_in(&held, ooffset, "offset", n);
    f.l2 = float64_in(&held, o2, "l2", m);
    f.lower = float64_in(&held, olow, "lower", m), f.upper = float64_in(&held, oup, "upper", m);
    f.a = float64_out(&held, oa, "a", m), f.b = float64_out(&held, ob, "b", 1), f.z = float64_out(&held, oz, "z", n);
    f.v = float64_out(&held, ov, "v", n), f.h = float64_out(&held, oh, "h", n), f.R = float64_out(&held, oR, "R", m);
    f.work = float64_out(&held, owork, "work", 5 * n + 6 * m);
    const double *H = oH == Py_None ? NULL : float64_in(&held, oH, "H", m * m);
    if (held.failed) return release(&held);
    for (int k = 0; k < 4; k++) f.rows[k] = f.work + n + 3 * m + k * n;
    for (int k = 0; k < 3; k++) f.coordinates[k] = f.work + 5 * n + 3 * m + k * m;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = minimize(&f, H, fresh, settled, tol, share, least_steps, &steps, plan);
    Py_END_ALLOW_THREADS
    release(&held);
    return Py_BuildValue("(ildddd)", status, steps, f.J, f.gap, f.g0, f.corner);
}
