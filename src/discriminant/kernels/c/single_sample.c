/* Single-sample sweeps: one sequential pass over dense or CSR rows, each sample correcting the weights at once.

   discriminant/kernels/sweeps.py holds the same sweeps in NumPy and says what each array of the state means;
   discriminant/kernels/rules.py says what each rule is.  What makes this fast: rows are read once, in order; a
   correction computes the next row's dot while the weights pass by; the rows of a shuffled order are asked for ahead
   of their turn; the ridge shrinks one factor instead of all weights; averages are a weighted sum of corrections
   instead of a sum of weights. */
#include <math.h>

#include "rows.h"

enum { PERCEPTRON, RELAXATION, QUADRATIC, SQUARED, LOGISTIC, SIGMOID_SQUARED, SOFTMAX };
enum { STEPS, CLEAN, NEEDED, DONE, VISITS, RUN, ORIGIN, ONE, TALLIES };

#define AHEAD 8     /* samples before its turn at which a row of a shuffled order is asked for */
#define CHUNK 64    /* rows that one output works on before the next one takes them from cache */
#define LEAST 1e-9  /* a ridge factor below is folded into the weights */

typedef struct {
    Rows rows;
    Py_ssize_t n, q, width, most; /* places of the order; outputs; columns of A; columns of seen and sizes */
    Type code_type, seen_type;
    const void *codes;
    const int64_t *order;                                  /* NULL: rows in turn */
    const double *targets, *care, *weight, *table;         /* NULL: no weights; no table of steps */
    double *A, *factor, *losses, *drift, *pocket, *sizes;  /* NULL from losses on: not asked for */
    void *seen;
    int64_t *tally;
    double margin, rate, power, delay, shrink, threshold, positive;
    double *scores, *change; /* of coupled outputs, (q,) */
    int64_t first;
    int kind, coupled, worst;
} Sweep;

INLINE int64_t *tally_of(const Sweep *s, int what, Py_ssize_t j) { return &s->tally[what * s->q + j]; }

INLINE Py_ssize_t row_of(const Sweep *s, Py_ssize_t place) { return s->order ? (Py_ssize_t)s->order[place] : place; }

INLINE Py_ssize_t code_of(const Sweep *s, Py_ssize_t i)
{
    if (s->code_type == INT8) return ((const uint8_t *)s->codes)[i];
    return s->code_type == INT32 ? ((const int32_t *)s->codes)[i] : (Py_ssize_t)((const int64_t *)s->codes)[i];
}

/* η(k) */
static double eta_of(const Sweep *s, int64_t k)
{
    if (s->table) return s->table[k - s->first];
    if (s->power == 0.0) return s->rate;
    return s->power == 1.0 ? s->rate / (k + s->delay) : s->rate / pow(k + s->delay, s->power);
}

/* δ of one sample; `norm` is ‖y‖², of use to the relaxation rule only. */
INLINE double correction(int kind, double t, double z, double margin, double norm)
{
    if (kind <= QUADRATIC) {
        double shortfall = margin - t * z;
        if (shortfall < 0.0) return 0.0;
        if (kind == PERCEPTRON) return t;
        return kind == RELAXATION ? t * shortfall / norm : 2 * t * shortfall;
    }
    if (kind == SQUARED) return t - z;
    double tail = exp(-fabs(z));
    double p = z >= 0 ? 1 / (1 + tail) : tail / (1 + tail);
    return kind == LOGISTIC ? t - p : (t - p) * tail / ((1 + tail) * (1 + tail));
}

/* ℓ(t, z); the relaxation rule's without the division by ‖y‖². */
static double loss(int kind, double t, double z, double margin)
{
    if (kind <= QUADRATIC) {
        double shortfall = margin - t * z;
        shortfall = shortfall < 0.0 ? 0.0 : shortfall; /* a NaN stays one */
        if (kind == PERCEPTRON) return shortfall;
        return kind == RELAXATION ? shortfall * shortfall / 2 : shortfall * shortfall;
    }
    if (kind == SQUARED) return (t - z) * (t - z) / 2;
    double tail = exp(-fabs(z));
    if (kind == LOGISTIC) return (z > 0 ? z : 0.0) - t * z + log1p(tail);
    double p = z >= 0 ? 1 / (1 + tail) : tail / (1 + tail);
    return (t - p) * (t - p) / 2;
}

