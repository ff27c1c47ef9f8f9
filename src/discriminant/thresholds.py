"""Constants that choose a method: one table, each with the measurement that set it.

Measured in November 2026 on two cores (Zen 4, AVX-512) unless a line says otherwise.
"""

# Columns from which BLAS forms a Hessian faster than tiles do: 20,000×500 132 against 172 ms, 50,000×100 25 against 19.
BLAS_COLUMNS = 256

# Multiplications of a partition of a compiled pass, some 0.4 ms: fewer do not pay for a thread's start (0.1 ms).
PASS_WORK = 4.0e6

# Values, or multiplications by as many columns, from which a pass of NumPy's calls on blocks is worth threads: LDA
# of 100,000×10 takes 3.6 ms of one and took 6.8 of two, 10,000×50 3.0 and 5.0; 50,000×100 takes 22 and 15.  Half as
# many for each further thread: with all of sixteen cores, naive Bayes of 20,000×100 took 16 ms in place of 4.
THREADED_VALUES, THREADED_WORK = 4_000_000, 1.5e8

# Values of X from which folds, or the classes of a support vector machine, are fitted side by side: LinearSVC of three
# classes, 1000×10, takes 1.05 ms of one thread and 1.25 of two, 10,000×40 41 and 35.
SERIAL_VALUES = 400_000

# Nanoseconds of a compiled pass for each thread that takes part: with sixteen cores and a thread for each partition,
# fits of 20,000×20×5 and 20,000×100 took 1.6 and 1.5 times as long as with one core.
THREAD_TIME = 4.5e5

# Multiplications for each number of a partition's sum, which is zeroed, mirrored and added at the price of some 50:
# the Hessian of 1000×1000 in 15 partitions took 110 ms, in 2 it takes 35.
SLOT_WORK = 200

# Values that centre and units are read from: 0.06 ms, and units need not be right to more than a factor of two.
SCALING_ROWS = 20_000

# A column whose mean lies further than so many spreads from zero is measured from one of its values: two bits.
FAR_MEAN = 4.0

# Codes of rows that are counted at a time, since they may lie on disk: of 2,000,000 2.4 ms, by 4,096 3.2, at once 2.6.
COUNTED_CODES = 1 << 18

# Bytes of a CSV file from which pyarrow reads it, its import included: 1 MB takes the standard library 0.4 s, pyarrow
# 0.7, 4 MB 1.6 against 0.8, 16 MB 9.5 against 0.9.
ARROW_BYTES = 4_000_000

# Columns up to which a database adds up products, which are one expression each: DuckDB, 20,000×100 with 5,050, 2.7 s.
QUERY_COLUMNS = 100

# Sparse fits: proximal Newton steps on a working set of columns.
# Rows per column from which dense columns are not copied: passes then see all columns at the price of the few.
COLUMNS_IN_PLACE = 64

# Values up to which they are copied all the same, and the compiled path reads them without asking Python: one L1 fit of
# 5,000×1,000 takes 56 ms instead of 77, 2,000×5,000 109 instead of 134, column-major 500×20,000 45 instead of 137.
COPIED_VALUES = 10_000_000

# Values up to which a frame of several types becomes an array at once, not a block at a time in every pass: a fit of
# 1000×10 numbers and integers takes 1.6 ms in place of 9, of 300,000×30 90 in place of 230.
FRAME_VALUES = 10_000_000

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

# Steps that a sparse fit of classes that compete remembers: 24 take 1.4 times as long on 300×600×4 and on sparse
# 2,000×3,000×4 at tol=1e-8, 2 on 150×4×3, and elsewhere 0.8 to 1.1 times.
SECANT_PAIRS = 6

# Parameters of all outputs together up to which their Hessian is held and factored as one matrix.
COUPLED_PARAMETERS = 1_200

# Values·outputs up to which a gradient is taken in the machine's widest float, which has no BLAS: 0.1 s.
EXTENDED_VALUES = 5_000_000

# Columns up to which a d × d matrix is held and factored (50 MB, a second).
FACTOR_COLUMNS = 2_500

# Rows of the first sample, of the second, and what share of all rows the second may be: the sample and its Hessian then
# cost about a pass over 1e6×50; 40,000×50 took 18 ms with 10,000 and takes 13 with 5,000, for as many passes.
FIRST_SAMPLE_ROWS = 2_000
SAMPLE_ROWS = 5_000
SAMPLE_SHARE = 25
SAMPLE_ROWS_PER_COLUMN = 20

