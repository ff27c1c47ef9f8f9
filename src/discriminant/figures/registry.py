"""The table of figures: name, the file that draws it, the place in the books, and what it claims."""

from __future__ import annotations

import difflib
import importlib
import re
from dataclasses import dataclass, replace
from typing import Any

from discriminant.errors import ParameterError, names

# name | file | its place, as the documents name it: book and number, or lecture | where it is found elsewhere, to look
# it up by; below it the claim, and after > where in the picture that is seen
_TABLE = """
separating_line | boundaries | Alpaydin 10.1
    A line separates the examples of two classes; the sign of w0 says on which side the origin lies.
    > circles lie on the blue side, where g > 0, squares on the orange one; the cross of the origin lies where
    > w0 > 0.
distance_to_the_line | boundaries | Alpaydin 10.2 | Duda, Hart and Stork 5.2
    A point lies g(x)/|w| from the line, at right angles to it, and the origin w0/|w|.
    > the green segments meet the line at right angles, and r is written beside each; the dashed one begins at
    > the origin.
one_against_rest | many_classes | Alpaydin 10.3
    Each hyperplane separates one class from all others; the largest discriminant also decides where none or
    several are positive.
    > each H_i has its own class alone on one side; in the triangle around the question mark no g_i is
    > positive, and the dotted lines still share it out.
pairwise_separation | many_classes | Alpaydin 10.4
    A class that no line cuts off from the rest can still be told apart pair by pair.
    > C_1 lies between the others, yet H_12 and H_13 have it on one side each; in the dotted wedge the three
    > lines agree on no class.
sigmoid_curve | sigmoids | Alpaydin 10.5
    The logistic function turns log odds into a probability; its slope at zero is a quarter.
    > the curve rises from 0 to 1 through one half, where the dashed tangent of slope one quarter touches it.
hardening_sigmoid | sigmoids | Alpaydin 10.7
    As training goes on the line grows steeper and the sigmoid harder, long after the last error is gone.
    > from 10 to 1,000 passes the line turns upwards on the left and the step sharpens on the right, while
    > from 100 passes on every circle and cross is on its side of one half.
softmax_lines | sigmoids | Alpaydin 10.9
    Three classes by the softmax: where each discriminant is zero, and where the largest of them changes.
    > the thin lines cross in one point, and the thick ones part the plane there, between the thin.
softmax_surfaces | sigmoids | Alpaydin 10.10
    The discriminants are planes; the softmax makes posteriors of them that sum to one and keep the winner.
    > whichever plane lies on top on the left is the surface near one at the same place on the right.
discriminant_of_one_variable | expansions | slides on linear discriminant functions | Duda, Hart and Stork 5.5
    A line cuts the axis once; a parabola, linear in (1, x, x²), leaves a region in two parts.
    > the blue parts of the axis: one on the left, two in the middle; on the right one straight line cuts them
    > all from the orange part of the parabola.
normalised_samples | criteria | slides on linear discriminant functions, normalization | Duda, Hart and Stork 5.8, 5.9
    Turned by the sign of their class all samples must be positive: the solution region is a cone, which a
    margin narrows.
    > turned by sign all four samples lie on one side of a line through the origin; the darker region of the
    > margin lies inside the solution region.
criterion_surfaces | criteria | slides on linear discriminant functions, criterion functions | Duda, Hart and Stork 5.11
    The count of errors is stairs; the perceptron, quadratic and relaxation criteria lead down to the solution
    region.
    > the steps of the first surface have no slope; below, each orange path crosses the contours and its star
    > is in or on the edge of the green solution region.
lms_versus_separating_line | least_squares | slides on linear discriminant functions, LMS | Duda, Hart and Stork 5.17
    The line of least squares need not separate samples that another line separates.
    > the dashed line leaves the two circled samples on the wrong side; the full line leaves none.
class_densities_and_posterior | gaussians | Bishop 4.10, in the lecture on LDA
    Of two Gaussian classes with one covariance the posterior is a sigmoid of a linear function.
    > where the two hills on the left have equal height the surface on the right passes one half, along a
    > straight line.
naive_and_lda_direction | gaussians | lecture on LDA, after Bishop 4.6
    The line between the means makes errors that the covariance of the groups avoids.
    > thirteen circled errors on the left, one on the right.
qda_regions | gaussians | Bishop 4.11, in the lecture on QDA
    Boundaries between Gaussian classes are quadratic, but straight between classes that share a covariance.
    > the boundary between C_1 and C_2, whose contours are equal circles, is straight; those to C_3 bend.
basis_functions | expansions | Bishop 4.12, in the lecture on basis functions
    Classes that no line separates are separated by a line in the distances to two centres.
    > the ellipse on the left and the line on the right part the same samples.
gradient_and_newton | criteria | lecture on IRLS | Duda, Hart and Stork 5.10
    Gradient descent goes at right angles to the contours; Newton's method uses the curvature and arrives in
    fewer steps.
    > the green path leaves every contour at a right angle and needs 99 steps, the orange one goes nearly
    > straight and needs 4.
outlier_and_mean_difference | gaussians | notes on linear classification, figure 4
    Projected on the difference of the means an outlier falls among the other class, although the sample is
    separable.
    > the ring on the left falls beyond the dotted threshold, among the squares' marks; on the right it falls
    > among those of its own class.
signed_distance | boundaries | Bishop 4.1
    The decision surface is perpendicular to w, lies -w0/|w| from the origin, and y(x)/|w| from x.
    > the green segments stand at right angles on the line, parallel to w; with w = (3, 4) and w0 = -9 they
    > are 1.8 and 2 long.
ambiguous_regions | many_classes | Bishop 4.2
    Two-class discriminants put together leave regions to no class or to several; a machine of K leaves none.
    > the hatched wedge belongs to two classes, the dotted strip to none; the picture on the right has
    > neither.
convex_regions | many_classes | Bishop 4.3
    What lies between two points of a machine's region lies in the region: it is convex and connected.
    > the chord from x_A to x_B does not leave the region R_3.
outliers_pull_least_squares | least_squares | Bishop 4.4
    Points far on their own side turn the line of least squares, but not that of logistic regression.
    > between the two pictures the dashed line turns by 57 degrees, the full one not at all.
masked_class | least_squares | Bishop 4.5
    Least squares masks the class in the middle of three; logistic regression does not.
    > on the left no region is orange; on the right the squares lie in one.
fisher_projection | gaussians | Bishop 4.6
    Projected on the line of the means the classes overlap; on Fisher's direction they do not.
    > the histograms overlap below the line of the means and stand apart below Fisher's direction.
perceptron_convergence | perceptrons | Bishop 4.7
    Each correction adds the misclassified sample to the weights; after a few no sample is misclassified.
    > w and the green arrow of the circled sample add up to the dashed arrow, which is w of the next picture.
mark_one | retina | Bishop 4.8
    A retina wired at random to threshold units learns to tell characters apart, whatever the wiring.
    > the last picture: the machine comes to tell nearly all new characters, far above the dotted line of
    > chance, an eighth.
sigmoid_and_probit | sigmoids | Bishop 4.9
    Scaled by the root of pi/8 the probit function has the sigmoid's slope at zero and stays within 0.02 of it.
    > the curves on the left lie on each other around zero; their difference on the right stays below 0.018.
"""


