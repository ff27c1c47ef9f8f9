/* Sparse fits of one output, at one λ or along a path of them, each begun where the last one ended and with its gap.

       J(b, a) = Σ s ℓ(t, z) + λ Σ_g [l₁‖a_g‖ + ½ l₂‖a_g‖²],        z = offset + b + X a,        lower ≤ a ≤ upper

   *Working set.*  Steps see few columns; optimize/working_set.py says how they are chosen and how the slopes of all
   others are bounded without a pass over them.  Bounds of weights go with groups of one.

   *Step.*  The model of J about z has the curvature s h of some earlier point, as long as that leads on: its matrix M,
   the intercept eliminated, is kept and grows with the working set.  It is minimised by coordinate descent, with Newton
   steps on the weights that are not zero where sweeps are slow.  Of one fit it has no M while columns are missing, since
   few sweeps show what must enter, nor as long as sweeps along the columns arrive for less than M would cost (5000×500,
   one L1 fit: 12 ms in place of 16; groups of five 16 in place of 30).

   *Gap.*  Where the model is minimised, at a + d with scores z + e, its own slopes u = v + h e are a point of the dual:
   Σ s u = 0, and −Xᵗ s u is where the penalty holds the weights back (but for what the descent left, which a factor
   τ ≤ 1 takes away).  J − min J ≤ J + Σ s ℓ*(τu) − … is of fourth order in e, where slopes at z + e give the second. */
#include "sparse.h"

#define FIRST 50 /* groups in the first working set */
#define SHARE 0.1 /* of the gap over all columns that may be left on the working set before others are looked at */
#define ROUGH 0.3 /* of the gap wanted: how far off the slopes of the model may be */
#define PROGRESS 0.05 /* of what they are off now */
#define EXACT 1e-15 /* of the least l₁: how still they stand in the last steps of a fit to all digits */
#define ALL_DIGITS 1e-8 /* tol up to which that is asked for; above, as many digits as tol says and two more */
#define STANDING 0.1 /* of tol: relative steps so short leave far less */
#define LITTLE 128 /* dense columns whose M costs less than sweeps: 20,000×100 takes 14 ms, elastic net, and with 96 16 */
#define TINY 1e-200
#define SETTLED 1e-4 /* of tol: the slope that an intercept may be left with */
#define MOST_STEPS 1000 /* these guard against a loop */
#define PATIENCE 50
#define MOST_ROUNDS 200
#define HALVINGS 10
#define LAST_STEPS 12
#define MOST_SPARE 32000000 /* bytes of it that stay in memory */

/* Work space: a fit leaves its own to the next one, since fresh pages take as long as a pass over what lies in them (one
   L1 fit of 10,000×20: 0.8 of 2.7 ms). */
static void *spare; /* its size first */

static char *take(size_t size)
{
    size_t *p = __atomic_exchange_n(&spare, NULL, __ATOMIC_ACQ_REL);
    if (p && *p >= size) return (char *)p;
    free(p);
    if ((p = malloc(size))) *p = size;
    return (char *)p;
}

static void give_back(char *p, size_t touched)
{
    free(touched <= MOST_SPARE ? __atomic_exchange_n(&spare, p, __ATOMIC_ACQ_REL) : (void *)p);
}

/* The next `count` × `size` bytes of the work space, in whole lines of the cache; NULL while they are only added up. */
static void *part(char *memory, size_t *used, size_t count, size_t size)
{
    void *p = memory ? memory + *used : NULL;
    *used += (count * size + 127) / 64 * 64;
    return p;
}

