"""The linear discriminant itself, frozen: a basis, weights and a decision rule.

    z = b + Wᵗ(φ(x) − c) = w₀ + Wᵗφ(x),        decide argmax_k of the class scores that z stands for.

Both ways of learning, by a criterion and by moments, end here, and everything after fitting knows only this object.
The centre c lies near the data: at offsets of 10⁷ the form w₀ + Wᵗx loses what b + Wᵗ(x − c) keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discriminant.arguments import FLOAT, Allowed, checked, number, require
from discriminant.arrays import is_sparse
from discriminant.decision.priors import check_priors, prior_shift
from discriminant.decision.rule import Rule
from discriminant.docstrings import Entries
from discriminant.errors import DataError, MismatchError, ParameterError, as_numbers, names
from discriminant.geometry.affine import AffineMap
from discriminant.geometry.contributions import Contributions
from discriminant.geometry.hyperplane import Hyperplane, frozen
from discriminant.geometry.regions import decision_regions
from discriminant.protocols import Array
from discriminant.shown import Shown

documented = Entries("""
X : array-like or sparse matrix of shape (n, d)
    The rows.
dtype : dtype or None
    Of the result; None: float32 for float32 X, else float64.
i : int, label or None
    The first class, as a position in ``classes`` or a label that is no integer.
j : int, label or None
    The second class.
→ LinearDiscriminant : LinearDiscriminant
    A new discriminant.
→ decision_function : ndarray of shape (n, K), or (n,) for two classes
    Class scores.
→ predict : ndarray of shape (n,)
    Labels.
→ predict_log_proba : ndarray of shape (n, K)
    Logarithms of probabilities.
→ predict_or_reject : ndarray of shape (n,)
    Labels.
→ predict_proba : ndarray of shape (n, K)
    Probabilities that sum to one in each row.
→ scores : ndarray of shape (n, q)
    One column for each output.
predict_log_proba raises : MismatchError
    Where there is no link from scores to probabilities.
predict_proba raises : MismatchError
    Where there is no link from scores to probabilities.