# Multiplications that the Hessian of a sample of rows in files may take: less than a pass over the files.
SAMPLE_WORK = 1.0e10

# Multiplications that a proof by some rows' curvature may take: a few passes.
PROOF_WORK = 3.0e9

# Times the gap that is asked for, by its dual bound, from which a proof by a row sample's curvature saves passes: it
# costs about one (40,000×50: 1.5 ms), and the dual bound would need two or more.
DUAL_FAR = 100.0

# How much of a gap, as a logarithm, a step by the columns' Gram matrix takes (5000×300×3, 2000×64×10 and 1000×50×5: 1.1
# to 1.4), and the share of the gap that is asked for at which the dual bound is no longer waited for.
FALL, DUAL_LOST = 1.0, 1e-7

# Steps of competing classes that the Gram matrix may cost which preconditions them, and beyond, the rows for each
# column that it is formed of: 5000×300×3 takes 14 steps to 1e-6 in place of 11, and spares 8 ms, which are 12 steps.
GRAM_STEPS, GRAM_SAMPLE = 2, 5

# How often the classes' own Hessians are formed anew, at the price of some steps: 1000×10×100, C = 1e4, takes 54 steps
# to 1e-7 in place of 400.
MOST_RENEWALS = 50

# n·d up to which sparse rows may be written out, and the share of entries from which they are (always below an 80th).
DENSE_VALUES = 8_000_000
DENSE_SHARE = 0.2

# Parameters from which LAPACK would start threads of its own: below, limiting BLAS costs more (2 ms) than they lose.
HELD_BLAS_COLUMNS = 96

# Multiplications of a product of rows from which BLAS would, too: LDA of 5000×50 took 28 ms on a busy machine with
# BLAS's threads and takes 2.3, ridge least squares of 2000×80 151 and 20.  A limit costs 10 µs after the first.
HELD_BLAS_WORK = 1.0e6

# tol up to which small fits are carried to the last digits: scikit-learn's tests compare weights to 1e-4 at 1e-5.
LAST_DIGITS_TOL = 1e-5

# tol up to which these are all digits that the machine has; above, as many digits of scores as tol says.
ALL_DIGITS_TOL = 1e-8

# Multiplications of an exact Hessian, and values, up to which Newton's steps of two classes are one compiled call, of
# one thread: to 1e-4, 200×10 takes 0.37 ms in place of 0.58, 1000×100 1.4 in place of 2.5, 10,000×50 2.9 in place of 5.
ONE_CALL_WORK = 2.1e7
ONE_CALL_VALUES = 600_000

# Nanoseconds of a multiplication in a Hessian by tiles (1000×100: 0.26 ms) and in our factor of it (44 μs).
TILE_PRODUCT, FACTOR_PRODUCT = 0.05, 0.25

# Multiplications of an exact Hessian of competing classes up to which one in every step beats one that is kept.
EXACT_WORK_COUPLED = 1.0e9

# Rows up to which a Hessian of all of them, kept, beats that of a row sample: 10,000×50 takes 4.0 ms instead of 4.8,
# 10,000×100 dummies 9.5 instead of 10.6; 20,000×50 would take 8.5 instead of 6.8.
FEW_ROWS = 12_000

# The same up to which steps by a row sample's Hessian are carried to the last digits, at the price of four passes or
# five: 10,000×50 is below; 300,000×30 takes 43 ms to a proved 1e-8, and would take 71.
LAST_DIGITS_WORK = 2.0e7

# The same without a penalty, where weights are estimates that are read to many digits: ten rows of a class among a
# million have seven digits at a proved 1e-8 of J, and twelve at the end.
LAST_DIGITS_PLAIN = 1.5e8

# Folds of a cross-validation are solved together for two classes, with at least so many rows per parameter, values, and
# at most so many parameters; the Hessians come from so many rows per parameter. 100,000×50, 10 folds × 20 C: 1.1 s
# against 7 one by one.
FOLD_ROWS, FOLD_VALUES, FOLD_PARAMETERS, FOLD_SAMPLE = 50, 100_000, 1_200, 400

# Nanoseconds: of a gradient a value (1000×1000: 0.30 ms), of a Hessian or a factor a multiplication by BLAS (31 ms and
# 10), of a Hessian of competing classes by tiles (6000×20×5: 2 ms), of the loss of a row and class (100,000×3×40: 10
# ms), and of a limited-memory step apart from its pass.
PASS_VALUE, BLAS_PRODUCT, PAIR_PRODUCT, LOSS, STEP = 0.3, 0.06, 0.1, 2.5, 1.0e5

