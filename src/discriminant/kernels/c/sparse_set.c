/* The working set of a sparse fit: groups of columns that enter and leave. */
#include "sparse.h"

#define KEPT 0.8 /* of l₁: with 0.2, 5000×500 takes 1.2 to 1.5 times as long */

void sparse_levels(Path *f)
{
    for (long k = 0; k < f->k; k++)
        f->L1[k] = f->strength * f->l1[f->group[k]], f->L2[k] = f->strength * f->l2[f->group[k]];
}

/* Take the first `count` groups of `pairs` in, with weights zero. */
void sparse_enter(Path *f, long count)
{
    long old = f->m;
    for (long i = 0; i < count; i++) {
        long u = f->pairs[i].index;
        if (f->inside[u]) continue;
        f->inside[u] = 1;
        f->group[f->k] = u;
        for (long r = f->starts[u]; r < f->starts[u + 1]; r++, f->m++) {
            long j = f->feature[f->m] = f->order[r];
            f->a[f->m] = 0, f->low[f->m] = f->lower[j], f->up[f->m] = f->upper[j];
        }
        f->first[++f->k] = f->m;
    }
    sparse_levels(f);
    if (f->m == old) return;
    if (f->all.row || f->by_row.row) {
        long need = f->start_own[old];
        if (f->by_row.row && !f->count) {
            if (!(f->count = calloc(2 * f->d + 1, sizeof *f->count))) {
                f->failed = 1;
                return;
            }
            for (long q = 0; q < f->by_row.start[f->n]; q++) f->count[f->by_row.row[q]]++;
        }
        for (long j = old; j < f->m; j++) {
            long u = f->feature[j];
            need += f->count ? f->count[u] : f->all.start[u + 1] - f->all.start[u];
            f->start_own[j + 1] = need;
        }
        long room = need > f->room ? 2 * need : f->room;
        if (grow(f, (void **)&f->x_own, f->room, room, sizeof(double)) ||
            grow(f, (void **)&f->row_own, f->room, room, sizeof(int32_t)))
            return;
        f->room = room;
        if (f->by_row.row) sparse_rows_gather(f, old);
        for (long j = old; f->all.row && j < f->m; j++) {
            long from = f->all.start[f->feature[j]], size = f->start_own[j + 1] - f->start_own[j];
            memcpy(f->x_own + f->start_own[j], f->all.x + from, size * sizeof(double));
            memcpy(f->row_own + f->start_own[j], f->all.row + from, size * sizeof(int32_t));
        }
        f->X = (Columns){f->x_own, f->row_own, f->start_own, f->n};
        return;
    }
    long room = f->m <= f->room ? f->room : 3 * f->m / 2 < f->d ? 3 * f->m / 2 : f->d;
    f->most = f->m > f->most ? f->m : f->most;
    if (grow(f, (void **)&f->x_own, f->room * f->n, room * f->n, sizeof(double))) return;
    f->room = room;
    f->X = (Columns){f->x_own, NULL, NULL, f->n};
    if (!f->asked) {
        sparse_gather(f, f->feature + old, f->m - old, f->x_own + old * f->n);
        return;
    }
    for (long j = old; j < f->m; j++) f->asked[j - old] = f->feature[j];
    PyEval_RestoreThread(f->thread);
    PyObject *columns = PyObject_CallFunction(f->ask_gather, "l", f->m - old);
    Buffers held = {0};
    if (!columns) held.failed = 1;
    const double *x = float64_in(&held, columns, "columns", (f->m - old) * f->n);
    if (!held.failed) memcpy(f->x_own + old * f->n, x, (f->m - old) * f->n * sizeof(double));
    f->failed |= held.failed;
    release(&held);
    Py_XDECREF(columns);
    f->thread = PyEval_SaveThread();
}

static int idle(const Path *f, long k)
{
    long j = f->first[k], p = f->first[k + 1] - j;
    return length(f->a + j, p) == 0 && length(f->g + j, p) < KEPT * f->L1[k];
}

/* Groups at zero whose slopes are far below their l₁ leave: before a new model, and this one where they are a part of it
   and there are so few rows that they may come back (paths: 500×1,000 takes 23 ms in place of 32, correlated 12 in place
   of 15; 10,000×50 would take 30 in place of 24). */
void sparse_leave(Path *f, int fresh)
{
    long k = 0, m = 0, count = 0, formed = 0, *from = f->support;
    for (long q = 0; q < f->k; q++) count += idle(f, q);
    if (!fresh && (4 * count < f->k || 8 * f->m < f->n)) return;
    for (long q = 0; q < f->k; q++) {
        long j = f->first[q], p = f->first[q + 1] - j;
        if (idle(f, q)) {
            f->inside[f->group[q]] = 0;
            continue;
        }
        if (j < f->formed) {
            long old = f->corner_of_Q[q], size = f->corner_of_Q[q + 1] - old, at = f->corner_of_Q[k];
            memmove(f->block + at, f->block + old, size * sizeof(double));
            memmove(f->Q + at, f->Q + old, size * sizeof(double));
            f->corner_of_Q[k + 1] = at + size, formed += p;
        }
        for (long i = j; i < j + p; i++, m++) {
            from[m] = i;
            f->a[m] = f->a[i], f->g[m] = f->g[i], f->R_dual[m] = f->R_dual[i];
            f->low[m] = f->low[i], f->up[m] = f->up[i], f->feature[m] = f->feature[i];
            f->B[m] = f->B[i], f->eigen[m] = f->eigen[i];
            if (f->X.row) {
                long entry = f->start_own[i], size = f->start_own[i + 1] - entry, to = f->start_own[m];
                memmove(f->x_own + to, f->x_own + entry, size * sizeof(double));
                memmove(f->row_own + to, f->row_own + entry, size * sizeof(int32_t));
                f->start_own[m + 1] = to + size;
            } else if (m < i) memcpy(f->x_own + m * f->n, f->x_own + i * f->n, f->n * sizeof(double));
        }
        f->group[k] = f->group[q], f->L1[k] = f->L1[q], f->L2[k] = f->L2[q];
        f->first[++k] = m;
    }
    for (long r = 0; r < formed; r++)
        for (long c = 0; c < formed; c++) f->M[r * f->stride + c] = f->M[from[r] * f->stride + from[c]];
    f->k = k, f->m = m, f->formed = formed, f->factored = 0;
}
