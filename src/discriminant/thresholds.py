"""Constants that choose a method: one table, each with the measurement that set it.

Measured in November 2026 on two cores (Zen 4, AVX-512) unless a line says otherwise.
"""

# Columns from which BLAS forms a Hessian faster than tiles do: 20,000×500 132 against 172 ms, 50,000×100 25 against 19.
BLAS_COLUMNS = 256

# Multiplications of a partition of a compiled pass, some 0.4 ms: fewer do not pay for a thread's start (0.1 ms).
PASS_WORK = 4.0e6

# Values that centre and units are read from: 1 to 2 ms, and units need not be right to more than a factor of two.
SCALING_ROWS = 400_000

# A column whose mean lies further than so many spreads from zero is measured from one of its values: two bits.
FAR_MEAN = 4.0