/* Lay the work space out, of which no more than what must be zero is touched; hands back its size. */
static size_t lay_out(Path *f, char *memory)
{
    long n = f->n, d = f->d, G = f->n_groups, squares = 0, widest = 1;
    for (long u = 0; u < G; u++) {
        long p = f->starts[u + 1] - f->starts[u];
        squares += p == 1 ? TILE : p <= MOST_EIGEN ? p * p : 0, widest = p > widest ? p : widest;
    }
    f->wide = widest > MOST_EIGEN;
    double **by_row[] = {&f->z, &f->dual, &f->v, &f->h, &f->zt, &f->vt, &f->ht, &f->e, &f->sv, &f->scratch, &f->hm, &f->w};
    double **by_column[] = {&f->a, &f->g, &f->to, &f->R, &f->R_dual, &f->low, &f->up, &f->L1, &f->L2, &f->delta, &f->change,
                            &f->B, &f->way, &f->slope, &f->eigen, &f->near_R, &f->a_before};
    long **counts[] = {&f->group, &f->first, &f->feature, &f->support, &f->corner_of_Q, &f->factor_of};
    int norms = !f->norms && !f->by_row.row && (f->all.row || f->several), dense = f->rows || (f->all.x && !f->all.row);
    size_t used = 64;
    for (size_t i = 0; i < sizeof by_column / sizeof *by_column; i++) *by_column[i] = part(memory, &used, d + 1, sizeof(double));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) *counts[i] = part(memory, &used, d + 2, sizeof(long));
    f->inside = part(memory, &used, G, 1);
    f->start_own = part(memory, &used, d + 1, sizeof *f->start_own);
    for (size_t i = 0; i < sizeof by_row / sizeof *by_row; i++) {
        if (i == 2 && memory) memset(memory + 64, 0, used - 64); /* all so far */
        *by_row[i] = part(memory, &used, n, sizeof(double));
    }
    for (int i = 0; i < PASSES; i++) f->seen_v[i] = part(memory, &used, n, sizeof(double));
    for (int i = 0; i < PASSES; i++) f->seen_R[i] = part(memory, &used, d, sizeof(double));
    f->own_norms = norms ? part(memory, &used, 2 * d, sizeof(double)) : NULL;
    f->pairs = part(memory, &used, G, sizeof *f->pairs);
    f->work = part(memory, &used, n + 3 * d + 2 * widest, sizeof(double));
    f->strip = part(memory, &used, STRIP * BAND, sizeof(double));
    f->Q = part(memory, &used, squares, sizeof(double)), f->block = part(memory, &used, squares, sizeof(double));
    f->x_held = part(memory, &used, dense ? n * d : 0, sizeof(double));
    if (dense) f->x_own = f->x_held, f->room = d;
    return used;
}

/* The length of every column, about its mean where there is an intercept. */
static void column_norms(Path *f)
{
    double *squares = f->own_norms, *means = squares + f->d;
    if (f->all.row)
        for (long j = 0; j < f->d; j++) column_moments(&f->all, j, f->s, squares + j, means + j);
    else sparse_dense_moments(f, f->s, means, squares);
    for (long j = 0; j < f->d; j++) {
        double centred = f->intercept ? fmax(squares[j] - means[j] * means[j], 0) + 1e-14 * squares[j] : squares[j];
        squares[j] = sqrt(centred);
    }
    f->norms = squares;
}

static int compare_pairs(const void *x, const void *y)
{
    const Pair *p = x, *q = y;
    return p->value > q->value ? -1 : p->value < q->value ? 1 : p->index < q->index ? -1 : 1;
}

/* How far off the slopes of the model may be: the gap is of first order in what they exceed an l₁ by, or, where there is
   an l₂, of second: excess²/2l₂. */
static double stillness(const Path *f, double goal, double exact)
{
    double least = INFINITY, rough = INFINITY, off = 0;
    for (long k = 0; k < f->k; k++) {
        long j = f->first[k], p = f->first[k + 1] - j;
        double a = f->a[j], second = sqrt(2 * ROUGH * goal * fabs(f->J) * f->L2[k] / f->m);
        int live = p == 1 && (a != 0 || f->L1[k] == 0) && f->low[j] < a && a < f->up[j];
        off = fmax(off, live ? fabs(f->g[j] + (a > 0 ? f->L1[k] : a < 0 ? -f->L1[k] : 0)) : length(f->g + j, p) - f->L1[k]);
        if (f->L1[k] > 0) least = fmin(least, f->L1[k]), rough = fmin(rough, fmax(ROUGH * goal * f->L1[k], second));
    }
    if (isinf(least)) least = 1, rough = ROUGH * goal;
    if (exact) return exact * least;
    /* while columns are missing, and of one fit that is far from its end, nothing is proved yet: L1 on the words of 5,574
       messages takes 26 ms in place of 33; at every gap 5,574×8,000, 15 a row, takes 1.15 times as long */
    if (f->growing || (!f->several && isfinite(f->gap) && f->gap > 0.3 * fabs(f->J))) rough = INFINITY;
    return fmax(fmin(rough, PROGRESS * off), EXACT * least);
}