# Nanoseconds of a proof with a projection: of its matrix a multiplication in single precision, and of a row's value and
# class in NumPy (1340×300×3: 4 ms, 10,000×100×10 11).
SINGLE_PRODUCT, ROW_VALUE, ROW_CLASS = 0.03, 5.0, 50.0

# Steps of conjugate gradients for least squares on sparse rows: nanoseconds of one, a value (10,000×2,000 with 50 a
# row: 0.43 ms), and how many of them must cost no more than the sums of products for these to be left unformed: 30 to
# 40 arrive where columns differ (that shape 17 ms against 400; 10,000×300 with 30 a row 7 against 25).
SPARSE_PASS, LEAST_STEPS = 0.9, 100

# Limited-memory steps, up to which Newton's way is taken where it costs no more than so many: 10,000×10×3 has 8 (3.9 ms
# against 4.8), 100,000×10×3 12 (26 against 18), 2000×50×5 94 (21 against 6).  And up to which a sample's Hessians are:
# 100,000×3×40 has 3 (123 ms against 336 by the columns' Gram matrix), 20,000×8×30 19 (97 against 56).
NEWTON_WORTH, SAMPLE_WORTH = 10, 14

# Multiplications, n(1+d)², up to which a step of the interior point method of a hinge is one compiled call: 100×5 takes
# 0.2 ms in place of 1.2, 1000×100 7.7 in place of 12, 5000×50 15 in place of 32.
HINGE_WORK = 4.0e7

# Nanoseconds of dual coordinate descent: a visit of a row, and of a value of it, dense or sparse (1000×10 20, 1000×1000
# 260, 10,000×2000 with 50 a row 110).  Of an exact step: a multiplication of a sparse matrix by itself, and what a row
# costs beside it, for a squared hinge and a hinge.
ROW_VISIT, DENSE_VISIT, SPARSE_VISIT = 20.0, 0.25, 2.0
SPARSE_PRODUCT, SQUARED_ROW, HINGE_ROW = 4.0, 10.0, 100.0

# Epochs of it that exact steps must cost before it is tried: a hinge to 1e-4 takes 19 ms in place of 330 at 1000×1000,
# 2 in place of 10 at 300×600, 2 in place of 12 at 5000×50 with C = 0.01; where it fails, C = 1, up to a third more.
# At 15, 1000×20 with C = 0.001 takes 0.35 in place of 0.6, but fits of tiny sparse rows end where tol says, and weights
# no longer give the scores of repeated rows to seven digits.
LEAST_EPOCHS = 45

# Steps by gradients alone that are worth trying before the Hessian is formed: 1000×200 has ten and would need more (6.7
# ms with them against 4.8, correlated columns); 2000×400 has 32 and needs 14 (8 ms, by the Hessian 17).
LEAST_TRIAL = 20

# Columns up to which a row sample is solved by exact Hessians in every step, 4 to 6 of them: beyond, by one and some 20
# more gradients.
NEWTON_COLUMNS = 120

# Steps by gradients of competing classes, fewer sparse rows than columns, before their columns become the rows'.
MOST_FIRST = 300

# Share of a Gram matrix's correlations that is chance, from which on they are shrunk: 5000×300×3, rows for each column
# five, takes 14 steps to 1e-4 in place of 17; columns that are correlated, or many rows, lie below.
CHANCE = 0.1

# Classes for each column up to which their curvature is asked for at the start: K²/2 numbers a row, beside (1 + d) K of
# a gradient; 5000×50×100 takes 128 ms in place of 153.
CLASSES_PER_COLUMN = 3

# Steps by a kept Hessian before new ones are formed after all: nearly separated classes.
MOST_KEPT = 80

# Values of rows that a fit holds on to at most until its summary is asked for, where they are summed: 80 MB, and a sum
# takes as long as a pass of the fit.  More are held weakly: the table then asks for those that nobody keeps.
KEPT_VALUES = 10_000_000

# A pickle holds the sums where the rows are more than so many times as many numbers; else neither.
HELD_ROWS = 2

# Samples of an epoch up to which single-sample rules present rows as often as their weights count: an order of 80 MB.
# Beyond, weights are factors on the step.
REPEATED_ROWS = 10_000_000

# Columns above which closed forms of fewer rows than columns go through the rows' inner products: 60×64 takes as long
# either way, 60×2000 4 ms against 960, 60×10,000 16 ms against 6 minutes.
ROW_SPACE_COLUMNS = 64