""").documented

MOST_CLASSES = 8  # that a line names


@documented
@dataclass(frozen=True, eq=False, repr=False)
class LinearDiscriminant(Shown):
    """A linear discriminant: scores, decisions, posteriors and geometry from a weight matrix.

    z = b + Wᵗ(φ(x) − c); the class of the largest score is decided for.  The result of every fit of this package with
    linear boundaries, as ``discriminant_`` (Alpaydin 10.3, PRML 4.1).

    Parameters
    ----------
    weights : array-like of shape (1 + d, q)
        A, with the intercept (at ``center``) in row 0; a vector (1 + d,) for one output.
    classes : sequence of K labels
        The labels.  One output for two classes: a positive score stands for ``classes[1]``.
    coding : ClassCoding or None, default=None
        How q outputs stand for K classes; not needed for q = K, nor for q = 1 and K = 2.
    feature_names : sequence of d str or None, default=None
        The names of the features that the weights belong to.
    center : array-like of shape (d,) or None, default=None
        c in z = b + Wᵗ(x − c); None: zeros.
    link : {"sigmoid", "softmax", "pairs", None}, default=None
        How scores become posteriors; None: they do not.
    basis : object with ``transform``, or None, default=None
        φ: the discriminant is linear in φ(x), and its geometry is that of the φ-space.

    See Also
    --------
    discriminant.geometry.Hyperplane : The boundary of two classes.
    discriminant.decision.Rule : From outputs to decisions.

    >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
    >>> X = np.array([[0.0, 0.0], [6.0, 8.0]])
    >>> line.predict(X).tolist(), line.distance(X).tolist(), line.offset
    (['near', 'far'], [-2.0, 8.0], -2.0)
    """

    weights: Array
    classes: Array
    coding: Any = None
    feature_names: Sequence[str] | None = None
    center: Array | None = None
    link: str | None = None
    basis: Any = None

    def __post_init__(self) -> None:
        weights, classes = frozen(self.weights), frozen(self.classes, dtype=None)
        weights = weights[:, None] if weights.ndim == 1 else weights
        if weights.ndim != 2 or len(weights) < 2:
            raise DataError(f"weights must be (1 + d, q), the intercept in row 0, d ≥ 1; got shape {weights.shape}.")
        if not np.isfinite(weights).all():
            raise DataError("weights holds NaN or infinity; a fit that diverged has no discriminant.")
        for name, value in (("center", self.center), ("feature_names", self.feature_names)):
            if value is not None and len(value) != len(weights) - 1:
                raise DataError(f"{name} has {len(value)} entries and there are {len(weights) - 1} features.")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "classes", classes)
        if self.center is not None:
            object.__setattr__(self, "center", frozen(self.center))
        if self.feature_names is not None:
            object.__setattr__(self, "feature_names", tuple(str(name) for name in self.feature_names))
        self._rule.check()

    # What it is

    @property
    def n_features(self) -> int:
        """d, the number of features."""
        return len(self.weights) - 1

    @property
    def n_classes(self) -> int:
        """K, the number of classes."""
        return len(self.classes)

    @property
    def n_outputs(self) -> int:
        """q, the number of outputs."""
        return int(self.weights.shape[1])

    @property
    def coef(self) -> Array:
        """Wᵗ, of shape (q, d)."""
        return self.weights[1:].T

    @cached_property
    def intercept(self) -> Array:
        """w₀ = b − Wᵗc, of shape (q,): the intercept of the form w₀ + Wᵗx."""
        return frozen(self._affine.plain[0])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features; x0, x1, … where none were given."""
        return tuple(self.feature_names or (f"x{j}" for j in range(self.n_features)))

    @cached_property
    def class_weights(self) -> Array:
        """A discriminant g_k for each class, of shape (1 + d, K); the largest wins.

        Two classes share one output as ±z/2.
        """
        decoder = self._rule.linear_decoder
        if decoder is None:
            raise MismatchError(
                f"The coding {self.coding.name!r} with the decoder "
                f"{self.coding.decoder!r} does not decide by the largest of K linear "
                "functions, so that its classes have no single boundary, no convex region and no contributions. "
                "discriminant.ambiguity shows its regions."
            )
        slopes, shift = decoder
        if self.coding is None and self.n_outputs == self.n_classes:
            return self.weights
        result = self.weights @ slopes
        result[0] += shift
        return frozen(result)

    def __repr__(self) -> str:
        some = [repr(label) for label in self.classes[:MOST_CLASSES].tolist()] + ["…"] * (self.n_classes > MOST_CLASSES)
        parts = [f"classes=[{', '.join(some)}]", f"features={self.n_features}"]
        optional = [(name, getattr(self, name)) for name in ("coding", "link", "basis")]
        parts += [f"{name}={value!r}" for name, value in optional if value is not None]
        return f"LinearDiscriminant({', '.join(parts)})"

    def _shown(self) -> tuple[str, dict[str, Any], list[str], list[str]]:
        """The weights, a row for each feature and a column for each output."""
        if self.n_outputs == self.n_classes:
            outputs = [str(label) for label in self.classes]
        else:
            outputs = (
                [f"for {self.classes[1]}"] if self.n_classes == 2 else [f"output {j}" for j in range(self.n_outputs)]
            )
        weights = np.vstack([self.intercept, self.weights[1:]])
        table = {"feature": ["(intercept)", *self.names], **dict(zip(outputs, weights.T, strict=True))}
        return f"Linear discriminant of {self.n_features} features and {self.n_classes} classes", table, ["feature"], []

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearDiscriminant):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    def __hash__(self) -> int:
        return hash((self.weights.tobytes(), tuple(self.classes.tolist()), self.link))

    def __reduce__(self) -> tuple[Any, ...]:
        # Arrays come back from a pickle writeable; the constructor freezes them again.
        return LinearDiscriminant, tuple(getattr(self, f.name) for f in fields(self))

    # Scores, decisions, posteriors: one pass over X each

    def scores(self, X: Any, dtype: Any = None) -> Array:
        """z = b + Wᵗ(φ(x) − c), the scores of the outputs.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.scores([[0.0, 0.0], [6.0, 8.0]]).tolist()
        [[-10.0], [40.0]]
        """
        require("scores", "dtype", dtype, FLOAT)
        return self._affine.apply(_as_is, X, self.n_outputs, dtype)

    def decision_function(self, X: Any, dtype: Any = None) -> Array:
        """The score of each class; for two classes their difference, positive for ``classes[1]``.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.decision_function([[0.0, 0.0], [6.0, 8.0]]).tolist()
        [-10.0, 40.0]
        """
        affine, rule = self._decider
        return affine.apply(rule.decision_function, X, None if self.n_classes == 2 else self.n_classes, dtype)

    def predict(self, X: Any) -> Array:
        """The class of the largest score, the first of equals; two classes: ``classes[1]`` iff the score is > 0.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.predict([[0.0, 0.0], [6.0, 8.0]]).tolist()
        ['near', 'far']
        """
        affine, rule = self._decider
        return affine.apply(rule.labels, X, None, self.classes.dtype)

    def predict_or_reject(self, X: Any, reject_label: Any = None) -> Array:
        """The class whose discriminant alone is positive; ``reject_label`` where none is or several are.

        A label of another kind than the classes (the default None, say) makes the result an array of objects.

        Parameters
        ----------
        reject_label : label or None, default=None
            What stands for no class.

        >>> rest = LinearDiscriminant([[-1, -1, -1], [1, 0, -1], [0, 1, -1]], ["a", "b", "c"])
        >>> rest.predict_or_reject([[2.0, 0.0], [0.0, 0.0]], "none").tolist()
        ['a', 'none']
        """
        affine, rule = self._decider
        codes = affine.apply(lambda z: np.where(rule.rejected(z), -1, rule.codes(z).astype(np.intp)), X, None, np.intp)
        return label_array([*self.classes.tolist(), reject_label])[codes]

    def predict_log_proba(self, X: Any, dtype: Any = None) -> Array:
        """log P(C_k|x), finite wherever the scores are.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.predict_log_proba([[0.0, 0.0]]).round(4)
        array([[ -0., -10.]])
        """
        affine, rule = self._decider
        rule.require_link()
        return affine.apply(rule.log_posteriors, X, self.n_classes, dtype)

    def predict_proba(self, X: Any, dtype: Any = None) -> Array:
        """P(C_k|x), by the link.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.predict_proba([[2.0, 1.0]]).tolist()
        [[0.5, 0.5]]
        """
        affine, rule = self._decider
        rule.require_link()
        return affine.apply(rule.posteriors, X, self.n_classes, dtype)

    def scorer(self) -> Any:
        """This discriminant as a function of one row, everything folded into one weight matrix.

        Returns
        -------
        Scorer
            A callable for single rows and batches.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.scorer().decide([6.0, 8.0])
        'far'
        """
        import discriminant  # the compiler lies above this module, so it is asked for by its public name

        return discriminant.scorer(self)

    def with_priors(self, priors: Any, *, training_priors: Any) -> LinearDiscriminant:
        """The discriminant for other class frequencies: w_k0 + log P'_k / P_k, all else the same.

        Both in the order of ``classes``, or by class.

        Parameters
        ----------
        priors : array-like of shape (K,) or mapping
            P', the class frequencies to decide under.
        training_priors : array-like of shape (K,) or mapping
            P, those of the training data.

        Raises
        ------
        MismatchError
            Where scores are not log odds.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> moved = line.with_priors({"far": 0.1, "near": 0.9}, training_priors=[0.5, 0.5])
        >>> moved.predict_proba([[2.0, 1.0]]).round(6).tolist()
        [[0.9, 0.1]]
        """
        self._rule.require_link()
        old = check_priors(training_priors, self.classes, name="training_priors")
        shift = prior_shift(old, check_priors(priors, self.classes))
        if not np.isfinite(shift).all():
            raise DataError(f"Priors must be positive, one for each of the {self.n_classes} classes; got {priors}.")
        weights = np.array(self.weights)
        if self._rule.one_output:
            weights[0] += (shift[1] - shift[0]) * self._rule.orientation
        elif self.coding is None and self.link == "softmax":
            weights[0] += shift
        else:
            raise MismatchError(f"Priors move the intercepts of a softmax without a coding, not of {self!r}.")
        return replace(self, weights=weights)

    # Geometry

    def boundary(self, i: Any = None, j: Any = None) -> Hyperplane:
        """The hyperplane {x : g_i(x) = g_j(x)}, with class i on the positive side.

        Two classes need no names: ``classes[1]`` is on the positive side, as in the score.

        Returns
        -------
        Hyperplane
            Where the two discriminants are equal.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.boundary().offset
        -2.0
        """
        if i is None and j is None and self.n_classes == 2:
            i, j = 1, 0
        first, second = self._rule.position(i), self._rule.position(j)
        if first == second:
            raise ParameterError(f"A boundary lies between two classes; both are {self.classes.tolist()[first]!r}.")
        difference = self.class_weights[:, first] - self.class_weights[:, second]
        pair = names([str(self.classes[first]), str(self.classes[second])])
        return Hyperplane(difference[1:], difference[0], self.center, f"The discriminant between {pair}")

    def distance(self, X: Any, i: Any = None, j: Any = None) -> Array:
        """The signed distance r = g / ‖w‖ from the boundary of two classes or of the pair (i, j).

        More than two classes without a pair: from each hyperplane g_k = 0, positive where class k claims x.

        Returns
        -------
        ndarray of shape (n,), or (n, K) for K > 2 without a pair
            Distances in the units of X.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.distance([[0.0, 0.0], [6.0, 8.0]]).tolist()
        [-2.0, 8.0]
        """
        single = self.n_classes == 2 or i is not None or j is not None
        planes = [self.boundary(i, j)] if single else self._planes()
        weights = np.column_stack([np.r_[plane.intercept / plane.norm, plane.unit_normal] for plane in planes])
        measure = replace(self._affine, weights=weights, absolute=False)
        return measure.apply(_first if single else _as_is, X, None if single else self.n_classes)

    def margin(self, X: Any, y: Any = None) -> Array:
        """How far each row is from the nearest point where the decision changes.

        With labels y: how deep it lies in the region of its own class, negative where it lies outside.

        Parameters
        ----------
        y : array-like of shape (n,) or None, default=None
            The labels; None: what is predicted.

        Returns
        -------
        ndarray of shape (n,)
            Distances in the units of X.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.margin([[0.0, 0.0]]).tolist(), line.margin([[0.0, 0.0]], ["far"]).tolist()
        ([2.0], [-2.0])
        """
        weights = self.class_weights
        g = replace(self._affine, weights=weights, absolute=False).apply(_as_is, X, self.n_classes)
        own = g.argmax(axis=1) if y is None else self._rule.encode(y)
        result = np.full(len(g), np.inf, dtype=g.dtype)
        for i in range(self.n_classes):
            mine = own == i
            for j in range(self.n_classes):
                length = np.linalg.norm(weights[1:, i] - weights[1:, j])
                if i != j and length > 0:
                    result[mine] = np.minimum(result[mine], (g[mine, i] - g[mine, j]) / length)
        return result

    def project(self, X: Any, i: Any = None, j: Any = None) -> Array:
        """x − (g / ‖w‖²) w, the foot of each row on the boundary of two classes or of the pair (i, j).

        Returns
        -------
        ndarray of shape (n, d)
            The feet.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.project([[0.0, 0.0]]).round(12).tolist()
        [[1.2, 1.6]]
        """
        return self.boundary(i, j).project(self._features(X))

    @property
    def offset(self) -> float | Array:
        """w₀ / ‖w‖, the signed distance of the origin: a number for two classes, else (K,), one for each g_k = 0."""
        if self.n_classes == 2:
            return self.boundary().offset
        return np.array([plane.offset for plane in self._planes()])

    @checked(features=Allowed("a list of names or positions", lambda value: isinstance(value, Sequence | np.ndarray)))
    def slice(self, features: Sequence[Any], at: Any = None) -> LinearDiscriminant:
        """The discriminant on a few features, with all others held at a point.

        Parameters
        ----------
        features : sequence of str or int
            The features, by name or position.
        at : array-like of shape (d,) or None, default=None
            The point; None: the centre.

        Returns
        -------
        LinearDiscriminant
            A new discriminant of these features.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.slice([0], at=[0.0, 1.0]).weights.ravel().tolist()
        [-6.0, 3.0]
        """
        self._require_straight()
        chosen = [self._feature(one) for one in features]
        center = self._center
        held = np.ones(self.n_features, dtype=bool)
        held[chosen] = False
        moved = np.zeros(self.n_features) if at is None else self._point(at, "at") - center
        constant = self.weights[0] + moved[held] @ self.weights[1:][held]
        kept = np.vstack([constant, self.weights[1:][chosen]])
        return replace(self, weights=kept, center=center[chosen], feature_names=[self.names[j] for j in chosen])

    def regions(self, bounds: Any) -> list[Array]:
        """For each class the convex polygon where it wins within a box.

        The areas add up to that of the box.

        Parameters
        ----------
        bounds : sequence of four floats
            The box ((x₀, x₁), (y₀, y₁)), or flat as (x₀, x₁, y₀, y₁).

        Returns
        -------
        list of K ndarrays of shape (m, 2)
            Vertices, counter-clockwise; a class that wins nowhere in the box has none.

        Raises
        ------
        DataError
            Where there are not two features.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> [len(polygon) for polygon in line.regions(((0, 4), (0, 4)))]
        [3, 5]
        """
        self._require_straight()
        if self.n_features != 2:
            raise DataError(
                f"Regions are polygons in two dimensions, and there are {self.n_features} features; hold all but two "
                "of them fixed with slice(features, at)."
            )
        return decision_regions(self.class_weights, bounds, self.center)

    def contributions(self, X: Any, reference: Any = None) -> Contributions:
        """w_j (x_j − r_j) for each row and attribute: with the score of the reference r they add up to the score.

        Parameters
        ----------
        reference : array-like of shape (d,) or None, default=None
            r; None: the centre, or the origin where there is none.

        Returns
        -------
        Contributions
            An array of contributions with names.

        >>> line = LinearDiscriminant([-10.0, 3.0, 4.0], ["near", "far"], link="sigmoid")
        >>> line.contributions([[1.0, 2.0]]).row(0)
        {'x1': 8.0, 'x0': 3.0}
        """
        values = self._features(X)
        if values.ndim != 2 or values.shape[1] != self.n_features:
            raise DataError(
                f"X has shape {values.shape}, but this discriminant is expecting {self.n_features} features."
            )
        moved = np.zeros(self.n_features) if reference is None else self._point(reference, "reference") - self._center
        weights = self.class_weights
        if self.n_classes == 2:
            weights = weights[:, 1:] - weights[:, :1]
        baseline = weights[0] + moved @ weights[1:]
        shares = (values - (self._center + moved))[:, :, None] * weights[1:]
        if self.n_classes == 2:
            baseline, shares = baseline[0], shares[:, :, 0]
        return Contributions(shares, baseline, self.names, tuple(self.classes.tolist()))

    # Inside

    @cached_property
    def _rule(self) -> Rule:
        return Rule(self.classes, self.n_outputs, self.coding, self.link)

    @cached_property
    def _affine(self) -> AffineMap:
        return AffineMap(self.weights, self.center, self.basis, self.feature_names, absolute=self.link is not None)

    @cached_property
    def _decider(self) -> tuple[AffineMap, Rule]:
        """From X to class scores in one product where the coding is linear; through the outputs where it is not."""
        whole = self._rule.one_output or self.coding is None or self._rule.linear_decoder is None
        if whole or self.link == "pairs":
            return self._affine, self._rule
        return replace(self._affine, weights=self.class_weights), replace(
            self._rule, n_outputs=self.n_classes, coding=None
        )

    @property
    def _center(self) -> Array:
        return np.zeros(self.n_features) if self.center is None else self.center

    def _point(self, given: Any, name: str) -> Array:
        point = as_numbers(given, name)
        if point.shape != (self.n_features,) or not np.isfinite(point).all():
            raise DataError(f"{name} must be a point with {self.n_features} finite features; got {given!r}.")
        return point

    def _feature(self, feature: Any) -> int:
        """The position of a feature that is given by name or position."""
        if isinstance(feature, str) and feature in self.names:
            return self.names.index(feature)
        if not number(-self.n_features, self.n_features - 1, whole=True).holds(feature):
            raise ParameterError(f"features names {feature!r}; there are {self.n_features}: {names(self.names)}.")
        return int(feature) % self.n_features

    def _features(self, X: Any) -> Array:
        features = X if self.basis is None else self.basis.transform(X)
        return np.asarray(features.toarray() if is_sparse(features) else features, dtype=np.float64)

    def _planes(self) -> list[Hyperplane]:
        titles = [f"The discriminant of class {label!r}" for label in self.classes.tolist()]
        return [Hyperplane(a[1:], a[0], self.center, t) for a, t in zip(self.class_weights.T, titles, strict=True)]

    def _require_straight(self) -> None:
        if self.basis is not None:
            raise MismatchError(
                f"With the basis {self.basis!r} the boundaries are curved in x, and have neither polygons nor slices. "
                "Evaluate predict on a grid."
            )


