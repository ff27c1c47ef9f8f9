"""The generative way: class moments in one pass, then weights in closed form.

``moments`` holds what is added over rows (mergeable), ``whiten`` turns a scatter into coordinates in which it is the
unit matrix and finds its rank, ``covariance`` has the estimates that differ from plain scatter (shrinkage, pooling),
``row_space`` what stands for it where rows are fewer than columns, ``weights`` the discriminants and Fisher's axes,
``leave_one_out`` the closed-form deletions.
"""

from discriminant.gaussian.moments import ClassMoments, class_moments
from discriminant.gaussian.whiten import Whitened, whiten_matrix, whiten_moments

__all__ = ["ClassMoments", "Whitened", "class_moments", "whiten_matrix", "whiten_moments"]
