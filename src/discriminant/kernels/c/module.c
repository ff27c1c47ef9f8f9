/* The extension module.  The same files are compiled once per instruction-set level (see hatch_build.py), which names
   the module: _compiled_baseline, _compiled_avx2, _compiled_avx512. */
#include "module.h"

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

PyObject *kernel_best_level(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    const char *level = "baseline";
#if defined(__x86_64__)
    __builtin_cpu_init();
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                 __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    level = avx2 && avx512 ? "avx512" : avx2 ? "avx2" : level;
#endif
    return PyUnicode_FromString(level);
}

#define ENTRY(name, text) {#name, kernel_##name, METH_VARARGS, text},
static PyMethodDef methods[] = {KERNELS(ENTRY){NULL, NULL, 0, NULL}};

/* No kernel keeps anything between calls, and all work on arrays of their callers: they need no lock. */
static PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_compiled_" TEXT(LEVEL), "Kernels in C; discriminant.kernels.compiled chooses the level.",
    0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC JOIN(PyInit__compiled_, LEVEL)(void) { return PyModuleDef_Init(&definition); }
