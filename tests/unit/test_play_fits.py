"""What the playground shows: that it is the library's own fit, and that the Python it hands out does the same."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import re
import warnings
from typing import Any

import numpy as np
import pytest

import discriminant
from discriminant.errors import DataError, DiscriminantWarning
from discriminant.play.answer import answer
from discriminant.play.frames import MOST_FRAMES, shown_steps
from discriminant.play.methods import BASES, METHODS, MOST_VISITS, OWN, Choice, description
from discriminant.play.own_points import own_points
from discriminant.play.presets import EXTENT, PRESETS, preset
from discriminant.play.recipe import Recipe
from discriminant.play.script import script
from discriminant.play.state import MOST_CLASSES, MOST_POINTS, read_state


def ask(points: Any, **choices: Any) -> tuple[Any, dict[str, Any]]:
    """(the state, the answer) for a preset's name or a list of points."""
    if isinstance(points, str):
        X, y = preset(points).points()
        points = [[a, b, int(label)] for (a, b), label in zip(X.tolist(), y, strict=True)]
    state = read_state({"points": points, **choices})
    return state, answer(state)


def unpacked(text: str, shape: tuple[int, ...], dtype: str = "<f8") -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=dtype).reshape(shape)


def execute(text: str) -> tuple[dict[str, Any], str]:
    """(the names, what was printed) after running the page's Python; a run that has not settled may say so."""
    scope: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as out, warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscriminantWarning)
        exec(compile(text, "playground.py", "exec"), scope)
    return scope, out.getvalue()


def weights_of_frames(fit: dict[str, Any]) -> np.ndarray:
    return unpacked(fit["frames"]["weights"], (fit["frames"]["count"], fit["dimensions"], fit["outputs"]))


def decisions(fit: dict[str, Any], z: np.ndarray) -> np.ndarray:
    """Classes from outputs by the rule that the page is sent, written out plainly."""
    rule = fit["rule"]
    if rule["kind"] == "linear":
        g = z @ np.array(rule["slopes"]) + rule["shift"]
        sure = 1 / np.exp(g - g.max(axis=1, keepdims=True)).sum(axis=1)
        return np.where(1 - sure > (1 if rule["reject_cost"] is None else rule["reject_cost"]), -1, g.argmax(axis=1))
    chosen = []
    for row in z - np.array(rule["threshold"]):
        g = [[s * v for s, v in zip(signs, row, strict=True) if s] for signs in rule["signs"]]
        if rule["kind"] == "unanimous":
            least = [min(values) for values in g]
            agreed = sum(value > 0 for value in least) == 1
            chosen.append(int(np.argmax(least)) if agreed or not rule["rejects"] else -1)
        else:
            votes = [(sum(v > 0 for v in values), sum(values)) for values in g]
            chosen.append(max(range(len(g)), key=lambda k: votes[k]))
    return np.array(chosen)


CASES = [
    (name, data, basis, coding, decoder)
    for name, method in METHODS.items()
    for data, basis in (("pair", "none"), ("pair", "quadratic"), ("star", "none"))
    for coding in (method.codings or ("auto",) if data == "star" else ("auto",))
    for decoder in (OWN.get(coding, ("auto",)) if data == "star" and name != "svc" else ("auto",))
    if data == "pair" or method.classes > 2
]


@pytest.mark.parametrize(("method", "data", "basis", "coding", "decoder"), CASES)
def test_the_python_does_what_the_page_did(method: str, data: str, basis: str, coding: str, decoder: str) -> None:
    """Executed, the text gives the same weights and decisions; and the page's own rule decides as ``predict`` does."""
    state, shown = ask(data, method=method, basis=basis, coding=coding, decoder=decoder, parameters={})
    fit = shown["fit"]
    assert fit is not None, shown["problem"]
    scope, printed = execute(shown["python"])
    model = scope["model"]
    assert np.array_equal(scope["X"], state.X)
    assert np.array_equal(scope["y"], state.y)
    final = model[-1] if hasattr(model, "steps") else model
    if method != "qda":
        mine = np.vstack([np.atleast_1d(final.intercept_), np.atleast_2d(final.coef_).T])
        assert np.allclose(mine, fit["weights"], rtol=1e-12, atol=1e-12)
    labels = fit["rule"]["classes"]
    codes = [labels.index(label) if label in labels else -1 for label in model.predict(state.X).tolist()]
    assert codes == fit["predicted"]
    assert shown["verdict"]["verdict"] in printed
    Y = unpacked(fit["points"], (len(state.y), fit["dimensions"]))
    assert decisions(fit, Y @ weights_of_frames(fit)[-1]).tolist() == fit["predicted"]
    json.dumps(shown, allow_nan=False)


