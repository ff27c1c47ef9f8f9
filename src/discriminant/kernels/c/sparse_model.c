/* The quadratic model of a step: its matrix M with the intercept eliminated, and its minimum by coordinate descent, with
   Newton steps on the weights that are not zero where sweeps are slow. */
#include "sparse.h"

/* The model's matrix */

/* Σ over a strip of rows of y_i x_j, four by four. */
static void tile(const double *const y[TILE], const double *const x[TILE], long rows, double out[TILE][TILE])
{
    vec sum[TILE][TILE] = {{{0}}};
    long r = 0;
    for (; r + LANES <= rows; r += LANES)
        for (int i = 0; i < TILE; i++) {
            vec yi;
            memcpy(&yi, y[i] + r, sizeof yi);
            for (int j = 0; j < TILE; j++) {
                vec xj;
                memcpy(&xj, x[j] + r, sizeof xj);
                sum[i][j] += yi * xj;
            }
        }
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) {
            double tail = lanes_sum(sum[i][j]);
            for (long q = r; q < rows; q++) tail += y[i][q] * x[j][q];
            out[i][j] = tail;
        }
}

/* Eigenvalues and vectors (columns of Q) of a group's block, by Jacobi's rotations; of a large one a bound, Q the unit. */
static void decompose(Path *f, long k)
{
    long j = f->first[k], p = f->first[k + 1] - j;
    double *Q = f->Q + f->corner_of_Q[k], *H = f->block + f->corner_of_Q[k], *e = f->eigen + j;
    if (p == 1) return;
    if (p > MOST_EIGEN) {
        double top = 0;
        for (long i = 0; i < p; i++) {
            double row = 0;
            for (long c = 0; c < p; c++) row += fabs(f->M[(j + i) * f->stride + j + c]);
            top = fmax(top, row);
        }
        for (long i = 0; i < p; i++) e[i] = top;
        return;
    }
    double A[MOST_EIGEN * MOST_EIGEN], total = 0;
    for (long i = 0; i < p; i++)
        for (long c = 0; c < p; c++) {
            A[i * p + c] = H[i * p + c], Q[i * p + c] = i == c;
            total += A[i * p + c] * A[i * p + c];
        }
    for (int turn = 0; turn < 30; turn++) {
        double off = 0;
        for (long i = 0; i < p; i++)
            for (long c = 0; c < i; c++) off += A[i * p + c] * A[i * p + c];
        if (off <= 1e-30 * total) break;
        for (long i = 1; i < p; i++)
            for (long c = 0; c < i; c++) {
                double aic = A[i * p + c];
                if (aic == 0) continue;
                double theta = (A[i * p + i] - A[c * p + c]) / (2 * aic);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)), cs = 1 / sqrt(t * t + 1), sn = t * cs;
                for (long r = 0; r < p; r++) {
                    double x = A[r * p + c], y = A[r * p + i];
                    A[r * p + c] = cs * x - sn * y, A[r * p + i] = sn * x + cs * y;
                }
                for (long r = 0; r < p; r++) {
                    double x = A[c * p + r], y = A[i * p + r];
                    A[c * p + r] = cs * x - sn * y, A[i * p + r] = sn * x + cs * y;
                }
                for (long r = 0; r < p; r++) {
                    double x = Q[r * p + c], y = Q[r * p + i];
                    Q[r * p + c] = cs * x - sn * y, Q[r * p + i] = sn * x + cs * y;
                }
            }
    }
    for (long i = 0; i < p; i++) e[i] = fmax(A[i * p + i], 0);
}