/* w += amount · x, and the new w · after, in one walk over w; dense rows. */
INLINE double add_and_dot(Row x, Row after, const int storage, double *w, double amount)
{
    double lanes[LANES] = {0}, rest = 0.0;
    Py_ssize_t p = 0;
    for (; p + LANES <= x.count; p += LANES) {
        double changed[LANES];
        for (int l = 0; l < LANES; l++) changed[l] = w[p + l] + amount * value_at(x, storage, p + l);
        for (int l = 0; l < LANES; l++) w[p + l] = changed[l];
        for (int l = 0; l < LANES; l++) lanes[l] += changed[l] * value_at(after, storage, p + l);
    }
    for (; p < x.count; p++) {
        w[p] += amount * value_at(x, storage, p);
        rest += w[p] * value_at(after, storage, p);
    }
    return sum_of(lanes, rest);
}

/* Write down a correction: which row (and rival), and its size. */
static void trace(const Sweep *s, Py_ssize_t j, int64_t place, int64_t what, double amount)
{
    if (s->seen_type == INT32) ((int32_t *)s->seen)[j * s->most + place] = (int32_t)what;
    else ((int64_t *)s->seen)[j * s->most + place] = what;
    s->sizes[j * s->most + place] = amount;
}

/* Output j over the places begin … end − 1 of the order. */
INLINE void sweep_output(const Sweep *s, const int storage, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t j)
{
    const Rows *rows = &s->rows;
    const int kind = s->kind, fixed = s->power == 0.0 && !s->table, correcting = kind <= QUADRATIC;
    const int measured = kind == RELAXATION || s->threshold > 0.0;
    const double one = (double)*tally_of(s, ONE, j);
    const int64_t origin = *tally_of(s, ORIGIN, j) + 1, needed = *tally_of(s, NEEDED, j);
    double *a = s->A + j * s->width, *w = a + 1;
    double bias = a[0], scale = s->factor[j], inverse = 1.0 / scale, eta = s->rate, raw = 0.0, met = 0.0;
    int64_t k = *tally_of(s, STEPS, j), clean = *tally_of(s, CLEAN, j), visits = *tally_of(s, VISITS, j);
    Py_ssize_t ready = -1; /* the row whose dot is in `raw` already */
    for (Py_ssize_t place = begin; place < end; place++) {
        const Py_ssize_t i = row_of(s, place);
        if (s->order && place + AHEAD < s->n) prefetch(row_at(rows, storage, s->order[place + AHEAD]), storage);
        const Py_ssize_t code = code_of(s, i);
        const double t = s->targets[code * s->q + j], share = s->weight ? s->weight[i] : 1.0;
        if (s->care[code * s->q + j] == 0.0 || share == 0.0) continue;
        const Row x = row_at(rows, storage, i);
        if (ready != i) raw = dot(x, storage, w);
        ready = -1;
        const double z = bias + scale * raw;
        visits++;
        if (s->losses) met += share * loss(kind, t, z, s->margin);
        const double norm = measured ? one + square(x, storage) : 1.0;
        const double delta = correction(kind, t, z, s->margin, norm);
        if (s->shrink > 0.0) {
            const double part = 1.0 - s->shrink * eta_of(s, k + 1);
            scale *= part > 0.0 ? part : 0.0;
            if (scale < LEAST) {
                for (Py_ssize_t p = 0; p < rows->d; p++) w[p] *= scale;
                scale = 1.0;
            }
            inverse = 1.0 / scale;
        }
        if (correcting && delta == 0.0) {
            if (++clean >= needed) {
                *tally_of(s, DONE, j) = 1;
                break;
            }
            continue;
        }
        if (s->pocket && clean > *tally_of(s, RUN, j)) {
            double *kept = s->pocket + j * s->width;
            *tally_of(s, RUN, j) = clean;
            kept[0] = bias;
            for (Py_ssize_t p = 0; p < rows->d; p++) kept[p + 1] = scale * w[p];
        }
        clean = 0;
        k++;
        if (!fixed) eta = eta_of(s, k);
        const double amount = eta * delta * share;
        bias += one * amount;
        if (s->seen) trace(s, j, k - origin, i, amount);
        if (!(storage & SPARSE) && place + 1 < end) {
            ready = row_of(s, place + 1);
            raw = add_and_dot(x, row_at(rows, storage, ready), storage, w, amount * inverse);
        } else {
            add(x, storage, w, amount * inverse);
        }
        if (s->drift) {
            const double late = amount * (double)(visits - 1);
            s->drift[j * s->width] += late;
            add(x, storage, s->drift + j * s->width + 1, late);
        }
        if (fabs(amount) * sqrt(norm) < s->threshold) {
            *tally_of(s, DONE, j) = 1;
            break;
        }
    }
    a[0] = bias;
    s->factor[j] = scale;
    *tally_of(s, STEPS, j) = k;
    *tally_of(s, CLEAN, j) = clean;
    *tally_of(s, VISITS, j) = visits;
    if (s->losses) s->losses[j] += met;
}

