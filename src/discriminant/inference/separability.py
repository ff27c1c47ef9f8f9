"""``separability(X, y)``: can a hyperplane, or for K classes a linear machine, tell the classes apart? With proof.

    separable         some weights put every row strictly on its side;
    quasi-separable   none do, but some put no row on the wrong side and not all on the boundary;
    overlapping       neither: every set of weights errs somewhere, or does nothing at all.

Maximum likelihood logistic regression has finite estimates exactly when the data overlap (Albert & Anderson 1984);
the perceptron stops exactly when they are separable.  Each verdict carries what proves it (Gordan 1873, Stiemke 1915),
and ``check`` verifies that against the data in exact arithmetic: every float is a rational number, so no verdict rests
on a tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discriminant.arguments import BOOLEAN, SEED, among, checked, number
from discriminant.arrays import as_dense, is_frame
from discriminant.data import as_rows, single_threaded_blas
from discriminant.data.check import labelled_rows
from discriminant.data.rows import Rows, column_names
from discriminant.data.sources import Source, find_source
from discriminant.errors import DataError, columns, names
from discriminant.inference import documented
from discriminant.inference.capacity import cover_probability
from discriminant.inference.columns import independent_columns
from discriminant.inference.cone import KeslerCone, Pair, whole_cone
from discriminant.inference.exact import Integers
from discriminant.inference.hinge import few_errors, separating
from discriminant.inference.hyperplanes import Placed, least, place, rationals
from discriminant.inference.merging import find_machine
from discriminant.inference.proofs import all_positive, balanced, boundary_only, rank, relations_hold
from discriminant.inference.search import Finding
from discriminant.inference.settled_rows import find
from discriminant.protocols import Array
from discriminant.shown import Shown, cell, data_frame, paragraphs
from discriminant.thresholds import DESCEND_COLUMNS, SETTLE_COLUMNS

if TYPE_CHECKING:
    from discriminant.inference.limit import LimitingFit

SEPARABLE, QUASI, OVERLAPPING = "separable", "quasi-separable", "overlapping"
SAMPLE_ROWS = 20_000  # of rows that are read from elsewhere


WITNESS = "Rows whose weighted sum shows that no weights put all of them strictly on their side (weights rounded):"


@documented
@dataclass(frozen=True, repr=False)
class Witness(Shown):
    """Rows that no weights can put strictly on their side, all at once, and the positive weights that show it.

    Two classes: ``weights`` sum to one in each class, and the two weighted averages are one and the same ``point``: the
    convex hulls meet.  K classes: Σ weights·(e_own − e_rival) ⊗ (1, x) = 0, one rival for each entry.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Row numbers; m ≤ d + 2 for two classes.
    weights : tuple of m Fractions
        Exact.
    rivals : ndarray of shape (m,)
        Labels of the class that each row is held against.
    point : ndarray of shape (d,) or None
        Where the two hulls meet; None for K > 2 unless two classes alone meet.

    See Also
    --------
    separability : Finds one.

    >>> witness = separability([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]).witness
    >>> float(sum(witness.weights)), len(witness.rows) <= 3
    (2.0, True)
    """

    rows: Array  # (m,) row numbers; m ≤ D + 1, that is d + 2 for two classes
    weights: tuple[Fraction, ...]
    rivals: Array  # (m,) labels of the class that each row is held against
    point: Array | None  # (d,) where the two hulls meet; None for K > 2 unless two classes alone meet

    def columns(self) -> dict[str, list[Any]]:
        """The rows with their weights, rounded, column by column."""
        weights = [float(weight) for weight in self.weights]
        return {"row": self.rows.tolist(), "weight": weights, "held against": self.rivals.tolist()}

    def to_frame(self) -> Any:
        """The same as a pandas data frame."""
        return data_frame(self.columns())

    def _shown(self) -> tuple[str, dict[str, list[str]], list[str], list[str]]:
        cells = {name: [cell(value) for value in values] for name, values in self.columns().items()}
        return WITNESS, cells, ["held against"], []

    def __len__(self) -> int:
        return len(self.weights)


@documented
@dataclass(frozen=True, eq=False, repr=False)
class Separability:
    """A verdict on whether classes can be told apart linearly, with what proves it.

    "separable": a hyperplane has every row strictly on its side; "quasi-separable": on its side or on the boundary;
    "overlapping": neither.  True where separable, as a truth value; its text is a sentence.

    Attributes
    ----------
    verdict : {"separable", "quasi-separable", "overlapping"}
        Decided in exact arithmetic.
    hyperplane : ndarray of shape (1 + d,) or (1 + d, K), or None
        Intercept first, positive for ``classes[1]``; a column for each of K > 2 classes.
    margin : float
        Least Euclidean distance of a row, in the units of X, to the boundary of its region; 0 if none.
    witness : Witness or None
        Why no hyperplane separates; None where one does.
    classes
    columns : tuple
        Columns whose coefficients have no finite maximum likelihood estimate.
    aliased : tuple
        Columns that are exact linear combinations of columns before them.
    boundary : ndarray of int
        Row numbers that quasi-separation leaves on the boundary.
    margin_bound : float
        No hyperplane has a larger margin than this.
    shape : tuple (n, d)
        Of X.
    notes
    multipliers : mapping of (row, rival) to Fraction
        The exact weights that prove overlap.

    See Also
    --------
    separability : Decides.

    >>> result = separability([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> result.verdict, result.margin, result.check()
    ('separable', 0.5, True)
    """

    verdict: str
    hyperplane: Array | None  # (1+d,), intercept first, positive for classes[1]; (1+d, K) for K > 2 classes
    margin: float  # least Euclidean distance of a row, in the units of X, to the boundary of its region; 0 if none
    witness: Witness | None  # why no hyperplane separates; None where one does
    classes: Array
    columns: tuple[Any, ...]  # whose coefficients have no finite maximum likelihood estimate
    aliased: tuple[Any, ...]  # exact linear combinations of columns before them
    boundary: Array  # row numbers that quasi-separation leaves on the boundary
    margin_bound: float  # no hyperplane has a larger margin than this
    shape: tuple[int, int]  # of X
    notes: tuple[str, ...] = ()
    multipliers: Mapping[Pair, Fraction] = field(default_factory=dict, repr=False)  # (row, rival code) → λ > 0
    _cone: KeslerCone = field(default=None, repr=False)  # type: ignore[assignment]
    _weights: Integers = field(default_factory=list, repr=False)
    _relations: Mapping[int, Integers] = field(default_factory=dict, repr=False)
    _spanned: tuple[tuple[int, ...], Mapping[int, Integers]] = field(default=((), {}), repr=False)

    @property
    def exact(self) -> tuple[tuple[Fraction, ...], ...]:
        """The hyperplane in rational numbers, (1+d) for each class, the first class's zero: what ``check`` verifies.

        ``hyperplane`` is the same up to rounding and a positive factor.
        """
        return rationals(self._cone, self._weights, self.shape[1]) if self.hyperplane is not None else ()

    @property
    def chance(self) -> float:
        """The probability that as many rows, labelled by coin flips, would be separable (Cover 1965)."""
        d = self.shape[1] - len(self.aliased)
        return cover_probability(self.shape[0], d) if self._cone.intercept else float("nan")

    def __bool__(self) -> bool:
        return self.verdict == SEPARABLE

    def __repr__(self) -> str:
        return sentence(self)

    def _repr_html_(self) -> str:
        return paragraphs([sentence(self)])

    def check(self, X: Any = None, y: Any = None) -> bool:
        """Verify the verdict from X and y in exact arithmetic, trusting nothing that was computed on the way.

        The data of the question are at hand unless the verdict comes from a file; then they must be given again.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or None, default=None
            The rows; None: those of the question, which are at hand unless the verdict comes from a file.
        y : array-like of shape (n,) or None, default=None
            The labels; None: those of the question.
        """
        cone, weights = self._data(X, y), self._weights
        if not relations_hold(cone, self._relations):
            return False
        if self.verdict == SEPARABLE:
            return all_positive(cone, weights, least(cone, weights, self.margin))
        if not balanced(cone, self.multipliers) or self.witness is None or not self._witness_balanced(cone):
            return False
        if self.verdict == OVERLAPPING:
            return rank(cone, list(self.multipliers)) == cone.dimension
        return boundary_only(cone, weights, self.boundary, list(self.multipliers), *self._spanned)

    def limiting_fit(self, sample_weight: Any = None) -> LimitingFit:
        """Where maximum likelihood logistic regression goes on these data: infinite and finite coefficients, limits.

        Parameters
        ----------
        sample_weight : array-like of shape (n,) or None, default=None
            How often each row counts, > 0; None: once.

        >>> result = separability([[0.0, 1.0], [0.0, 2.0], [0.0, 4.0], [1.0, 3.0], [1.0, 1.0]], [0, 1, 0, 1, 1])
        >>> fit = result.limiting_fit()
        >>> fit.coefficients.tolist()[1], fit.predict_proba([[1.0, 9.0]]).tolist()
        (inf, [[0.0, 1.0]])
        """
        from discriminant.inference.limit import limiting_fit

        if self.verdict == OVERLAPPING:
            raise DataError("These classes overlap: the estimates are finite, and an ordinary fit finds them.")
        cone, found = self._data(None, None), self
        if self.verdict == SEPARABLE and self.aliased:  # a direction that the other columns do not determine
            found = decide(cone.source, cone.codes, self.classes, None, cone.intercept, "any", 0)
            cone = found._cone
        return limiting_fit(cone, self.classes, found._weights, *found.face, row_weight=sample_weight)

    @property
    def face(self) -> tuple[list[Pair], tuple[int, ...], dict[int, Integers]]:
        """Pairs that span those on the boundary, columns that determine them, and relations of the other columns."""
        return list(self.multipliers), self._spanned[0], dict(self._spanned[1])

    @checked(seconds=number(0, open_="low"))
    def removals(self, seconds: float = 10.0) -> Removals:
        """A small set of rows without which the classes are separable, and how many rows that takes at least.

        The rows are those that L-BFGS on the squared hinge errs on, or fewer; the bound comes from rows
        that cannot be separated, whatever the weights: from each such set one row must go.

        Parameters
        ----------
        seconds : float, default=10.0
            Time limit of the search for the bound.
        """
        from discriminant.inference.least_errors import least_errors

        cone = self._data(None, None)
        if self.verdict == SEPARABLE:
            return Removals(np.zeros(0, dtype=np.intp), 0)
        with single_threaded_blas():
            rows = few_errors(cone)
        found = least_errors(
            cone.source, cone.codes, fit_intercept=cone.intercept, seconds=seconds, enough=float(len(rows))
        )
        return Removals(np.sort(found.rows) if found.proved else rows, int(np.ceil(found.bound - 1e-9)))

    def _data(self, X: Any, y: Any) -> KeslerCone:
        if X is None and self._cone.source is not None:
            return self._cone
        if X is None or y is None:
            raise DataError("This verdict does not hold its data any more: call check(X, y) with them.")
        source, labels = as_rows(X), np.asarray(y)
        codes = np.searchsorted(self.classes, labels)
        known = codes < len(self.classes)
        if source.shape != self.shape or not known.all() or not (self.classes[codes] == labels).all():
            raise DataError(
                f"These are not the data of the verdict: it is about X of shape {self.shape}, other labels."
            )
        return replace(self._cone, source=source, codes=codes)

    def without_data(self) -> Separability:
        """The same verdict, which does not hold on to X and y."""
        empty = replace(self._cone, source=None, codes=np.zeros(0, dtype=np.int8))  # type: ignore[arg-type]
        return replace(self, _cone=empty)

    def __getstate__(self) -> dict[str, Any]:
        # A verdict in a file is a few numbers; the data stay where they are.
        return self.without_data().__dict__

    def _witness_balanced(self, cone: KeslerCone) -> bool:
        assert self.witness is not None
        codes = np.searchsorted(self.classes, self.witness.rivals)
        pairs = zip(self.witness.rows.tolist(), codes.tolist(), strict=True)
        return balanced(cone, dict(zip(pairs, self.witness.weights, strict=True)))


@documented
@dataclass(frozen=True, repr=False)
class Removals:
    """Rows whose removal makes classes separable, and the least number of rows that any such set holds.

    With as many rows as ``least`` no smaller set exists.

    Attributes
    ----------
    rows : ndarray of int
        Row numbers.
    least : int
        No smaller number of rows suffices; proved.

    See Also
    --------
    Separability.removals : Computes one.

    >>> removals = separability([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]).removals()
    >>> len(removals), removals.least, removals.proved
    (1, 1, True)
    """

    rows: Array
    least: int

    @property
    def proved(self) -> bool:
        """Whether no smaller set exists."""
        return len(self.rows) == self.least

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        if not len(self):
            return "No row needs to be removed: the classes are separable."
        which = f"row{'s' * (len(self) > 1)} {names(self.rows.tolist(), most=10)}"
        least = "no smaller set does it" if self.proved else f"no set of fewer than {self.least:,} does it"
        return f"Without {which} the classes are separable; {least}."


@documented
@checked(fit_intercept=BOOLEAN, hyperplane=among("widest", "any"), random_state=SEED)
def separability(
    X: Any, y: Any = None, *, fit_intercept: bool = True, hyperplane: str = "widest", random_state: int = 0
) -> Separability:
    """Whether the classes in y can be told apart by a linear discriminant of X, with proof.

    Decided in exact arithmetic, whatever the sizes of the columns: either a hyperplane, or rows whose convex hulls
    meet.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Scan of shape (n, d)
        The rows.
    y : array-like of shape (n,) or None, default=None
        The labels, of two classes or more; None where X is a scan with its own.
    fit_intercept : bool, default=True
        Whether hyperplanes may miss the origin.
    hyperplane : {"widest", "any"}, default="widest"
        "widest" searches for the largest margin (two classes, an intercept, up to 600 columns); "any" takes the
        first hyperplane found that separates.
    random_state : int, default=0
        Seed of the search; the verdict does not depend on it.

    See Also
    --------
    solution_region : All weights that separate.
    LinearProgrammingClassifier : A classifier from a separating hyperplane.

    >>> result = separability([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> result.verdict, result.margin, result.hyperplane.tolist(), result.check()
    ('separable', 0.5, [-1.5, 1.0], True)
    >>> separability([[0.0], [1.0], [1.0], [3.0]], [0, 0, 1, 1]).verdict
    'quasi-separable'
    >>> overlap = separability([[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1])
    >>> overlap.verdict, 1.0 <= float(overlap.witness.point[0]) <= 2.0, overlap.check()
    ('overlapping', True, True)
    """
    opened = find_source(X)
    if opened is not None:
        return _of_source(opened, y, fit_intercept, hyperplane, random_state)
    return of_rows(X, y, fit_intercept, hyperplane, random_state)


def of_rows(
    X: Any,
    y: Any,
    fit_intercept: bool = True,
    hyperplane: str = "widest",
    random_state: int = 0,
    guess: Array | None = None,
    feature_names: Sequence[str] | None = None,
) -> Separability:
    """The verdict on rows in memory; ``guess``: weights (1+d, K) that may separate them."""
    feature_names = column_names(X) if feature_names is None and is_frame(X) else feature_names
    source, classes, codes = labelled_rows(X, y, "separability", feature_names)
    _require_two(classes)
    return decide(source, codes, classes, feature_names, fit_intercept, hyperplane, random_state, guess)


def _require_two(classes: Array) -> None:
    if len(classes) < 2:
        raise DataError(
            f"y holds the class {names(classes.tolist())} alone; separability is a question about two or more."
        )


def decide(
    source: Rows,
    codes: Array,
    classes: Array,
    feature_names: Sequence[str] | None,
    fit_intercept: bool,
    hyperplane: str,
    random_state: int,
    guess: Array | None = None,
) -> Separability:
    """The verdict on rows, classes and names that have been checked."""
    with single_threaded_blas():  # many small products: BLAS threads would only wait for one another
        cone = whole_cone(source, codes, len(classes), fit_intercept)
        every = cone.keep
        relations: Mapping[int, Integers] = {}
        # Which columns depend on others is dear to know, and nothing that weights which separate every row need.
        u = separating(cone, guess) if len(every) > DESCEND_COLUMNS else None
        if u is not None:
            finding = Finding(cone.exact(u), None, {}, every, (), {})
        elif len(classes) == 2 and len(every) > SETTLE_COLUMNS:
            finding = find(cone, random_state)
            if finding.weights is None:
                cone, relations = replace(cone, keep=finding.spanned), finding.relations
        else:
            keep, relations = independent_columns(source, fit_intercept)
            narrow = replace(cone, keep=keep)
            finding = find_machine(narrow, random_state)
            if relations and hyperplane == "widest" and len(classes) == 2 and finding.separates:
                # The widest gap takes part of every column, also of those that others determine.
                finding = replace(finding, weights=cone.spread(finding.weights or [], narrow), spanned=every)
            else:
                cone = narrow
        return _result(cone, finding, classes, relations, feature_names, hyperplane)


def _result(
    cone: KeslerCone,
    finding: Finding,
    classes: Array,
    relations: Mapping[int, Integers],
    feature_names: Sequence[str] | None,
    choice: str,
) -> Separability:
    d = cone.source.shape[1]
    called: Sequence[Any] = feature_names if feature_names is not None else range(d)
    placed = place(cone, finding, choice)
    boundary = np.zeros(0, dtype=np.intp)
    if finding.weights is not None and not finding.separates:
        boundary = np.flatnonzero((cone.signs(placed.weights) == 0).any(axis=1))
    verdict = OVERLAPPING if finding.weights is None else SEPARABLE if finding.separates else QUASI
    return Separability(
        verdict=verdict,
        hyperplane=placed.floats,
        margin=placed.margin,
        witness=_witness(cone, finding, classes),
        classes=classes,
        columns=tuple(called[j] for j in finding.infinite),
        aliased=tuple(called[j] for j in relations),
        boundary=boundary,
        margin_bound=placed.bound,
        shape=cone.source.shape,
        notes=_notes(verdict, placed, relations, feature_names),
        multipliers=finding.multipliers,
        _cone=cone,
        _weights=placed.weights,
        _relations=relations,
        _spanned=(finding.spanned, finding.relations),
    )


def _witness(cone: KeslerCone, finding: Finding, classes: Array) -> Witness | None:
    if finding.circuit is None:
        return None
    pairs, weights = list(finding.circuit), list(finding.circuit.values())
    rows = np.array([i for i, _ in pairs], dtype=np.intp)
    rivals = np.array([k for _, k in pairs], dtype=np.intp)
    own = cone.codes[rows]
    involved = {frozenset((int(a), int(b))) for a, b in zip(own, rivals, strict=True)}
    point = None
    if len(involved) == 1 and cone.intercept:
        side = own == own[0]
        total = sum((w for w, s in zip(weights, side, strict=True) if s), Fraction(0))
        weights = [w / total for w in weights]
        values = as_dense(cone.source.pick(rows[side]).values)
        point = np.array([float(w) for w, s in zip(weights, side, strict=True) if s]) @ values
    else:
        total = sum(weights, Fraction(0))
        weights = [w / total for w in weights]
    return Witness(rows, tuple(weights), classes[rivals], point)


def _notes(
    verdict: str, placed: Placed, relations: Mapping[int, Integers], feature_names: Sequence[str] | None
) -> tuple[str, ...]:
    notes = []
    if relations:
        what = columns(list(relations), feature_names)
        notes.append(f"{what} hold exact linear combinations of the columns before them and add nothing.")
    if verdict == SEPARABLE and placed.floats is not None and not placed.margin > 1e-12 * placed.size:
        notes.append("The gap is of the size of rounding errors in X: the data separate as they stand, no further.")
    return tuple(notes)


def sentence(result: Separability) -> str:
    """The verdict in words."""
    n, d = result.shape
    kinds = "two classes" if len(result.classes) == 2 else f"{len(result.classes)} classes"
    head = f"{n} rows, {d} columns, {kinds}: {result.verdict}."
    if result.verdict == SEPARABLE:
        text = (
            f" Every row is at least {result.margin:.6g} from the boundary. Maximum likelihood has no finite estimate."
        )
        if result.chance > 0.05:
            text += f" As many random labels would be separable with probability {result.chance:.3g}."
    elif result.verdict == QUASI:
        boundary = f"{len(result.boundary)} rows lie on the boundary"
        infinite = f"the coefficients of {names(result.columns)} have no finite maximum likelihood estimate"
        text = f" No row is on the wrong side, {boundary}; {infinite}."
    else:
        assert result.witness is not None
        text = (
            f" {len(result.witness)} rows prove that no hyperplane separates. Maximum likelihood estimates are finite."
        )
    return head + text + "".join(" " + note for note in result.notes)


def _of_source(opened: Source, y: Any, fit_intercept: bool, hyperplane: str, random_state: int) -> Separability:
    """The verdict on rows that are read from elsewhere.

    Rows that no hyperplane separates stay so when more are added: where a sample overlaps in every column, its d + 2
    rows are the witness for all, and one pass over a sample is the whole cost.  Else all rows are searched.
    """
    blocks, classes = opened.training(y, None, None)
    codes, options = blocks.codes(), (opened.feature_names, fit_intercept, hyperplane, random_state)
    _require_two(classes)
    if blocks.in_memory:
        return decide(blocks.rows, codes, classes, *options)
    index, drawn = blocks.draw(min(SAMPLE_ROWS, blocks.n_rows), len(classes))
    found = decide(as_rows(drawn.design.raw), np.asarray(drawn.target), classes, *options)
    if found.witness is None or found.verdict != OVERLAPPING or found.aliased:
        return decide(blocks.rows, codes, classes, *options)
    note = f"Proved by rows of a sample of {len(index):,}: rows that overlap stay so when more are added."
    return replace(
        found,
        witness=replace(found.witness, rows=np.asarray(index)[found.witness.rows]),
        shape=blocks.rows.shape,
        multipliers={(int(index[i]), k): value for (i, k), value in found.multipliers.items()},
        notes=(*found.notes, note),
        _cone=replace(found._cone, source=blocks.rows, codes=codes),
    )
