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

# Sparse fits: proximal Newton steps on a working set of columns.
# Rows per column from which dense columns are not copied: passes then see all columns at the price of the few.
COLUMNS_IN_PLACE = 64

# A column of row-major storage costs as much to gather as so many columns of a full pass, 10,000×5,000.
GATHER_COST = 40

# Rows per coordinate from which the weighted Gram matrix of the working set is formed: sweeps along columns are cheaper
# below (500×2000: 91 ms against 160).
GRAM_ROWS_PER_COLUMN = 2

# Coordinates up to which it is formed at all: 72 MB.
MOST_GRAM = 3_000

# Sparse columns up to which their Gram matrix costs less than sweeps along them, 20,000×50,000 with 100 entries a row.
SPARSE_GRAM = 200

# Weights up to which a Newton step on the support factors their matrix; above, conjugate gradients.
MOST_CHOLESKY = 1_000