@pytest.mark.parametrize("basis", [basis for basis in BASES if basis != "none"])
@pytest.mark.parametrize("method", ["perceptron", "lda"])
def test_every_basis_has_a_script(method: str, basis: str) -> None:
    """Both the methods that take a basis and those that stand behind one."""
    _, shown = ask("xor", method=method, basis=basis)
    model = execute(shown["python"])[0]["model"]
    final = model[-1] if hasattr(model, "steps") else model
    assert np.allclose(np.vstack([final.intercept_, final.coef_.T]), shown["fit"]["weights"], rtol=1e-12)


@pytest.mark.parametrize("method", ["lda", "qda", "logistic"])
@pytest.mark.parametrize(("data", "basis"), [("overlap", "none"), ("overlap", "quadratic"), ("five", "none")])
def test_doubtful_places_are_rejected(method: str, data: str, basis: str) -> None:
    """Where the likeliest class has a posterior below the surety asked for, as MinimumRiskClassifier does."""
    state, shown = ask(data, method=method, basis=basis, parameters={"sure": 0.99})
    fit = shown["fit"]
    assert -1 in fit["predicted"]
    Y = unpacked(fit["points"], (len(state.y), fit["dimensions"]))
    assert decisions(fit, Y @ weights_of_frames(fit)[-1]).tolist() == fit["predicted"]
    model = execute(shown["python"])[0]["model"]
    posterior = model.estimator_.predict_proba(state.X).max(axis=1)
    assert ((posterior < 0.99) == (model.predict(state.X) == -1)).all()


def test_the_frames_are_the_perceptron_s_corrections() -> None:
    """Against the textbook's loop: cyclic, fixed increment, until n samples in a row are right."""
    state, shown = ask("pair", method="perceptron")
    Y = np.c_[np.ones(len(state.y)), state.X] * np.where(state.y == 2, 1.0, -1.0)[:, None]
    a, path, rows, clean, i = np.zeros(3), [np.zeros(3)], [-1], 0, 0
    while clean < len(Y):
        if a @ Y[i] <= 0:
            a, clean = a + Y[i], 0
            path.append(a)
            rows.append(i)
        else:
            clean += 1
        i = (i + 1) % len(Y)
    assert np.allclose(weights_of_frames(shown["fit"])[:, :, 0], path, atol=1e-12)
    assert shown["fit"]["frames"]["row"] == rows
    assert shown["fit"]["frames"]["objective"][-1] == 0


def test_the_frames_of_descent_fall() -> None:
    _, shown = ask("overlap", method="logistic", parameters={"optimizer": "newton"})
    J = np.array(shown["fit"]["frames"]["objective"])
    assert len(J) > 3
    assert (np.diff(J) <= 1e-12).all()


def test_what_is_handed_back_is_the_last_frame() -> None:
    """The average of the weights is none of the steps, and is shown after them."""
    _, last = ask("pair", method="perceptron")
    _, mean = ask("pair", method="perceptron", parameters={"keep": "average"})
    assert mean["fit"]["frames"]["count"] == last["fit"]["frames"]["count"] + 1
    assert np.allclose(weights_of_frames(mean["fit"])[-1], mean["fit"]["weights"])


@pytest.mark.parametrize("method", ["lda", "qda", "perceptron"])
@pytest.mark.parametrize("basis", ["none", "cubic", "rbf"])
def test_the_grid_is_the_decision_function(method: str, basis: str) -> None:
    state, shown = ask("overlap", method=method, basis=basis)
    fit = shown["fit"]
    side = fit["grid"]["side"]
    nodes = unpacked(fit["grid"]["values"], (side * side, fit["dimensions"]), "<f4")
    ticks = np.linspace(-EXTENT, EXTENT, side)
    places = np.array([[x, y] for y in ticks for x in ticks])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscriminantWarning)  # some of these samples cannot be separated
        model = state.recipe().build().fit(state.X, state.y)
    expected = model.decision_function(places)
    got = nodes @ np.array(fit["weights"])
    assert np.allclose(got[:, 0], expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())  # float32 on its way


