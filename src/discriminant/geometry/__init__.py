"""What a linear discriminant looks like: hyperplanes, regions, and the share of each attribute in a score.

``Hyperplane`` holds distances, feet and sides; ``decision_regions`` the convex polygons of an argmax rule in the plane;
``Contributions`` what each attribute adds to a score.  ``LinearDiscriminant`` hands them out.
"""

from discriminant.geometry.contributions import Contributions
from discriminant.geometry.hyperplane import Hyperplane
from discriminant.geometry.regions import box, clip, decision_regions, polygon_area

__all__ = ["Contributions", "Hyperplane", "box", "clip", "decision_regions", "polygon_area"]