/* Take u, with slopes R, for the dual point if its bound is better than what is known and than `least`. */
static int propose(Path *f, const double *u, double least)
{
    for (long k = 0; k < f->k; k++) { /* weights that nothing holds and that still move may be on their way to infinity */
        long j = f->first[k];
        if (f->L1[k] > 0 || f->L2[k] > 0 || (isfinite(f->low[j]) && isfinite(f->up[j]))) continue;
        for (; j < f->first[k + 1]; j++)
            if (fabs(f->to[j] - f->a[j]) > 0.01 * (1 + fabs(f->a[j]))) return 0;
    }
    double bound = sparse_bound_of(f, u, f->R, NULL, 0);
    if (!(bound > f->bound || (f->bound <= f->least && bound > least))) return 0;
    f->bound = fmax(bound, f->least);
    memcpy(f->dual, u, f->n * sizeof *u);
    memcpy(f->R_dual, f->R, f->m * sizeof *f->R);
    return 1;
}

/* R = −Xᵗ s u on the working set. */
static void slopes_of(Path *f, const double *u)
{
    for (long i = 0; i < f->n; i++) f->zt[i] = -f->s[i] * u[i];
    columns_dot(&f->X, 0, f->m, f->zt, f->R);
}

/* Whether M is to be formed anew: it costs less than the steps that are left at the rate of the last one.  In
   multiplications: a step goes twice down its columns, sweeps over M and takes losses; tiles of M are four times as fast
   as that where columns are dense, and entries of sparse ones twice as slow (1000×180: 6 steps; 5000×20: half a one).
   At four times that price 20,000×100 takes 1.3 to 1.5 times as long; at a quarter, the same. */
static int outdated(const Path *f, double before, double goal)
{
    double m = f->m, entries = f->X.row ? (double)f->start_own[f->m] / m : (double)f->n, wanted = goal * fabs(f->J);
    double price = m * m * entries * (f->X.row ? 0.5 : 0.125) / (2 * m * entries + 10 * m * m + 60.0 * f->n);
    if (f->gap <= wanted) return 0;
    return !(f->gap < 0.9 * before) || log(wanted / f->gap) / log(f->gap / before) > price + 1;
}

/* Move to `to`, with scores and what the loss says of them in zt, vt and ht. */
static void accept(Path *f, double b, double value)
{
    double *z = f->z, *v = f->v, *h = f->h, *a = f->a;
    f->z = f->zt, f->v = f->vt, f->h = f->ht, f->a = f->to;
    f->zt = z, f->vt = v, f->ht = h, f->to = a;
    f->b += b, f->value = value, f->known = 0;
}

