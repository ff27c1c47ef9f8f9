/* Arrays of the caller, typed and checked.

       Buffers held = {0};
       const double *x = float64_in(&held, object_x, "x", n);
       int64_t *count = int64_out(&held, object_count, "count", 3);
       if (held.failed) return release(&held);   -- NULL, with a ValueError that names the array
       Py_BEGIN_ALLOW_THREADS
       ...
       Py_END_ALLOW_THREADS
       release(&held);

   After the first failure the others do nothing, so that one question at the end is enough. */
#ifndef DISCRIMINANT_BUFFERS_H
#define DISCRIMINANT_BUFFERS_H

#include <stdint.h>
#include <string.h>

#include "module.h"

#define MOST_BUFFERS 48
#define ANY_LENGTH (-1)

typedef enum { UNKNOWN, FLOAT64, FLOAT32, INT32, INT64, INT8 } Type;

static const char *const type_names[] = {"of a type that is not known here", "float64", "float32",
                                         "int32", "int64", "int8 or bool"};

static const char too_many[] = "A kernel holds more arrays than MOST_BUFFERS.";

typedef struct {
    Py_buffer views[MOST_BUFFERS];
    PyObject *owned[MOST_BUFFERS]; /* attributes */
    int count, owned_count;
    int failed;
} Buffers;

/* Give all arrays back; the NULL is for `return release(&held)` after a failure. */
static inline PyObject *release(Buffers *held)
{
    for (int i = 0; i < held->count; i++) PyBuffer_Release(&held->views[i]);
    for (int i = 0; i < held->owned_count; i++) Py_DECREF(held->owned[i]);
    held->count = held->owned_count = 0;
    return NULL;
}

/* An attribute of a Python object, until the release; NULL after a failure. */
static inline PyObject *attribute(Buffers *held, PyObject *owner, const char *name)
{
    if (held->failed) return NULL;
    if (held->owned_count == MOST_BUFFERS) PyErr_SetString(PyExc_SystemError, too_many);
    PyObject *value = held->owned_count < MOST_BUFFERS ? PyObject_GetAttrString(owner, name) : NULL;
    if (value) held->owned[held->owned_count++] = value;
    else held->failed = 1;
    return value;
}

/* Unsigned integers count as their signed kin: indices are not negative. */
static inline Type type_of(const Py_buffer *view)
{
    const char *format = view->format ? view->format : "B";
    if (*format == '@' || *format == '=') format++;
    if (*format == 0 || format[1] != 0) return UNKNOWN;
    if (*format == 'd') return FLOAT64;
    if (*format == 'f') return FLOAT32;
    if (!strchr("bB?iIlLqQnN", *format)) return UNKNOWN;
    return view->itemsize == 8 ? INT64 : view->itemsize == 4 ? INT32 : view->itemsize == 1 ? INT8 : UNKNOWN;
}

static inline Py_ssize_t length_of(const Py_buffer *view)
{
    return view->itemsize ? view->len / view->itemsize : 0;
}

/* The view of any array, C-contiguous unless `flags` say PyBUF_STRIDES; NULL after a failure. */
static inline const Py_buffer *hold(Buffers *held, PyObject *object, const char *name, int flags)
{
    if (held->failed) return NULL;
    if (held->count == MOST_BUFFERS) {
        PyErr_SetString(PyExc_SystemError, too_many);
        held->failed = 1;
        return NULL;
    }
    Py_buffer *view = &held->views[held->count];
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | flags) != 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "%s must be an array of numbers%s%s.", name,
                     (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ? " in C's order" : "",
                     flags & PyBUF_WRITABLE ? " that can be written to" : "");
        held->failed = 1;
        return NULL;
    }
    held->count++;
    return view;
}

/* The numbers of a C-contiguous array of this type and length (all dimensions together). */
static inline void *numbers(Buffers *held, PyObject *object, const char *name, Type type, Py_ssize_t length, int flags)
{
    const Py_buffer *view = hold(held, object, name, PyBUF_C_CONTIGUOUS | flags);
    if (!view) return NULL;
    if (type_of(view) != type) {
        PyErr_Format(PyExc_ValueError, "%s must hold %s numbers, and its numbers are %s.", name, type_names[type],
                     type_names[type_of(view)]);
        held->failed = 1;
        return NULL;
    }
    if (length != ANY_LENGTH && length_of(view) != length) {
        PyErr_Format(PyExc_ValueError, "%s must hold %zd numbers, and it holds %zd.", name, length, length_of(view));
        held->failed = 1;
        return NULL;
    }
    return view->buf;
}

static inline const double *float64_in(Buffers *held, PyObject *object, const char *name, Py_ssize_t length)
{
    return numbers(held, object, name, FLOAT64, length, 0);
}

static inline double *float64_out(Buffers *held, PyObject *object, const char *name, Py_ssize_t length)
{
    return numbers(held, object, name, FLOAT64, length, PyBUF_WRITABLE);
}

static inline const float *float32_in(Buffers *held, PyObject *object, const char *name, Py_ssize_t length)
{
    return numbers(held, object, name, FLOAT32, length, 0);
}

static inline float *float32_out(Buffers *held, PyObject *object, const char *name, Py_ssize_t length)
{
    return numbers(held, object, name, FLOAT32, length, PyBUF_WRITABLE);
}

static inline const int64_t *int64_in(Buffers *held, PyObject *object, const char *name, Py_ssize_t length)
{
    return numbers(held, object, name, INT64, length, 0);
}

static inline int64_t *int64_out(Buffers *held, PyObject *object, const char *name, Py_ssize_t length)
{
    return numbers(held, object, name, INT64, length, PyBUF_WRITABLE);
}

static inline const int32_t *int32_in(Buffers *held, PyObject *object, const char *name, Py_ssize_t length)
{
    return numbers(held, object, name, INT32, length, 0);
}

static inline int32_t *int32_out(Buffers *held, PyObject *object, const char *name, Py_ssize_t length)
{
    return numbers(held, object, name, INT32, length, PyBUF_WRITABLE);
}

#endif