/* Σ w x_k x_j for from ≤ k < end and first ≤ j ≤ k, the intercept eliminated, into row k − first of `out`, and mirrored. */
static void products(Path *f, long first, long from, long end, double *out, long stride)
{
    long n = f->n, dense = !f->X.row;
    for (long k = from; k < end; k++) memset(out + (k - first) * stride, 0, (end - first) * sizeof *out);
    if (dense || end > first + 1) columns_dot(&f->X, from, end - from, f->w, f->B + from);
    for (long k = from; !dense && k < end; k++) {
        if (k == first) {
            column_moments(&f->X, k, f->w, out, f->B + k);
            continue;
        }
        memset(f->scratch, 0, n * sizeof *f->scratch);
        column_add(&f->X, k, 1.0, f->w, f->scratch);
        columns_dot(&f->X, first, k - first + 1, f->scratch, out + (k - first) * stride);
    }
    for (long top = 0; dense && top < n; top += STRIP) {
        long rows = n - top < STRIP ? n - top : STRIP;
        for (long band = from; band < end; band += BAND) { /* weighted columns that stay in the cache */
            long last = band + BAND < end ? band + BAND : end;
            for (long k = band; k < last; k++)
                for (long r = 0; r < rows; r++) f->strip[(k - band) * STRIP + r] = f->w[top + r] * f->X.x[k * n + top + r];
            for (long j = first; j < last; j += TILE)
                for (long k = j > band ? band + (j - band) / TILE * TILE : band; k < last; k += TILE) {
                    const double *y[TILE], *x[TILE];
                    double part[TILE][TILE];
                    for (long i = 0; i < TILE; i++) {
                        y[i] = f->strip + ((k + i < last ? k + i : k) - band) * STRIP;
                        x[i] = f->X.x + (j + i < end ? j + i : j) * n + top;
                    }
                    tile(y, x, rows, part);
                    for (long i = 0; i < TILE && k + i < last; i++)
                        for (long c = 0; c < TILE && j + c <= k + i; c++) out[(k + i - first) * stride + j + c - first] += part[i][c];
                }
        }
    }
    for (long k = from; k < end; k++) {
        double *row = out + (k - first) * stride, *corner = row + k - first, full = *corner;
        double share = f->intercept && f->corner > 0 ? f->B[k] / f->corner : 0;
        for (long j = first; j <= k; j++) row[j - first] -= share * f->B[j];
        *corner = fmax(*corner, 1e-14 * full);
        for (long j = first; j < k; j++) out[(j - first) * stride + k - first] = row[j - first];
    }
}

/* M for the columns that the working set has gained. */
void sparse_form(Path *f)
{
    long from = f->formed, m = f->m;
    if (from == m) return;
    if (m > f->stride) {
        long stride = 3 * m / 2 < f->d ? 3 * m / 2 : f->d;
        double *M = malloc(stride * stride * sizeof *M);
        if (!M) {
            f->failed = 1;
            return;
        }
        for (long j = 0; j < from; j++) memcpy(M + j * stride, f->M + j * f->stride, from * sizeof *M);
        free(f->M);
        f->M = M, f->stride = stride;
    }
    products(f, 0, from, m, f->M, f->stride);
    f->formed = m;
    for (long k = 0; k < f->k; k++) {
        long j = f->first[k], p = f->first[k + 1] - j, size = p > 1 && p <= MOST_EIGEN ? p : 0;
        if (j < from) continue;
        double *H = f->block + f->corner_of_Q[k];
        f->corner_of_Q[k + 1] = f->corner_of_Q[k] + size * size;
        for (long i = 0; i < size; i++) memcpy(H + i * p, f->M + (j + i) * f->stride + j, p * sizeof *H);
        decompose(f, k);
    }
}

/* Visited together: a group's columns, or, along dense columns, four groups of one; hands back the next group. */
static inline long visited(const Path *f, long k)
{
    long next = k + 1;
    if (!f->held && !f->X.row && f->first[next] - f->first[k] == 1)
        while (next < f->k && next < k + TILE && f->first[next + 1] - f->first[next] == 1) next++;
    return next;
}

/* The blocks of M alone of what is visited together. */
void sparse_form_blocks(Path *f)
{
    for (long k = 0, next; k < f->k; k = next) {
        next = visited(f, k);
        long j = f->first[k], p = f->first[next] - j;
        products(f, j, j, j + p, f->block + f->corner_of_Q[k], p);
        f->corner_of_Q[next] = f->corner_of_Q[k] + p * p;
        if (next == k + 1) decompose(f, k);
    }
}

/* Minimising it */

/* The slopes of groups k … next − 1, where M is not at hand, from r = w ∘ X(to − a), which lies in `zt`. */
static inline void look_at(Path *f, long k, long next)
{
    long j = f->first[k];
    columns_dot(&f->X, j, f->first[next] - j, f->zt, f->g + j);
    for (; k < next; k++)
        for (; j < f->first[k + 1]; j++) f->g[j] += f->slope[j] + f->shift * f->B[j] + f->L2[k] * (f->to[j] - f->a[j]);
}