# Rows per column up to which penalised least squares go that way, too: 1000×1000 takes 40 ms in place of 87, 1200×1000
# 60 in place of 86, 2000×1000 would take 195 in place of 100.
ROWS_PER_COLUMN = 1.2

# Multiplications of the Gram matrix of all columns up to which sparse fits of competing classes with no fewer rows than
# columns work with all from the start: to 1e-6, correlated 1e3×100×5 takes 49 ms in place of 73, 2e3×200×3 30 in place
# of 60; 1e3×400×5, C = 0.03, would take 23 in place of 12, and with fewer rows 200×500×5 took 49 in place of 21.
WHOLE_SET_WORK = 1.0e8

# Values up to which the ridge fits of a fold of two classes, one C after the other, are one compiled call, that of
# sparse fits.  Chosen so, not swept.
SMALL_SET = 200_000

# Values of X up to which class moments are those of the rows less their means: 500×10 takes 85 µs in place of 190,
# 2000×20 of 100 classes 0.6 ms in place of 4.6, 2000×100 1.0 in place of 1.5; more values are worth a second thread.
RESIDUAL_VALUES = 400_000

# Values of X up to which its moments are one block: a second thread is worth less than its start.  Chosen, not swept.
ONE_BLOCK_VALUES = 50_000

# Columns above which rows are read again for digits of a covariance from a larger κ on only: at 10,000×784 the second
# reading took 0.5 s and the first 0.2.
REREAD_COLUMNS = 128

# That κ: the Gram matrix keeps eleven digits.
REREAD_CONDITION = 1.0e5

# Values of X up to which rows are read again from a tenth of the usual κ on: 569×10 of κ = 7,000 take 1.7 ms instead of
# 0.9, and weights two thousand times below the largest have thirteen digits instead of eleven.
REREAD_VALUES = 1_000_000

# Values of X up to which rows that are read again are multiplied with the digits of twice the precision: 569×30 take
# 0.1 ms more.
PRECISE_VALUES = 4_000_000

# κ of a covariance up to which the inverse of its triangular factor whitens it so nearly that no direction is in doubt;
# beyond, its axes are worked out.  By analysis, not swept.
TRIANGULAR_CONDITION = 1.0e6

# Weights of an output (all outputs where they are coupled) up to which, or up to the passes that a run took, its end is
# judged by the whole Hessian: that costs 4, 17, 23 and 100 gradients at 50, 100, 200 and 800 columns.
WHOLE_HESSIAN = 100

# Bytes of rows that a search under ``patch_sklearn`` holds at most: five folds of 50,000×50, and scaled, are 160 MB.
FOLD_BYTES = 500_000_000

# Columns up to which our own triangular solve takes no longer than NumPy's, and spares loading SciPy.
COMPILED_UP_TO = 96

# Columns up to which a block of sparse rows is written out for its moments, and the share of entries from which it is:
# LDA of 20,000×64, 2 % full, takes 5 ms in place of 12; 300 columns 47 either way at a tenth.
DENSE_COLUMNS, DENSE_FROM = 64, 0.08

# Classes up to which their sums are one product with an indicator of each: LDA of 200,000×10 takes 5 ms in place of 10,
# and 4000×50 of 16 classes 0.2 ms either way.
ONE_HOT_CLASSES = 16

# Values of X up to which quadratic scores are worked out without blocks: a row takes 10 μs in place of 28.
ONE_PIECE_VALUES = 10_000

# Classes up to which a softmax is worked out class by class and not row by row: 100,000×3 takes 0.5 ms in place of 4.4,
# 100,000×64 33 either way.
COLUMNWISE_CLASSES = 32

# Columns up to which, and rows from which, the largest is found by comparing columns with each other: 100,000×3 takes
# 0.15 ms in place of 0.97, 2048×3 6 μs either way.
COMPARED_COLUMNS, COMPARED_ROWS = 8, 2_048

# Rows × features × classes up to which a report asks for what takes more than its fit: at 40,000×15×2 separability
# takes 0.05 s, a learning curve 0.05 and standard errors by a hundred fits 0.6.
REPORT_WORK = 2_000_000

# Multiplications of one system, n (1+d)²K², up to which a machine of all classes is found by an interior point: 3000×60
# of 10 classes, 1e9, takes 1.0 s to 4e-12, and has 8e-4 after 4 s of dual descent.
MACHINE_WORK = 2.0e10

# Multiplications of a prediction below which threads take longer to start than they save, and those that a score's
# posterior or label counts for: 100,000×10 takes 0.4 to 0.7 ms of one thread, and took twice that of two.
PREDICT_WORK, ROW_WORK = 1.0e7, 20