def test_many_steps_are_thinned() -> None:
    for count in (1, 2, MOST_FRAMES, MOST_FRAMES + 1, 100_001):
        kept = shown_steps(count)
        assert kept[0] == 0
        assert kept[-1] == count - 1
        assert len(kept) <= MOST_FRAMES
        assert (np.diff(kept) > 0).all()


# The globe of weights


@pytest.mark.parametrize("data", ["pair", "narrow", "overlap", "xor"])
def test_the_region_on_the_globe_holds_the_weights_that_separate(data: str) -> None:
    state, shown = ask(data, method="perceptron", basis="none")
    globe = shown["fit"]["globe"]
    assert globe["empty"] == (shown["verdict"]["verdict"] != "separable")
    axes = np.array(globe["axes"])
    assert np.allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    samples = np.c_[np.ones(len(state.y)), state.X] * np.where(state.y == 2, 1.0, -1.0)[:, None]
    corners = np.array(globe["corners"]).reshape(-1, 3)
    assert len(corners) == 0 if globe["empty"] else len(corners) >= 3
    at_corners = samples @ axes @ corners.T
    assert at_corners.min(initial=0) > -1e-4  # rounded to 1e-6 for the page
    if len(corners):
        assert (samples @ axes @ corners.mean(axis=0) > 0).all()
        assert np.abs(at_corners).min(axis=0).max() < 1e-4  # each corner lies on a great circle


def test_with_more_features_the_globe_is_a_slice_through_the_solution() -> None:
    state, shown = ask("xor", method="perceptron", basis="quadratic")
    globe, fit = shown["fit"]["globe"], shown["fit"]
    assert globe["dimensions"] == 6
    assert not globe["empty"]
    assert not globe["slice_misses"]
    Y = unpacked(fit["points"], (len(state.y), 6)) * np.where(state.y == 2, 1.0, -1.0)[:, None]
    inside = np.array(globe["axes"]) @ np.array(globe["corners"]).mean(axis=0)
    assert (Y @ inside > 0).all()


def test_every_two_class_problem_of_a_coding_has_a_view() -> None:
    for coding, count in (("one-vs-rest", 3), ("pairwise", 3), ("machine", 3)):
        _, shown = ask("star", method="perceptron", coding=coding, view=2)
        assert len(shown["fit"]["views"]) == count
        assert shown["fit"]["view"] == 2
        assert not shown["fit"]["globe"]["empty"]
    _, shown = ask("star", method="perceptron", coding="one-vs-rest")
    assert shown["fit"]["views"][0] == "class 1 against the rest"


# The verdict


def test_the_witness_is_two_equal_averages() -> None:
    state, shown = ask("overlap", method="lda")
    found = shown["verdict"]["witness"]
    rows, weights = np.array(found["rows"]), np.array(found["weights"])
    for label in (1, 2):
        mine = state.y[rows] == label
        assert np.isclose(weights[mine].sum(), 1)
        assert np.allclose(weights[mine] @ state.X[rows[mine]], found["point"], atol=1e-9)
    assert shown["verdict"]["proved"]


def test_the_street_is_as_wide_as_it_is_said() -> None:
    state, shown = ask("pair", method="lda")
    plane = np.array(shown["verdict"]["hyperplane"])
    side = (plane[0] + state.X @ plane[1:]) / np.linalg.norm(plane[1:]) * np.where(state.y == 2, 1, -1)
    assert np.isclose(side.min(), shown["verdict"]["margin"])


def test_the_verdict_stands_where_the_method_refuses() -> None:
    _, shown = ask([[0, 0, 1], [1, 1, 2]], method="qda")
    assert shown["fit"] is None
    assert len(shown["problem"].split()) > 5
    assert shown["verdict"]["verdict"] == "separable"