/* A weight has moved, and with it the slopes, or r. */
static inline void move(Path *f, long k, long j, double step)
{
    if (f->held) {
        add(f->m, step, f->M + j * f->stride, f->g);
        f->g[j] += f->L2[k] * step;
        return;
    }
    column_add(&f->X, j, step, f->w, f->zt);
    if (f->intercept && f->corner > 0) f->shift -= step * f->B[j] / f->corner;
}

/* A group's weights to their minimum, the others held; hands back by how much a slope moved. */
static double visit(Path *f, long k)
{
    long j = f->first[k], p = f->first[k + 1] - j, exact = p <= MOST_EIGEN;
    double *a = f->to + j, *g = f->g + j, l1 = f->L1[k], l2 = f->L2[k], *r = f->work, *c = r + p, moved = 0;
    const double *e = f->eigen + j, *Q = f->Q + f->corner_of_Q[k], *H = f->block + f->corner_of_Q[k];
    double norm = length(a, p);
    for (long i = 0; i < p; i++) { /* r = H a − g: the weights that would be without the kink are H⁻¹ r */
        r[i] = -g[i] + (l2 + (exact ? 0 : e[0])) * a[i];
        for (long q = 0; exact && norm > 0 && q < p; q++) r[i] += H[i * p + q] * a[q];
    }
    double size = length(r, p);
    if (size <= l1) memset(c, 0, p * sizeof *c);
    else {
        for (long i = 0; i < p; i++) {
            c[i] = exact ? 0 : r[i];
            for (long q = 0; exact && q < p; q++) c[i] += Q[q * p + i] * r[q];
        }
        double top = 0, rho = 0;
        for (long i = 0; i < p; i++) top = fmax(top, e[i] + l2);
        if (top <= 0) return 0;
        if (l1 > 0) { /* ‖a‖ = ρ: Σ (c / (eρ + l₁))² = 1, by Newton on the inverse root, nearly straight */
            rho = fmax(norm, (size - l1) / top);
            for (int turn = 0; turn < 50; turn++) {
                double sum = 0, slope = 0;
                for (long i = 0; i < p; i++) {
                    double below = 1 / ((e[i] + l2) * rho + l1), part = c[i] * below;
                    sum += part * part, slope += part * part * (e[i] + l2) * below;
                }
                double step = slope > 0 ? (sqrt(sum) - 1) * sum / slope : 0, next = rho + step;
                if (next <= 0) next = rho / 4;
                if (fabs(next - rho) <= 1e-15 * rho) break;
                rho = next;
            }
        }
        for (long i = 0; i < p; i++) {
            double h = e[i] + l2, below = l1 > 0 ? h * rho + l1 : h;
            c[i] = below > 0 ? c[i] * (l1 > 0 ? rho : 1) / below : 0;
        }
        if (exact) {
            for (long i = 0; i < p; i++) {
                r[i] = 0;
                for (long q = 0; q < p; q++) r[i] += Q[i * p + q] * c[q];
            }
            c = r;
        }
    }
    for (long i = 0; i < p; i++) {
        moved = fmax(moved, ((exact ? H[i * p + i] : e[0]) + l2) * fabs(c[i] - a[i]));
        a[i] = c[i];
    }
    return moved;
}

/* The same of a group of one, where h is the curvature; hands back the step. */
static inline double visit_one(Path *f, long k, long j, double h)
{
    if (h <= 0) return 0;
    double a = f->to[j], to = shrink(a - f->g[j] / h, f->L1[k] / h);
    return (f->to[j] = to < f->low[j] ? f->low[j] : to > f->up[j] ? f->up[j] : to) - a;
}

static double sweep(Path *f, int only_support)
{
    double moved = 0, *a = f->to, *g = f->g;
    for (long k = 0, next; k < f->k; k = next) {
        next = visited(f, k);
        long j = f->first[k], end = f->first[next], p = end - j;
        if (only_support && length(a + j, p) == 0) continue;
        if (!f->held) look_at(f, k, next);
        const double *H = f->held ? f->M + j * f->stride + j : f->block + f->corner_of_Q[k];
        if (p == 1) {
            double h = *H + f->L2[k], step = visit_one(f, k, j, h);
            if (step == 0) continue;
            move(f, k, j, step);
            moved = fmax(moved, h * fabs(step));
            continue;
        }
        memcpy(f->delta + j, a + j, p * sizeof *a);
        if (next == k + 1) moved = fmax(moved, visit(f, k));
        for (long i = 0; next > k + 1 && i < p; i++) {
            double h = H[i * p + i] + f->L2[k + i], step = visit_one(f, k + i, j + i, h);
            for (long c = i + 1; step != 0 && c < p; c++) g[j + c] += step * H[i * p + c];
            moved = fmax(moved, h * fabs(step));
        }
        for (long i = 0; i < p; i++) f->delta[j + i] = a[j + i] - f->delta[j + i];
        if (f->held)
            for (long i = j; i < end; i++) move(f, k, i, f->delta[i]);
        else columns_add(&f->X, j, p, f->delta + j, f->w, f->zt);
        for (long i = j; !f->held && f->intercept && f->corner > 0 && i < end; i++) f->shift -= f->delta[i] * f->B[i] / f->corner;
    }
    return moved;
}