# Verdicts on more than two classes: weights from which classes are merged (10 classes of 2 columns whole take 16 ms in
# place of 57, 10 of 10 columns merged 0.11 s in place of 0.46, 26 of 16 columns 9 s in place of 80), pairs of classes
# that are tried first (26 classes of 12 columns: 0.4 s in place of 1.7), and weights from which descent on all rows
# comes before a program on some (12 separable classes of 40 columns: 0.09 s in place of 0.55).
MERGE_FROM, FIRST_PAIRS, DESCENT_FROM = 40, 5, 250

# Columns beyond which descent looks for weights that separate before exact arithmetic looks at the columns (3000×500
# takes 0.16 s in place of 4.5, 1000×120 that overlaps 0.33 either way), and beyond which rows that single columns
# settle are taken off first (3000×1500 of rare words: 0.3 s in place of 62).
DESCEND_COLUMNS, SETTLE_COLUMNS = 100, 600

# Columns up to which the widest gap is searched for once classes are known to be separable: 2000×300 takes 0.11 s in
# place of 0.02, 2000×600 0.3 s in place of 0.04, 2500×1200 would take 0.8 s in place of 0.07.
WIDEST_COLUMNS = 600

# Values of a block of a prediction, of X or its scores, and up to which rows are one product: a quarter or four times
# as many take as long, 100,000×10, 20,000×100 and 3000×1000 with and without a centre, of 2 to 26 classes.
PREDICT_BLOCK = 400_000

# Values of an intermediate table, such as distances to centres, that is made a block of rows at a time: a quarter or
# four times as many take as long; in one piece, 100,000×10 and 50 centres take 97 ms in place of 46.
TABLE_BLOCK = 65_536

# Values up to which the features of a basis are worked out once and held (32 MB) and not in every pass: a quadratic
# basis of 2000×10 takes 5 ms in place of 20, of 20,000×10 35 in place of 68; 100,000×10 would take 150 and takes 260.
HELD_VALUES = 4_000_000

# Values up to which a single-sample run is followed by a pass for J and the errors: 100,000×10 takes 30 ms with it and
# 21 without.
EVALUATED_VALUES = 2_000_000

# Multiplications up to which the least-squares minimum is worked out beside what LMS found: 10,000×100 takes 18 ms with
# it and 15 without, 20,000×200 would take 63 and takes 40.
MINIMUM_WORK = 1.0e8

# Numbers in the constraints from which a linear program is preceded by the question whether the rows are separable,
# where no slack is needed (40,000×10 takes 33 ms in place of 990, where they overlap 950 of either kind); up to which
# equal rows are merged and sorted, so that of many solutions the same is found in any order.
PROGRAM_VALUES = 500_000

# Values up to which a fit asks whether its rows are separable: of a sample, 400,000×50 that overlap take 0.1 s with and
# without; of all, by a proof in floats that takes as long as the epochs, 1000×20 0.3 to 1.3 ms; exactly where that
# leaves it open, 200×5 5 ms.
VERDICT_VALUES, PROOF_VALUES, EXACT_VALUES = 20_000_000, 1_000_000, 5_000

# The command line: values up to which a named method is cross-validated unasked (80,000×100 takes 0.63 s with it and
# 0.51 without), and columns from which "auto" leaves out a covariance for each class, and one that is not shrunken:
# 2000×300 takes 1.1 s of all families and 0.8 of two, 2000×1000 13 and 2.
QUICK_VALUES, MANY_COLUMNS = 2_000_000, 300

# Values of rows on a device below which they are fetched and fitted in memory, on an H200 with 10 and 50 columns: at
# 2,000,000 two classes take 7 and 10 ms there and 24 and 20 in memory, three 30 and 46 against 60 and 66, LDA 2 and 3
# against 14 and 18; at 1,000,000 of 50 columns three classes take 53 against 28.
SMALL_VALUES = 2_000_000

# Values of the widest array that a pass on a device makes of a block: 20,000,000×64 on an H200, three classes take
# 241 ms with half as many, 198, and with eight times as many 171, at a peak of 0.8, 1.4 and 9.6 GB beside the rows.
BLOCK_VALUES = 1 << 27

# Share of the free memory of a device that rows may take for good: what is left must hold blocks (1.4 GB, above) and
# the scores of every row and class, which take 0.4 of it at most.
RESIDENT_SHARE = 0.6

# Share of the memory of Dask's workers that rows may take for good: a partition is held as it came and as an array.
HELD_SHARE = 0.5