def label_array(labels: Sequence[Any]) -> Array:
    """Labels as an array of their own type; of objects where the types differ, never of strings made from numbers.

    >>> label_array([1, 2, "reject"]).tolist()
    [1, 2, 'reject']
    """
    kinds = {"O" if isinstance(label, tuple) else np.asarray(label).dtype.kind for label in labels}
    if len(kinds) == 1 and kinds != {"O"}:
        return np.array(labels)
    mixed = np.empty(len(labels), dtype=object)
    for k, label in enumerate(labels):  # one by one: a tuple is a label, too
        mixed[k] = label
    return mixed


def _as_is(z: Array) -> Array:
    return z


def _first(z: Array) -> Array:
    return z[:, 0]


def _same(a: Any, b: Any) -> bool:
    """Equality that looks into arrays and dataclasses of arrays."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return a is not None and b is not None and np.array_equal(a, b)
    if type(a) is type(b) and is_dataclass(a):
        return all(_same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return bool(a == b)


def discriminant_of(model: object) -> LinearDiscriminant | None:
    """The linear discriminant that a fitted model of any package is or decides by; None where it has none of ours."""
    found = model if isinstance(model, LinearDiscriminant) else getattr(model, "discriminant_", None)
    return found if isinstance(found, LinearDiscriminant) else None