/* Lᵗ in place of the upper half of H = LLᵗ > 0 (p × p); 0 where it is not. */
static int factor(long p, double *H)
{
    for (long k = 0; k < p; k++) {
        if (!(H[k * p + k] > 0)) return 0;
        double root = 1 / sqrt(H[k * p + k]);
        for (long j = k; j < p; j++) H[k * p + j] *= root;
        for (long i = k + 1; i < p; i++) add(p - i, -H[k * p + i], H + k * p + i, H + i * p + i);
    }
    return 1;
}

/* H⁻¹ r in place. */
static void factor_solve(long p, const double *Lt, double *r)
{
    for (long k = 0; k < p; k++) {
        r[k] /= Lt[k * p + k];
        add(p - k - 1, -r[k], Lt + k * p + k + 1, r + k + 1);
    }
    for (long k = p - 1; k >= 0; k--) {
        r[k] -= dot(Lt + k * p + k + 1, r + k + 1, p - k - 1);
        r[k] /= Lt[k * p + k];
    }
}

double sparse_kinks(const Path *f, const double *a)
{
    double sum = 0;
    for (long k = 0; k < f->k; k++) sum += f->L1[k] * length(a + f->first[k], f->first[k + 1] - f->first[k]);
    return sum;
}

/* The change of the model from `to` by `delta`, the kinks' apart; `change` gets that of the slopes. */
static double ahead(Path *f)
{
    double sum = 0;
    memset(f->change, 0, f->m * sizeof(double));
    for (long k = 0; k < f->k; k++)
        for (long j = f->first[k]; j < f->first[k + 1]; j++) {
            if (f->delta[j] == 0) continue;
            add(f->m, f->delta[j], f->M + j * f->stride, f->change);
            f->change[j] += f->L2[k] * f->delta[j];
        }
    for (long j = 0; j < f->m; j++) sum += f->delta[j] * (f->g[j] + 0.5 * f->change[j]);
    return sum;
}

/* Newton's step of the model on the weights that are not zero, signs held; 0 where it leads nowhere, or, `at_hand`, where
   no factor of their matrix is at hand. */
