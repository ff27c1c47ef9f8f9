"""Written by tests/contracts/make_stubs.py from the tables of __init__.py: change those."""

from discriminant import bases as bases
from discriminant import codings as codings
from discriminant import criteria as criteria
from discriminant import datasets as datasets
from discriminant import decision as decision
from discriminant import figures as figures
from discriminant import geometry as geometry
from discriminant import optimize as optimize
from discriminant import penalties as penalties
from discriminant import plots as plots
from discriminant import report as report
from discriminant.data.device import on_device as on_device
from discriminant.data.scan import scan as scan
from discriminant.estimators.adaline import Adaline as Adaline
from discriminant.estimators.compare import compare as compare
from discriminant.estimators.exponential_family import ExponentialFamilyClassifier as ExponentialFamilyClassifier
from discriminant.estimators.fisher import FisherDiscriminant as FisherDiscriminant
from discriminant.estimators.general import Discriminant as Discriminant
from discriminant.estimators.least_squares import LeastSquaresClassifier as LeastSquaresClassifier
from discriminant.estimators.linear import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
from discriminant.estimators.linear_machine import LinearMachine as LinearMachine
from discriminant.estimators.linear_programming import LinearProgrammingClassifier as LinearProgrammingClassifier
from discriminant.estimators.logistic import LogisticRegression as LogisticRegression
from discriminant.estimators.logistic_cv import LogisticRegressionCV as LogisticRegressionCV
from discriminant.estimators.logistic_path import logistic_path as logistic_path
from discriminant.estimators.minimum_error import MinimumErrorClassifier as MinimumErrorClassifier
from discriminant.estimators.minimum_risk import MinimumRiskClassifier as MinimumRiskClassifier
from discriminant.estimators.perceptron import Perceptron as Perceptron
from discriminant.estimators.quadratic import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
from discriminant.estimators.sigmoid_regression import SigmoidRegressionClassifier as SigmoidRegressionClassifier
from discriminant.estimators.svc import LinearSVC as LinearSVC
from discriminant.inference.ambiguity import ambiguity as ambiguity
from discriminant.inference.capacity import cover_probability as cover_probability
from discriminant.inference.capacity import sample_size as sample_size
from discriminant.inference.capacity import shatters as shatters
from discriminant.inference.capacity import vc_dimension as vc_dimension
from discriminant.inference.certify import certify as certify
from discriminant.inference.kesler import kesler_construction as kesler_construction
from discriminant.inference.separability import Separability as Separability
from discriminant.inference.separability import separability as separability
from discriminant.inference.solution_region import solution_region as solution_region
from discriminant.io import load as load
from discriminant.io import save as save
from discriminant.io import scorer as scorer
from discriminant.io import to_c as to_c
from discriminant.io import to_json as to_json
from discriminant.io import to_onnx as to_onnx
from discriminant.io import to_sql as to_sql
from discriminant.model import LinearDiscriminant as LinearDiscriminant
from discriminant.patch import patch_sklearn as patch_sklearn
from discriminant.patch import unpatch_sklearn as unpatch_sklearn
from discriminant.protocols import Certificate as Certificate
from discriminant.versions import show_versions as show_versions

_HOMES: dict[str, str]
__version__: str