@dataclass(frozen=True)
class Entry:
    """One figure of the books: its name, where it is drawn, its place in the books, its claim.

    ``discriminant.figures.REGISTRY`` holds all of them by name.

    Attributes
    ----------
    name : str
        The function of ``discriminant.figures`` that draws it.
    module : str
        The module that holds it.
    source : str
        Its place in the books.
    caption : str
        What it claims.
    seen : str
        Where in the picture that is seen.
    also : str
        Where else such a figure is found: a key to look it up by.

    See Also
    --------
    entry : Finds one by name or by its number in a book.

    Examples
    --------
    >>> from discriminant import figures
    >>> figures.entry("masked_class").source
    'Bishop 4.5'
    """

    name: str
    module: str
    source: str
    caption: str = ""
    seen: str = ""
    also: str = ""

    def draw(self) -> Any:
        """Draw the figure.

        Returns
        -------
        matplotlib Figure
            The figure.
        """
        return getattr(self._load(), self.name)()

    def data(self) -> Any:
        """Compute what the figure draws and claims, by the library's own fits.

        Returns
        -------
        SimpleNamespace
            The data of the figure.
        """
        return getattr(self._load(), f"{self.name}_data")()

    def _load(self) -> Any:
        return importlib.import_module(f"discriminant.figures.{self.module}")


def _read(table: str) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for text in table.strip().split("\n"):
        if text.startswith(" "):
            last, words = next(reversed(found.values())), text.strip()
            part = "seen" if words.startswith(">") else "caption"
            whole = f"{getattr(last, part)} {words.removeprefix('>').strip()}".strip()
            found[last.name] = replace(last, **{part: whole})
        else:
            name, module, source, *also = (cell.strip() for cell in text.split("|"))
            found[name] = Entry(name, module, source, also="".join(also))
    return found


REGISTRY = _read(_TABLE)


def _words(text: str) -> list[str]:
    """The words and numbers of a place, as they are compared."""
    return re.findall(r"\d+(?:\.\d+)*|[a-z]+", text.lower())


def entry(name: str) -> Entry:
    """The figure of this name, or of this place in the books.

    Parameters
    ----------
    name : str
        The name of a figure, its number in a book ("5.11"), or book and number ("Bishop 4.7").

    Returns
    -------
    Entry
        Its entry.

    Raises
    ------
    ParameterError
        Where there is no such figure; the sentence gives the nearest name.

    Examples
    --------
    >>> entry("separating-line").source, entry("4.7").name, entry("5.11").name, entry("Alpaydin 10.3").name
    ('Alpaydin 10.1', 'perceptron_convergence', 'criterion_surfaces', 'one_against_rest')
    """
    wanted = name.strip().lower().replace("-", "_")
    if wanted in REGISTRY:
        return REGISTRY[wanted]
    asked = set(_words(name)) - {"figure", "fig"}
    placed = [one for one in REGISTRY.values() if asked and asked <= set(_words(f"{one.source} {one.also}"))]
    own = [one for one in placed if "after" not in _words(one.source)]  # a figure of its own before one after another
    if len(own or placed) == 1:
        return (own or placed)[0]
    if len(placed) > 1:
        raise ParameterError(f"{name!r} is the place of several figures: {names([one.name for one in placed])}.")
    near = difflib.get_close_matches(wanted, REGISTRY, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}?" if near else "discriminant figures --list shows them all."
    raise ParameterError(f"There is no figure {name!r}; {hint}")
