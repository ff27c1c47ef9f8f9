"""Sequential sweeps, the only compiled code: plain functions that Numba compiles on first use and keeps on disk.

Nothing here is imported for small data; each kernel has a NumPy form that gives the same answer.
"""