/* All outputs, each of which learns alone; several share the rows that are in cache. */
INLINE void sweep_outputs(const Sweep *s, const int storage)
{
    const Py_ssize_t step = s->q > 1 ? CHUNK : s->n;
    for (Py_ssize_t begin = 0; begin < s->n; begin += step) {
        const Py_ssize_t end = begin + step < s->n ? begin + step : s->n;
        for (Py_ssize_t j = 0; j < s->q; j++)
            if (!*tally_of(s, DONE, j)) sweep_output(s, storage, begin, end, j);
    }
}

/* η(t − p) for each output. */
static void softmax_change(const Sweep *s, Py_ssize_t own, double share)
{
    double top = s->scores[0], total = 0.0;
    for (Py_ssize_t j = 1; j < s->q; j++) top = s->scores[j] > top ? s->scores[j] : top;
    const double eta = eta_of(s, ++*tally_of(s, STEPS, 0)) * share;
    for (Py_ssize_t j = 0; j < s->q; j++) total += s->change[j] = exp(s->scores[j] - top);
    for (Py_ssize_t j = 0; j < s->q; j++) s->change[j] = eta * ((j == own) - s->change[j] / total);
    if (s->losses) s->losses[0] += share * (log(total) + top - s->scores[own]);
}

/* What one row adds to each output, rival by rival; with `worst`, for its strongest rival alone.  Both scores move by
   ‖y‖², as the next constructed sample of the same row would find them. */
static void kesler_change(const Sweep *s, Py_ssize_t own, Py_ssize_t i, double share, double norm)
{
    double *z = s->scores;
    Py_ssize_t strongest = -1;
    for (Py_ssize_t j = 0; j < s->q; j++)
        if (j != own && (strongest < 0 || z[j] > z[strongest])) strongest = j;
    for (Py_ssize_t j = 0; j < s->q; j++) {
        if (j == own || (s->worst && j != strongest)) continue;
        const double m = z[own] - z[j];
        if (s->losses) s->losses[0] += share * loss(s->kind, s->positive, m, s->margin);
        const double delta = correction(s->kind, s->positive, m, s->margin, 2.0 * norm);
        if (delta == 0.0 && s->kind <= QUADRATIC) {
            if (++*tally_of(s, CLEAN, 0) >= *tally_of(s, NEEDED, 0)) {
                *tally_of(s, DONE, 0) = 1;
                return;
            }
            continue;
        }
        *tally_of(s, CLEAN, 0) = 0;
        const int64_t k = ++*tally_of(s, STEPS, 0);
        const double amount = eta_of(s, k) * delta * share;
        s->change[own] += amount;
        s->change[j] -= amount;
        z[own] += amount * norm;
        z[j] -= amount * norm;
        if (s->seen) trace(s, 0, k - *tally_of(s, ORIGIN, 0) - 1, i * s->q + j, amount);
    }
}

/* Outputs that learn together: Kesler's construction made implicit, or the softmax. */
INLINE void sweep_coupled(const Sweep *s, const int storage)
{
    const double one = (double)*tally_of(s, ONE, 0);
    for (Py_ssize_t place = 0; place < s->n && !*tally_of(s, DONE, 0); place++) {
        const Py_ssize_t i = row_of(s, place), own = code_of(s, i);
        const double share = s->weight ? s->weight[i] : 1.0;
        if (s->order && place + AHEAD < s->n)
            prefetch(row_at(&s->rows, storage, s->order[place + AHEAD]), storage);
        if (share == 0.0) continue;
        const Row x = row_at(&s->rows, storage, i);
        for (Py_ssize_t j = 0; j < s->q; j++) {
            const double *a = s->A + j * s->width;
            s->scores[j] = a[0] + dot(x, storage, a + 1);
            s->change[j] = 0.0;
        }
        const int64_t visits = ++*tally_of(s, VISITS, 0);
        if (s->kind == SOFTMAX) softmax_change(s, own, share);
        else kesler_change(s, own, i, share, one + square(x, storage));
        for (Py_ssize_t j = 0; j < s->q; j++) {
            const double change = s->change[j], late = change * (double)(visits - 1);
            if (change == 0.0) continue;
            s->A[j * s->width] += one * change;
            add(x, storage, s->A + j * s->width + 1, change);
            if (!s->drift) continue;
            s->drift[j * s->width] += late;
            add(x, storage, s->drift + j * s->width + 1, late);
        }
    }
}

static void sweep_rows(const Sweep *s)
{
    if (s->coupled) { AT_STORAGE(&s->rows, sweep_coupled(s, STORAGE)); }
    else { AT_STORAGE(&s->rows, sweep_outputs(s, STORAGE)); }
}

