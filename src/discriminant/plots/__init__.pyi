"""Written by tests/contracts/make_stubs.py from the tables of __init__.py: change those."""

from discriminant.plots.animation import TraceAnimation as TraceAnimation
from discriminant.plots.calibrations import CalibrationDisplay as CalibrationDisplay
from discriminant.plots.discriminant_axes import DiscriminantAxesDisplay as DiscriminantAxesDisplay
from discriminant.plots.history import HistoryDisplay as HistoryDisplay
from discriminant.plots.margins import MarginDisplay as MarginDisplay
from discriminant.plots.paths import CoefficientPathDisplay as CoefficientPathDisplay
from discriminant.plots.posteriors import PosteriorDisplay as PosteriorDisplay
from discriminant.plots.regions import DecisionRegionsDisplay as DecisionRegionsDisplay
from discriminant.plots.solutions import SolutionRegionDisplay as SolutionRegionDisplay
from discriminant.plots.surface import CriterionSurfaceDisplay as CriterionSurfaceDisplay
from discriminant.plots.waterfall import ContributionsDisplay as ContributionsDisplay