def test_two_points_in_one_place_are_quasi_separable_at_best() -> None:
    _, shown = ask([[0, 0, 1], [0, 0, 2], [1, 0, 2]], method="lda")
    assert shown["verdict"]["verdict"] == "quasi-separable"
    assert "boundary" in shown["verdict"]["text"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "points",
    [
        [[0, 0, 1], [1, 0, 2]],
        [[2, 2, 1], [2, 2, 2]],
        [[2, 2, 1]] * 5 + [[2, 2, 2]] * 5,
        [[x, 1, 1 + x % 2] for x in range(-4, 5)],
        [[x, 1, 1 + x % 3] for x in range(5)],
        [[1000, -1000, 1], [1000, 1000, 2], [-1000, 0, 5], [0, 0, 3], [0, 0.001, 4]],
    ],
    ids=["two", "same", "heaps", "line", "three", "far"],
)
def test_degenerate_boards_are_answered(method: str, points: list[list[float]]) -> None:
    """Few points, equal points, points on a line: a fit, or a sentence; always a verdict, and JSON without NaN."""
    _, shown = ask(points, method=method)
    assert (shown["fit"] is None) == (shown["problem"] is not None)
    assert shown["verdict"]["proved"]
    json.dumps(shown, allow_nan=False)


@pytest.mark.parametrize("method", ["perceptron", "lda", "qda", "logistic"])
@pytest.mark.parametrize("basis", ["rbf", "distances"])
def test_one_centre_is_enough(method: str, basis: str) -> None:
    """One feature, two weights: less than the globe needs."""
    _, shown = ask("rings", method=method, basis=basis, centres=1)
    assert shown["fit"]["globe"] is None
    assert shown["fit"]["dimensions"] == 2


@pytest.mark.parametrize("seed", range(30))
def test_any_choice_is_answered(seed: int) -> None:
    """Random points, parameters at their bounds: a fit or a sentence, a proved verdict, JSON without NaN."""
    rng = np.random.default_rng(seed)
    method = list(METHODS)[seed % len(METHODS)]
    given = {}
    for p in METHODS[method].parameters:
        if p.choices:
            given[p.name] = p.choices[rng.integers(len(p.choices))][0]
        else:
            value = [p.low, p.high, p.default, rng.uniform(p.low, p.high)][rng.integers(4)]
            given[p.name] = min(int(value), 50) if p.whole else float(value)
    n, classes = int(rng.integers(5, 30)), int(rng.integers(2, 6))
    X, y = np.round(rng.uniform(-5, 5, (n, 2)), 3), rng.integers(1, classes + 1, n)
    y[:2] = 1, 2
    points = [[a, b, int(label)] for (a, b), label in zip(X.tolist(), y, strict=True)]
    basis, coding = list(BASES)[rng.integers(len(BASES))], ("one-vs-rest", "pairwise", "machine")[rng.integers(3)]
    decoder = ("auto", "sum", "unanimous")[rng.integers(3)]
    _, shown = ask(points, method=method, basis=basis, coding=coding, decoder=decoder, parameters=given, view=1)
    assert (shown["fit"] is None) == (shown["problem"] is not None)
    assert shown["verdict"]["proved"]
    json.dumps(shown, allow_nan=False)
    if shown["fit"]:
        Y = unpacked(shown["fit"]["points"], (n, shown["fit"]["dimensions"]))
        decided = decisions(shown["fit"], Y @ weights_of_frames(shown["fit"])[-1])
        assert decided.tolist() == shown["fit"]["predicted"]


# Sets of points


@pytest.mark.parametrize("name", PRESETS)
def test_a_set_lies_on_the_board(name: str) -> None:
    X, y = PRESETS[name].points()
    assert np.abs(X).max() <= EXTENT
    assert len(y) <= MOST_POINTS
    assert sorted(set(y.tolist())) == list(range(1, y.max() + 1))
    assert 2 <= y.max() <= MOST_CLASSES
    assert PRESETS[name].method in METHODS
    assert PRESETS[name].basis in BASES
    controls = {one.name: one for one in METHODS[PRESETS[name].method].parameters}
    for control, value in PRESETS[name].parameters.items():
        known = dict(controls[control].choices)
        assert value in known if known else controls[control].low <= value <= controls[control].high