/* One step that gets J down, and the bound of min J on the working set up; 0 where there is none. */
static int step(Path *f, double goal, double exact)
{
    long n = f->n, m = f->m;
    /* sweeps are tried first where M is dearer than some */
    int dear = f->X.row ? m > f->sparse_gram : !f->several && m > (f->growing ? LITTLE / 2 : LITTLE);
    if (exact == EXACT && !f->X.row && m <= f->most_cholesky) dear = 0;
    int matrix = f->wide || (m <= f->most_gram && (f->matrix || !dear));
    f->matrix |= matrix && !f->growing && !f->X.row; /* what it has grows at little cost */
    int fresh = f->stale || !matrix;
    double least = INFINITY; /* weight of a row */
    if (fresh) {
        memcpy(f->hm, f->h, n * sizeof *f->hm);
        for (long i = 0; i < n; i++) f->w[i] = f->s[i] * f->h[i];
        f->corner = 0;
        for (long i = 0; i < n; i++) f->corner += f->w[i], least = fmin(least, f->w[i]);
        f->formed = f->factored = 0, f->stale = !matrix;
    }
    f->steps++;
    double before = f->gap, g0 = f->intercept ? dot(f->s, f->v, n) : 0, shift = f->corner > 0 ? g0 / f->corner : 0, *u = f->sv;
    for (long i = 0; i < n; i++) u[i] = f->s[i] * f->v[i] - shift * f->w[i];
    long known = fresh ? f->known : 0;
    f->known = 0;
    for (long j = 0; j < known; j++) f->g[j] = -f->R[j];
    columns_dot(&f->X, known, m - known, u, f->g + known);
    for (long k = 0; k < f->k; k++)
        for (long j = f->first[k]; j < f->first[k + 1]; j++) f->g[j] += f->L2[k] * f->a[j];
    if (!f->growing) sparse_leave(f, fresh);
    m = f->m;
    f->held = matrix;
    if (matrix) sparse_form(f);
    else sparse_form_blocks(f);
    if (f->failed) return 0;
    memcpy(f->to, f->a, m * sizeof *f->a);
    memcpy(f->slope, f->g, m * sizeof *f->g);
    double still = stillness(f, goal, exact);
    if (matrix) sparse_minimize_model(f, still, exact ? still / exact : 0.0);
    else {
        long worth = 1 + m / (f->X.row ? 25 : 100); /* rounds at the price of M: tiles are quicker, sparse products slower */
        Plan plan = exact ? (Plan){50, 10, still} : f->growing ? (Plan){1, 2, still} : (Plan){worth, 6, still};
        int reached = sparse_descend(f, plan);
        f->matrix |= !reached && !f->growing && m <= f->most_cholesky; /* sweeps are slow here */
    }
    double model = f->intercept ? -g0 * shift : 0, moved = 0, *e = f->e;
    for (long j = 0; j < m; j++) {
        double d = f->delta[j] = f->to[j] - f->a[j];
        model += f->slope[j] * d;
        moved = fmax(moved, fabs(d));
    }
    if (!matrix && least > TINY)
        for (long i = 0; i < n; i++) e[i] = f->zt[i] / f->w[i]; /* r = w ∘ X(to − a) */
    else {
        memset(e, 0, n * sizeof *e);
        columns_add(&f->X, 0, m, f->delta, NULL, e);
    }
    model += sparse_kinks(f, f->to) - sparse_kinks(f, f->a);
    double b = f->intercept && f->corner > 0 ? -(g0 + dot(f->w, e, n)) / f->corner : 0;
    for (long i = 0; i < n; i++) e[i] += b;
    for (long i = 0; i < n; i++) u[i] = f->v[i] + f->hm[i] * e[i];
    if (matrix)
        for (long k = 0; k < f->k; k++)
            for (long j = f->first[k]; j < f->first[k + 1]; j++) f->R[j] = f->L2[k] * f->to[j] - f->g[j];
    else if (!f->growing) slopes_of(f, u);
    int told = (matrix || !f->growing) && propose(f, u, f->least);
    f->gap = fmax(f->J - f->bound, 0.0);
    f->moved = moved;
    if (moved == 0 && fabs(g0) <= 1e-15) return 0;
    /* so near to the end the rounding of J decides nothing */
    double slack = f->gap <= 1e-9 * fabs(f->J) ? 1e-13 * fabs(f->J) + 1e-14 : 1e-15 * fabs(f->J), t = 1;
    for (int k = 0; k < (fresh ? HALVINGS : 2); k++, t *= 0.5) {
        for (long j = 0; t < 1 && j < m; j++) f->to[j] = f->a[j] + 0.5 * (f->to[j] - f->a[j]); /* at t = 1 zeros are exact */
        for (long i = 0; i < n; i++) f->zt[i] = f->z[i] + t * e[i];
        double value = sparse_losses(f, f->zt, f->vt, f->ht), J = value + sparse_penalty(f, f->to);
        if (!(f->J + 1e-4 * t * fmin(model, 0.0) + slack >= J)) continue;
        accept(f, t * b, value);
        f->J = J;
        if (!told) { /* the model's slopes are none of the loss: those of the new point */
            double sum = f->intercept ? dot(f->s, f->v, n) : 0, corner = dot(f->s, f->h, n), by = corner > 0 ? sum / corner : 0;
            for (long i = 0; i < n; i++) u[i] = f->v[i] - by * f->h[i];
            slopes_of(f, u);
            f->known = m;
            propose(f, u, f->bound <= f->least ? -INFINITY : f->least);
        }
        f->gap = fmax(J - f->bound, 0.0);
        f->stale |= !f->growing && outdated(f, before, goal);
        return 1;
    }
    if (fresh) return 0;
    f->stale = 1;
    return step(f, goal, exact);
}

