"""The compiled code, in C (`c/`), called without the interpreter lock; and the same in NumPy, where it is not built.

`compiled` finds the kernels.  The sequential ones are here because row i needs the weights that row i − 1 left.
"""