/* An array that is empty where it is not asked for: NULL then. */
static double *optional(Buffers *held, PyObject *state, const char *name, Py_ssize_t length, int flags)
{
    PyObject *object = attribute(held, state, name);
    const Py_buffer *view = object ? hold(held, object, name, PyBUF_C_CONTIGUOUS) : NULL;
    return !view || length_of(view) == 0 ? NULL : numbers(held, object, name, FLOAT64, length, flags);
}

static double number(Buffers *held, PyObject *state, const char *name)
{
    PyObject *object = attribute(held, state, name);
    double value = object ? PyFloat_AsDouble(object) : 0.0;
    if (PyErr_Occurred()) held->failed = 1;
    return value;
}

PyObject *kernel_sweep(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *samples, *state, *order;
    if (!PyArg_ParseTuple(args, "OOO", &samples, &state, &order)) return NULL;
    Buffers held = {0};
    Sweep s = {0};
    s.rows = rows_in(&held, attribute(&held, samples, "X"), number(&held, samples, "sparse") != 0.0);
    const Py_buffer *codes = hold(&held, attribute(&held, samples, "codes"), "codes", PyBUF_C_CONTIGUOUS);
    const Py_buffer *A = hold(&held, attribute(&held, state, "A"), "A", PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
    const Py_buffer *places = hold(&held, order, "order", PyBUF_C_CONTIGUOUS);
    const Py_buffer *seen = hold(&held, attribute(&held, state, "seen"), "seen", PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
    if (held.failed) return release(&held);
    s.n = length_of(places) ? length_of(places) : s.rows.n;
    s.order = length_of(places) ? int64_in(&held, order, "order", s.n) : NULL;
    s.code_type = type_of(codes);
    s.codes = codes->buf;
    if (A->ndim != 2 || type_of(A) != FLOAT64 || (!(s.rows.storage & SPARSE) && A->shape[1] < 1 + s.rows.d) ||
        length_of(codes) != s.rows.n || (s.code_type != INT8 && s.code_type != INT32 && s.code_type != INT64)) {
        PyErr_SetString(PyExc_ValueError, "A must be (outputs, 1 + columns) float64, and codes one integer a row.");
        return release(&held);
    }
    s.A = A->buf;
    s.q = A->shape[0];
    s.width = A->shape[1];
    if (s.rows.storage & SPARSE) s.rows.d = s.width - 1; /* the padding holds zeros */
    s.targets = float64_in(&held, attribute(&held, samples, "targets"), "targets", ANY_LENGTH);
    s.care = float64_in(&held, attribute(&held, samples, "care"), "care", ANY_LENGTH);
    s.weight = optional(&held, samples, "weight", s.rows.n, 0);
    s.factor = float64_out(&held, attribute(&held, state, "factor"), "factor", s.q);
    s.tally = int64_out(&held, attribute(&held, state, "tally"), "tally", TALLIES * s.q);
    s.table = optional(&held, state, "table", ANY_LENGTH, 0);
    s.losses = optional(&held, state, "losses", s.q, PyBUF_WRITABLE);
    s.drift = optional(&held, state, "drift", s.q * s.width, PyBUF_WRITABLE);
    s.pocket = optional(&held, state, "pocket", s.q * s.width, PyBUF_WRITABLE);
    s.sizes = optional(&held, state, "sizes", ANY_LENGTH, PyBUF_WRITABLE);
    s.seen = length_of(seen) ? seen->buf : NULL;
    s.seen_type = type_of(seen);
    s.most = s.seen ? seen->shape[1] : 0;
    s.kind = (int)number(&held, state, "kind");
    s.margin = number(&held, state, "margin");
    s.shrink = number(&held, state, "shrink");
    s.threshold = number(&held, state, "threshold");
    s.positive = number(&held, state, "positive");
    s.first = (int64_t)number(&held, state, "first");
    s.coupled = number(&held, state, "coupled") != 0.0;
    s.worst = number(&held, state, "worst") != 0.0;
    PyObject *steps = attribute(&held, state, "steps");
    if (held.failed || !PyArg_ParseTuple(steps, "ddd", &s.rate, &s.power, &s.delay)) return release(&held);
    s.scores = PyMem_Calloc((size_t)(2 * s.q + 1), sizeof(double));
    if (!s.scores) {
        release(&held);
        return PyErr_NoMemory();
    }
    s.change = s.scores + s.q;
    Py_BEGIN_ALLOW_THREADS
    sweep_rows(&s);
    Py_END_ALLOW_THREADS
    PyMem_Free(s.scores);
    release(&held);
    Py_RETURN_NONE;
}
