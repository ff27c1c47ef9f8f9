/* Every kernel of the module, in one list.  To add one: write c/xxx.c with PyObject *kernel_xxx(PyObject *self,
   PyObject *args) and add a line here; the build takes every .c file of this folder. */
#ifndef DISCRIMINANT_MODULE_H
#define DISCRIMINANT_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <pyconfig.h>
#ifndef Py_GIL_DISABLED /* free-threaded Pythons have no limited API: one binary for each of those */
#define Py_LIMITED_API 0x030B0000 /* one binary for all Pythons from 3.11: the buffer protocol entered it there */
#endif
#include <Python.h>

#define KERNELS(KERNEL) \
    KERNEL(best_level, "The highest instruction-set level that this processor can run: a name of compiled.LEVELS.") \
    KERNEL(cholesky, "The triangle of a small positive definite matrix: see factor.c.") \
    KERNEL(cholesky_solve, "Solutions with such a triangle.") \
    KERNEL(cholesky_trace, "The trace of the inverse.") \
    KERNEL(descend, "Coordinate descent on a quadratic model; see discriminant.kernels.coordinate.") \
    KERNEL(dual_epochs, "Passes of dual coordinate descent, two classes; see discriminant.kernels.dual.") \
    KERNEL(evaluate, "J and its derivatives over some rows: see evaluate.c.") \
    KERNEL(hinge_step, "A step of the interior point method of a support vector machine; see hinge.c.") \
    KERNEL(longest_row, "The greatest of the scaled rows' squared lengths: see evaluate.c.") \
    KERNEL(machine_epoch, "One pass of dual coordinate descent, K classes; see discriminant.kernels.dual.") \
    KERNEL(newton, "Newton's method for two classes, from the start to a proved gap: see newton.c.") \
    KERNEL(posteriors, "Posteriors of rows of scores: see posteriors.c.") \
    KERNEL(softmax_dual, "The conjugates of classes that compete, over all rows.") \
    KERNEL(softmax_losses, "Their losses and slopes.") \
    KERNEL(solve_path, "Sparse fits of one output along a path of penalties; see sparse_path.c.") \
    KERNEL(sweep, "sweep(samples, state, order): one single-sample pass; see discriminant.kernels.sweeps.") \
    /* the end of the list */

#define DECLARE(name, text) PyObject *kernel_##name(PyObject *self, PyObject *args);
KERNELS(DECLARE)
#undef DECLARE

#endif