/* Steps until the gap on the working set is ≤ goal·|J|. */
static void minimize(Path *f, double goal)
{
    double patience = INFINITY;
    int stuck = 0;
    if (!f->m && (!f->intercept || fabs(dot(f->s, f->v, f->n)) <= 1e-14)) { /* the slopes that the last pass saw */
        memcpy(f->dual, f->v, f->n * sizeof *f->v);
        f->bound = fmax(f->bound, sparse_dual_value(f, f->dual, 1.0));
        f->gap = fmax(f->J - f->bound, 0.0);
        return;
    }
    for (long k = 0; k < MOST_STEPS && stuck < 4 && !f->failed; k++) {
        if (f->gap <= goal * fabs(f->J)) return;
        if (k % PATIENCE == PATIENCE - 1) { /* weights without a penalty may be on their way to infinity */
            if (f->gap > 0.5 * patience) return;
            patience = f->gap;
        }
        double J = f->J, gap = f->gap;
        if (!step(f, goal, 0.0) || f->growing) return;
        stuck = f->J >= J * (1 - 1e-15) && f->gap > 0.7 * gap ? stuck + 1 : 0;
    }
}

/* How many of so many violators enter: as many as there are, and twice that where nearly all of these are needed. */
static long fewer(const Path *f, long count)
{
    long used = 0;
    for (long k = 0; k < f->k; k++) used += f->a[f->first[k]] != 0;
    long most = 10 * used > 7 * f->k ? 2 * f->k : f->k;
    most = most > FIRST ? most : FIRST;
    return count < most ? count : most;
}

/* Look beyond the working set: the bound of min J over all columns; hands back how many groups entered that must. */
static long check(Path *f)
{
    long count = 0;
    for (int turn = 0; f->k < f->n_groups && turn < 2 && !f->failed; turn++) {
        if (!f->seen || (!f->norms && turn)) sparse_pass(f, f->dual);
        double far = sparse_near(f, f->dual);
        if (far > 0 && !f->norms) {
            sparse_pass(f, f->dual);
            far = sparse_near(f, f->dual);
        }
        count = sparse_violators(f, f->strength, far);
        if (count == 0) break;
        if (far > 0 && count * 40 > f->n_groups + 120) {
            sparse_pass(f, f->dual);
            continue;
        }
        if (far > 0) { /* a few that could violate: they enter, and their slopes are taken */
            long k = f->k, m = f->m;
            sparse_enter(f, count);
            for (long i = 0; i < f->n; i++) f->e[i] = -f->s[i] * f->dual[i];
            if (!f->failed) columns_dot(&f->X, m, f->m - m, f->e, f->R_dual + m);
            for (count = 0; k < f->k; k++)
                count += length(f->R_dual + f->first[k], f->first[k + 1] - f->first[k]) > f->L1[k];
            if (count) f->bound = fmax(sparse_bound_of(f, f->dual, f->R_dual, NULL, 0), f->least);
        } else {
            f->bound = fmax(sparse_bound_of(f, f->dual, f->R_dual, f->pairs, count), f->least);
            qsort(f->pairs, count, sizeof *f->pairs, compare_pairs);
            sparse_enter(f, fewer(f, count));
        }
        break;
    }
    f->proved = fmax(f->proved, f->bound);
    f->gap = fmax(f->J - f->proved, 0.0);
    return count;
}

/* Move the intercept to where its slope is no more than `least`. */
static void settle(Path *f, double least)
{
    double size = INFINITY;
    for (int k = 0; f->intercept && k < 60; k++) {
        double g = dot(f->s, f->v, f->n), corner = dot(f->s, f->h, f->n), last = size;
        size = fabs(g);
        if (size <= least || (size <= 1e-12 && size > 0.5 * last)) break;
        /* far from the minimum a Newton step overshoots; the logistic's own scale limits it */
        double by = corner > 0 ? fmax(-2.0, fmin(2.0, g / corner)) : 0.0;
        f->b -= by, f->known = 0;
        for (long i = 0; i < f->n; i++) f->z[i] -= by;
        f->value = sparse_losses(f, f->z, f->v, f->h);
    }
}

/* Stand at this λ, with nothing proved. */
static void stand(Path *f, double strength)
{
    f->strength = strength;
    sparse_levels(f);
    f->J = f->value + sparse_penalty(f, f->a);
    f->bound = f->proved = f->least;
    f->gap = INFINITY;
    memset(f->dual, 0, f->n * sizeof *f->dual);
    memset(f->R_dual, 0, f->d * sizeof *f->R_dual);
}