@pytest.mark.filterwarnings("ignore::discriminant.errors.DiscriminantWarning")
def test_examples_of_the_books_are_shown_on_their_scale() -> None:
    """J of the four samples by hand: 0, 1, 4, 2, 0, 0, the sums of the guide's page."""
    X, y = PRESETS["by-hand"].points()
    assert PRESETS["by-hand"].parameters["scale"] == "sum"
    model = discriminant.Perceptron(shuffle=False, tol=None, trace=True, **PRESETS["by-hand"].parameters).fit(X, y)
    assert model.history_["objective"].tolist() == [0, 1, 4, 2, 0, 0]
    X, y = PRESETS["lms"].points()
    assert discriminant.separability(X, y).verdict == "separable"
    assert discriminant.LeastSquaresClassifier().fit(X, y).score(X, y) < 1


def test_the_sets_show_what_they_say() -> None:
    assert ask("pair", method="perceptron")[1]["verdict"]["verdict"] == "separable"
    assert ask("xor", method="perceptron")[1]["verdict"]["verdict"] == "overlapping"
    assert ask("xor", method="perceptron", basis="product")[1]["verdict"]["verdict"] == "separable"
    masked = ask("masking", method="least-squares", coding="one-of-k")[1]["fit"]
    assert masked["predicted"].count(1) <= 10
    assert ask("masking", method="lda")[1]["fit"]["right"] == 1
    pulled = ask("outliers", method="least-squares")[1]
    assert pulled["verdict"]["verdict"] == "separable"
    assert pulled["fit"]["right"] < 1
    assert ask("outliers", method="logistic", parameters={"C": 100.0})[1]["fit"]["right"] == 1
    star = ask("star", method="perceptron", coding="one-vs-rest")[1]["fit"]
    assert star["ambiguity"]["several"] + star["ambiguity"]["none"] > 0.02
    inside = {
        basis: ask("interval", method="program", basis=basis)[1]["fit"]["right"] for basis in ("none", "quadratic")
    }
    assert inside["none"] < 1
    assert inside["quadratic"] == 1
    fisher = {d: ask("overlap", method="fisher", parameters={"direction": d})[1]["fit"]["right"] for d in FISHER}
    assert fisher["fisher"] > fisher["mean-difference"]


FISHER = ("fisher", "mean-difference")


# The table


def test_the_table_is_plain_data_within_its_bounds() -> None:
    json.dumps(description(), allow_nan=False)
    for method in METHODS.values():
        for parameter in method.parameters:
            assert parameter.check(parameter.default) == parameter.default


def test_long_runs_are_cut_to_what_can_be_replayed() -> None:
    assert Choice(1000, 2, given={"epochs": 1000}).epochs() == MOST_VISITS // 1000
    assert Choice(10, 2, given={"epochs": 1000}).epochs() == 1000


def test_a_recipe_is_built_as_it_is_written() -> None:
    recipe = Recipe("make_pipeline", (Recipe("bases.Polynomial", (3,)), Recipe("LinearSVC", options={"C": 2.0})))
    assert recipe.source() == "make_pipeline(bases.Polynomial(3), LinearSVC(C=2.0))"
    assert recipe.imports() == [
        "from sklearn.pipeline import make_pipeline",
        "",
        "from discriminant import LinearSVC, bases",
    ]
    assert recipe.build()[-1].C == 2.0


def test_labels_in_any_order_are_written_out() -> None:
    points = [[0.5, 0.0, 3], [1.0, 0.0, 1], [0.0, 2.0, 3], [1.5, 1.0, 1]]
    assert "y = np.array([3, 1, 3, 1])" in script(read_state({"points": points, "method": "lda"}))
    assert "np.repeat([1, 2], [20, 20])" in script(ask("pair", method="lda")[0])


@pytest.mark.parametrize("name", ["perceptron", "relaxation", "quadratic", "adaline", "logistic", "sigmoid"])
def test_the_books_scale_is_a_choice_of_every_method_by_steps(name):
    from discriminant.play.methods import METHODS

    (scale,) = (one for one in METHODS[name].parameters if one.name == "scale")
    assert [key for key, _ in scale.choices] == ["mean", "sum"]


def test_the_four_samples_of_the_guide_are_a_preset():
    X, y = preset("by-hand").points()
    assert X.tolist() == [[0, 0], [1, 0], [0, 1], [2, 2]]
    assert y.tolist() == [1, 1, 1, 2]


