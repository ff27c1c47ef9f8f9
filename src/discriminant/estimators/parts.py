"""What the parameters may be that name a part: a coding, a criterion, a penalty, an optimizer."""

from __future__ import annotations

from sklearn.utils._param_validation import HasMethods

from discriminant.codings import ClassCoding
from discriminant.codings.make import CODINGS
from discriminant.criteria import CRITERIA, Pointwise
from discriminant.estimators.parameters import Named
from discriminant.optimize import OPTIMIZERS as NAMED_OPTIMIZERS
from discriminant.penalties import PENALTIES, WeightPenalty

CODING = [Named("auto", *CODINGS), ClassCoding, "array-like"]
CRITERION = [Named(*CRITERIA), Pointwise]
PENALTY = [None, Named(*PENALTIES), WeightPenalty]
OPTIMIZER = [Named("auto", *NAMED_OPTIMIZERS), HasMethods("minimize")]