static int jump(Path *f, int at_hand)
{
    long p = 0, ridge = 0, *S = f->support;
    double *a = f->to, *r = f->work, *way = f->way, first = 1, before = sparse_kinks(f, a);
    for (long k = 0; k < f->k; k++) {
        int live = f->L1[k] == 0 || length(a + f->first[k], f->first[k + 1] - f->first[k]) > 0;
        ridge |= f->L2[k] > 0;
        for (long j = f->first[k]; j < f->first[k + 1]; j++)
            if (live && f->low[j] < a[j] && a[j] < f->up[j]) S[p++] = j;
    }
    if (p == 0 || p > f->most_cholesky) return 0;
    int same = f->factored == p && f->m == f->k && (!ridge || f->factor_strength == f->strength);
    for (long i = 0; same && i < p; i++) same = f->factor_of[i] == S[i];
    if (at_hand && !same) return 0;
    if (!same && grow(f, (void **)&f->factor, f->factor_room, p * p, sizeof(double))) return 0;
    double *H = f->factor;
    f->factor_room = p * p > f->factor_room ? p * p : f->factor_room;
    for (long i = 0; !same && i < p; i++)
        for (long c = i; c < p; c++) H[i * p + c] = f->M[S[i] * f->stride + S[c]];
    for (long k = 0, i = 0; k < f->k; k++) {
        long j = f->first[k], size = f->first[k + 1] - j, from = i;
        double norm = length(a + j, size), curvature = size > 1 && norm > 0 ? f->L1[k] / norm : 0;
        for (; i < p && S[i] < j + size; i++) { /* a group's norm has the curvature l₁/‖a‖ (I − uuᵗ), u = a/‖a‖ */
            double u = norm > 0 ? a[S[i]] / norm : 0;
            r[i] = -(f->g[S[i]] + f->L1[k] * u);
            if (same) continue;
            H[i * p + i] = H[i * p + i] * (1 + 1e-13) + f->L2[k] + curvature;
            for (long c = from; curvature > 0 && c <= i; c++) H[c * p + i] -= curvature * u * a[S[c]] / norm;
        }
    }
    f->factored = 0;
    if (!same && !factor(p, H)) return 0;
    f->factored = p, f->factor_strength = f->strength;
    memcpy(f->factor_of, S, p * sizeof *S);
    factor_solve(p, H, r);
    int cut = 0;
    memset(way, 0, f->m * sizeof *way);
    for (long i = 0; i < p; i++) way[S[i]] = r[i];
    for (long k = 0; k < f->k; k++) { /* where the first weight would change its sign or leave its bounds */
        long j = f->first[k];
        double end = a[j] + way[j], low = f->L1[k] > 0 && a[j] > 0 ? 0 : f->low[j], up = f->L1[k] > 0 && a[j] < 0 ? 0 : f->up[j];
        if (f->first[k + 1] - j > 1 || way[j] == 0 || (low <= end && end <= up)) continue;
        cut = 1, first = fmin(first, ((end < low ? low : up) - a[j]) / way[j]);
    }
    for (int turn = 0; turn < (cut ? 2 : 8); turn++) { /* all that would change sign become zero, or the first of them */
        double share = cut ? (turn ? first : 1.0) : pow(0.5, turn), *end = f->R;
        for (long k = 0; k < f->k; k++)
            for (long j = f->first[k]; j < f->first[k + 1]; j++) {
                end[j] = a[j] + share * way[j];
                if (f->first[k + 1] - f->first[k] == 1 && way[j] != 0) {
                    int over = end[j] * a[j] < 0 || (turn && fabs(end[j]) <= 1e-12 * fabs(a[j]));
                    if (f->L1[k] > 0 && over) end[j] = 0;
                    end[j] = end[j] < f->low[j] ? f->low[j] : end[j] > f->up[j] ? f->up[j] : end[j];
                }
                f->delta[j] = end[j] - a[j];
            }
        if (ahead(f) + sparse_kinks(f, end) < before * (1 + (turn ? 0 : 1e-15))) {
            memcpy(a, end, f->m * sizeof *a);
            add(f->m, 1.0, f->change, f->g);
            return 1;
        }
    }
    return 0;
}

/* Sweeps until one over all coordinates moves no slope by more than `still`; `least`: the least l₁. */
void sparse_minimize_model(Path *f, double still, double least)
{
    long sweeps = 0, support = 0;
    if (f->smooth || f->factored) jump(f, !f->smooth);
    for (long j = 0; j < f->m; j++) support += f->to[j] != 0;
    double limit = 3 + support / 12.0, moved = INFINITY; /* limit: about what a jump costs */
    for (int round = 0; round < 100; round++) {
        double before = moved;
        moved = sweep(f, 0);
        if (moved <= still || (moved <= 1e-6 * least && moved > 0.5 * before)) return; /* the latter: rounding */
        for (int k = 0; k < 20; k++) {
            if (sweep(f, 1) <= INNER * still) break;
            if (++sweeps < limit) continue;
            if (!jump(f, 0)) limit *= 4;
            sweeps = 0;
            break;
        }
    }
}

/* The same without M, by sweeps along the columns, until they arrive, or will not within the plan; whether they did. */
int sparse_descend(Path *f, Plan plan)
{
    double before = INFINITY;
    memset(f->zt, 0, f->n * sizeof *f->zt);
    f->shift = 0;
    for (long round = 0; round < plan.rounds; round++)
        for (long turn = 0; turn <= plan.sweeps; turn++) {
            double moved = sweep(f, turn > 0);
            if (!turn && moved <= plan.still) return 1;
            if (!turn && round && log(moved / plan.still) > (plan.rounds - round) * log(before / moved)) return 0;
            if (!turn) before = moved;
            if (moved <= INNER * plan.still) break;
        }
    return 0;
}