/* The intercept and what is not penalised at all; hands back λ_max, the least λ at which nothing else enters. */
static double begin(Path *f)
{
    long count = 0;
    f->smooth = 1;
    for (long u = 0; u < f->n_groups; u++) {
        int open_ended = f->l1[u] == 0 && f->l2[u] == 0;
        f->smooth &= f->l1[u] == 0;
        for (long i = f->starts[u]; i < f->starts[u + 1]; i++)
            open_ended &= isinf(f->lower[f->order[i]]) && isinf(f->upper[f->order[i]]);
        if (open_ended) f->pairs[count++] = (Pair){0, u};
    }
    sparse_enter(f, count);
    double p = f->intercept && f->kind == LOGISTIC && !f->offset ? dot(f->s, f->t, f->n) : 0.5;
    if (0 < p && p < 1) f->b = log(p / (1 - p)); /* the same score in every row: its posterior is the share of class 1 */
    for (long i = 0; i < f->n; i++) f->z[i] += f->b;
    f->value = sparse_losses(f, f->z, f->v, f->h);
    settle(f, 1e-15);
    stand(f, 1.0);
    if (count && !f->failed) minimize(f, 1e-10);
    else memcpy(f->dual, f->v, f->n * sizeof *f->v);
    sparse_pass(f, f->dual);
    memcpy(f->near_R, f->seen_R[0], f->d * sizeof(double));
    f->strength = INFINITY; /* the λ that these answer */
    double largest = 0;
    for (long u = 0; u < f->n_groups; u++)
        if (f->l1[u] > 0) largest = fmax(largest, sparse_violation(f, u, 0.0, 0.0) / f->l1[u]);
    return largest;
}

/* To the next λ, where the last two answers lead: weights that are not zero go on nearly straight. */
static void go_on(Path *f, double strength)
{
    double fall = f->strength_before - f->strength, t = fall > 0 ? fmax(f->strength - strength, 0) / fall : 0, b = f->b;
    f->strength_before = f->strength, f->strength = strength;
    sparse_levels(f);
    for (long j = 0; j < f->m; j++) {
        double a = f->a[j], before = f->a_before[f->feature[j]], to = clamp(a + t * (a - before), f->low[j], f->up[j]);
        f->to[j] = a == 0 || before == 0 || to * a < 0 ? a : to;
        f->delta[j] = f->to[j] - a;
    }
    memset(f->a_before, 0, f->d * sizeof *f->a_before);
    for (long j = 0; j < f->m; j++) f->a_before[f->feature[j]] = f->a[j];
    double by = t * (b - f->b_before), here = f->value + sparse_penalty(f, f->a);
    f->b_before = b;
    if (t == 0) return;
    for (long i = 0; i < f->n; i++) f->zt[i] = f->z[i] + by;
    columns_add(&f->X, 0, f->m, f->delta, NULL, f->zt);
    double value = sparse_losses(f, f->zt, f->vt, f->ht);
    if (value + sparse_penalty(f, f->to) < here) accept(f, by, value);
}

/* One λ: until the gap over all columns is ≤ tol·|J|; `exact`: to the last digits. */
static void solve(Path *f, double strength, double previous, double tol, int exact, int first, double *records, long *rounds)
{
    if (f->several) go_on(f, strength);
    if (f->seen && f->k < f->n_groups) { /* the strong rule: a slope can hardly have grown by more than its l₁ fell */
        sparse_near(f, f->dual);
        long count = sparse_violators(f, fmax(2 * strength - previous, 0.5 * strength), 0.0), most = fewer(f, count);
        qsort(f->pairs, count, sizeof *f->pairs, compare_pairs);
        long many = count / 4 < f->n / 4 ? count / 4 : f->n / 4; /* no more than rows can be in the support */
        sparse_enter(f, f->smooth ? count : first && most < many ? many : most);
    }
    stand(f, strength);
    f->growing = first && f->k < f->n_groups;
    double left = INFINITY, goal = f->growing ? fmax(0.9 * tol, SHARE) : 0.9 * tol;
    for (long round = 0; round < MOST_ROUNDS && !f->failed; round++) {
        minimize(f, goal);
        long missing = check(f);
        double before = left;
        left = f->gap / fmax(fabs(f->J), 1e-300);
        if (records) {
            double *record = records + 5 * *rounds;
            record[0] = f->steps, record[1] = f->J, record[2] = f->gap, record[3] = strength, record[4] = f->passes;
            ++*rounds;
        }
        if (left <= tol || (missing == 0 && !f->growing && (goal <= 0.9 * tol || left > 0.9 * before))) break;
        goal = fmax(0.9 * tol, SHARE * left);
        if (f->growing && 10 * missing < f->k) f->growing = 0, f->stale = 1;
    }
    f->growing = 0;
    double last = INFINITY;
    for (int k = 0; exact && f->m && k < LAST_STEPS && !f->failed; k++) {
        double J = f->J, size = 0;
        f->stale |= k == 0;
        if (!step(f, 0.0, tol > ALL_DIGITS ? 0.01 * tol : EXACT) || f->J > J + 1e-12 * fabs(J)) break;
        for (long j = 0; j < f->m; j++) size = fmax(size, fabs(f->a[j]));
        f->stale = f->moved > 0.1 * last;
        last = f->moved;
        if (last <= fmin(1e-5, STANDING * tol) * size) break;
    }
    if (exact) check(f);
    settle(f, exact ? 1e-15 : SETTLED * tol);
    f->J = f->value + sparse_penalty(f, f->a);
    f->gap = fmax(f->J - f->proved, 0.0);
}