# Points of one's own, and points left out


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("x,y,kind\n1,2,b\n3,4.5,a\n", [[1.0, 2.0, 2], [3.0, 4.5, 1]]),
        ("1,2\n3,4\n", [[1.0, 2.0, 1], [3.0, 4.0, 1]]),  # whole numbers are points, not names
        ("a\tb\tc\n1\t2\t7\n3\t4\t-1\n", [[1.0, 2.0, 2], [3.0, 4.0, 1]]),
        ("a;b;c\n1,5;2,5;u\n3,5;4,5;v\n", [[1.5, 2.5, 1], [3.5, 4.5, 2]]),  # decimal commas
        ("a,b\n0,100\n10,300\n5,200\n", [[-4.5, -4.5, 1], [4.5, 4.5, 1], [0.0, 0.0, 1]]),  # scaled to the board
        ("a,b\n1e308,7\n-1e308,7\n", [[4.5, 0.0, 1], [-4.5, 0.0, 1]]),
        ("a,b\n1,2\n,3\n2,4\n", [[1.0, 2.0, 1], [2.0, 4.0, 1]]),  # a row with a missing value is left out
    ],
)
def test_a_table_comes_onto_the_board(text: str, points: list[list[float]]) -> None:
    assert own_points("own.csv", text)["points"] == points


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "own.csv is empty"),
        ("a,b,c,d\n1,2,3,4\n", "4 columns; the playground takes two"),
        ("a\n1\n", "1 column;"),
        ("a,b\n1,hello\n", "'b' of own.csv must hold numbers; it holds 'hello'"),
        ("a,b\n1,2\n3\n", "1 field in line 3"),
        ("a,b\n,\n", "no row without missing values"),
        ("a,b\n", "no rows"),
        ("a,b\n1,\0\n", "zero byte"),
        ("a,b,c\n" + "".join(f"1,2,{k}\n" for k in range(6)), "names 6 classes ('0', '1', '2' and 3 more)"),
    ],
)
def test_a_table_that_is_none_is_said(text: str, words: str) -> None:
    with pytest.raises(DataError, match=re.escape(words)):
        own_points("own.csv", text)


def test_a_long_table_is_thinned_and_said() -> None:
    text = "a,b\n" + "".join(f"{k / 1000},{k % 5}\n" for k in range(5000))
    found = own_points("long.csv", text)
    assert len(found["points"]) == MOST_POINTS
    assert found["points"][0][0] == 0.0
    assert found["points"][-1][0] == 4.999
    assert "3,000 rows are left out, evenly" in found["story"]


@pytest.mark.parametrize("split", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("name", ["by-hand", "star", "thousand"])
def test_points_are_left_out_evenly_and_none_of_a_class_alone(name: str, split: float) -> None:
    state, shown = ask(name, method="lda", split=split)
    n, left = len(state.y), len(state.y) - len(state.learned)
    assert set(state.y[state.learned]) == set(state.y)
    assert abs(left / n - split) < 0.02 + len(state.classes) / n
    assert shown["fit"] is None or shown["fit"]["learned"] == state.learned.tolist()


@pytest.mark.parametrize(("method", "data"), [("perceptron", "overlap"), ("lda", "star"), ("logistic", "rings")])
def test_the_test_is_not_learned_from(method: str, data: str) -> None:
    """The fit is that of the other points; what the page says of points is said by their own numbers."""
    state, shown = ask(data, method=method, split=0.4)
    model = state.recipe().build()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscriminantWarning)
        model.fit(*state.sample)
    assert shown["fit"]["right"] == model.score(*state.sample)
    codes = [model.classes_.tolist().index(label) for label in model.predict(state.X)]
    assert shown["fit"]["predicted"] == codes
    assert set(shown["fit"]["frames"]["row"]) <= {-1, *state.learned.tolist()}
    if shown["verdict"]["witness"]:
        assert set(shown["verdict"]["witness"]["rows"]) <= set(state.learned.tolist())
    scope, printed = execute(shown["python"])
    left = np.setdiff1d(np.arange(len(state.y)), state.learned)
    np.testing.assert_array_equal(scope["X_test"], state.X[left])
    assert f"{model.score(state.X[left], state.y[left]):.1%} in the test" in printed
