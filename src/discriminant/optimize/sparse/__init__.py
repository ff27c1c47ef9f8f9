"""Sparse logistic regression: L1, elastic net and groups, with bounds and penalty factors, at one λ or along a path.

Proximal Newton steps on a working set of columns, coordinate descent inside, safe screening outside, and for each
answer a duality gap that counts the free intercept right.
"""

from discriminant.optimize.sparse.path import SPARSE, SparsePath, SparsePenalty, solve_path, solve_sparse

__all__ = ["SPARSE", "SparsePath", "SparsePenalty", "solve_path", "solve_sparse"]