/* solve_path((x, row, start, center, by row) or None, (look, gather, v, R, features), (t, s, offset), (l1, l2, lower, upper, order,
   starts, norms, unit), (kind, intercept, exact), (margin, tol), (sparse gram, most gram, most cholesky), strengths,
   (a, b) or None, (weights, numbers, records)): (λ_max, passes, rounds).

   weights (L, 1 + d) get intercepts and weights in the user's units, numbers (3, L) J, gaps and steps, records (·, 5)
   what each round of the last λ found: steps, J, gap, λ and passes. */
PyObject *kernel_solve_path(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *ocolumns, *orows[3], *open[8], *ov, *oR, *ofeatures, *ostrengths, *ostart, *oweights, *onumbers, *orecords;
    Path f;
    int exact;
    double tol;
    memset(&f, 0, sizeof f);
    if (!PyArg_ParseTuple(args, "O(OOOOO)(OOO)(OOOOOOOO)(ipp)(dd)(lll)OO(OOO)", &ocolumns, &f.ask_look, &f.ask_gather, &ov, &oR,
                          &ofeatures, &orows[0], &orows[1], &orows[2], &open[0], &open[1], &open[2], &open[3], &open[4],
                          &open[5], &open[6], &open[7], &f.kind, &f.intercept, &exact, &f.margin, &tol,
                          &f.sparse_gram, &f.most_gram, &f.most_cholesky, &ostrengths, &ostart, &oweights, &onumbers, &orecords))
        return NULL;
    Buffers held = {0};
    f.t = float64_in(&held, orows[0], "t", ANY_LENGTH), f.lower = float64_in(&held, open[2], "lower", ANY_LENGTH);
    f.l1 = float64_in(&held, open[0], "l1", ANY_LENGTH);
    const double *strengths = float64_in(&held, ostrengths, "strengths", ANY_LENGTH);
    double *records = float64_out(&held, orecords, "records", ANY_LENGTH);
    if (held.failed) return release(&held);
    long n = f.n = (long)length_of(&held.views[0]), d = f.d = (long)length_of(&held.views[1]);
    long G = f.n_groups = (long)length_of(&held.views[2]), L = (long)length_of(&held.views[3]);
    if (length_of(&held.views[4]) < 5 * (MOST_ROUNDS + 1)) {
        PyErr_SetString(PyExc_ValueError, "records must hold MOST_ROUNDS + 1 rows of 5.");
        return release(&held);
    }
    f.s = float64_in(&held, orows[1], "s", n);
    if (orows[2] != Py_None) f.offset = float64_in(&held, orows[2], "offset", n);
    f.l2 = float64_in(&held, open[1], "l2", G), f.upper = float64_in(&held, open[3], "upper", d);
    f.order = int64_in(&held, open[4], "order", d), f.starts = int64_in(&held, open[5], "starts", G + 1);
    if (open[6] != Py_None) f.norms = float64_in(&held, open[6], "norms", d);
    f.unit = float64_in(&held, open[7], "unit", d);
    double *weights = float64_out(&held, oweights, "weights", L * (1 + d)), *numbers = float64_out(&held, onumbers, "numbers", 3 * L);
    const double *a = NULL, *b = NULL;
    if (ostart != Py_None) {
        PyObject *oa, *ob;
        if (!PyArg_ParseTuple(ostart, "OO", &oa, &ob)) held.failed = 1;
        a = float64_in(&held, oa, "a", d), b = float64_in(&held, ob, "b", 1);
    }
    f.all = f.X = (Columns){NULL, NULL, NULL, n};
    if (ocolumns != Py_None) {
        PyObject *ox, *orow, *ostarts, *ocenter;
        int by_row;
        if (!PyArg_ParseTuple(ocolumns, "OOOOp", &ox, &orow, &ostarts, &ocenter, &by_row)) held.failed = 1;
        else if (by_row) f.by_row = columns_of(&held, ox, orow, ostarts, d, n);
        else if (orow != Py_None) f.all = columns_of(&held, ox, orow, ostarts, n, d);
        else {
            const Py_buffer *view = hold(&held, ox, "x", PyBUF_ANY_CONTIGUOUS);
            if (view && (type_of(view) != FLOAT64 || length_of(view) != n * d)) {
                PyErr_Format(PyExc_ValueError, "x must hold %ld float64 numbers.", n * d);
                held.failed = 1;
            }
            if (view) *(PyBuffer_IsContiguous(view, 'C') ? &f.rows : &f.all.x) = view->buf;
            if (ocenter != Py_None) f.center = float64_in(&held, ocenter, "center", d);
        }
    } else {
        f.asked_v = float64_out(&held, ov, "v", n), f.asked_R = float64_out(&held, oR, "R", d);
        f.asked = int64_out(&held, ofeatures, "features", d);
    }
    for (long u = 0; !held.failed && u < G; u++) held.failed = f.starts[u] > f.starts[u + 1];
    if (held.failed) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "starts must not fall.");
        return release(&held);
    }
    f.several = L > 1, f.stale = 1;
    f.thread = PyEval_SaveThread();
    char *memory = take(lay_out(&f, NULL));
    double largest = 0;
    long rounds = 0;
    f.failed = !memory;
    if (!f.failed) {
        lay_out(&f, memory);
        for (long i = 0; f.offset && i < n; i++) f.z[i] = f.offset[i];
        if (f.own_norms) column_norms(&f);
        f.least = sparse_dual_value(&f, f.dual, 0.0);
        largest = begin(&f);
        if (a) {
            long count = 0;
            for (long u = 0; u < G; u++)
                for (long i = f.starts[u]; i < f.starts[u + 1]; i++)
                    if (a[f.order[i]] != 0) {
                        f.pairs[count++] = (Pair){0, u};
                        break;
                    }
            sparse_enter(&f, count);
            for (long i = 0; !f.failed && i < n; i++) f.z[i] = *b + (f.offset ? f.offset[i] : 0);
            f.b = *b;
            for (long j = 0; !f.failed && j < f.m; j++) {
                f.a[j] = a[f.feature[j]];
                if (f.a[j] != 0) column_add(&f.X, j, f.a[j], NULL, f.z);
            }
            if (!f.failed) f.value = sparse_losses(&f, f.z, f.v, f.h);
            f.stale = 1, f.known = 0;
        }
        for (long i = 0; i < L && !f.failed; i++) {
            long before = f.steps;
            rounds = 0;
            solve(&f, strengths[i], i ? strengths[i - 1] : a ? strengths[0] : fmax(strengths[0], 0.0), tol, exact, !i && !a, records, &rounds);
            double *out = weights + i * (1 + d);
            out[0] = f.b;
            for (long j = 0; j < f.m; j++)
                if (f.a[j] != 0) out[1 + f.feature[j]] = f.a[j] / f.unit[f.feature[j]];
            numbers[i] = f.J, numbers[L + i] = f.gap, numbers[2 * L + i] = f.steps - before;
        }
        give_back(memory, (char *)(f.x_held + f.most * n) - memory);
    }
    PyEval_RestoreThread(f.thread);
    void *own[] = {f.x_own == f.x_held ? NULL : f.x_own, f.count, f.row_own, f.M, f.factor};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) free(own[i]);
    release(&held);
    if (f.failed) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    return Py_BuildValue("(ddl)", largest, f.passes, rounds);
}
