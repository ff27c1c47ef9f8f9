"""Rows on a device: results where X lies, the same numbers as in memory, proofs from the finest arithmetic at hand.

What needs a GPU skips without one; the rest runs on torch's CPU tensors and on the strict array API library, the
device's own way of working asked for however few the rows are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discriminant
from discriminant import (
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from discriminant.arrays import in_memory
from discriminant.data import device as device_
from discriminant.data import device_evaluate
from discriminant.data.device_library import TorchLibrary
from discriminant.errors import DataError, MismatchError
from unit import cupy_stand_in

torch = pytest.importorskip("torch", reason="torch is not installed")
GPU = torch.cuda.is_available()
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not GPU, reason="there is no CUDA device"))]


def problem(n_classes: int, n: int = 3_000, d: int = 6, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d))) + rng.normal(size=d)
    z = X @ rng.normal(size=(d, n_classes))
    return X, np.argmax(z + rng.gumbel(size=z.shape), axis=1)


@pytest.fixture
def at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are worked on by the device, too."""
    plain = device_.open_device
    monkeypatch.setattr(device_, "open_device", lambda X: device_.DeviceSource(plain(X).rows, smallest=0))


METHODS = [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, FisherDiscriminant, LeastSquaresClassifier]


@pytest.mark.usefixtures("at_work")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("method", [*METHODS, LogisticRegression])
def test_fits_are_those_in_memory(method: Any, n_classes: int, dtype: str, device: str) -> None:
    X, y = problem(n_classes)
    rows = torch.from_numpy(X).to(getattr(torch, dtype)).to(device)
    same = rows.to(torch.float64).cpu().numpy()  # the numbers as the short type holds them
    model, best = method().fit(rows, torch.from_numpy(y).to(device)), method().fit(same, y)
    scores, found = best.decision_function(same), model.decision_function(rows)
    assert isinstance(found, torch.Tensor)
    assert found.device == rows.device
    exact = dtype == "float64" and method is not LogisticRegression
    wide = 1e-9 if exact else 2e-3 if method is LogisticRegression else 1e-4
    np.testing.assert_allclose(found.double().cpu().numpy(), scores, atol=wide * np.abs(scores).max())
    predicted = model.predict(rows)
    assert predicted.device == rows.device
    assert (predicted.cpu().numpy() == best.predict(same)).mean() > 0.998
    assert model.score(rows, y) == pytest.approx(best.score(same, y), abs=2e-3)
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(rows)
        np.testing.assert_allclose(chances.double().sum(dim=1).cpu().numpy(), 1.0, atol=1e-5)
        np.testing.assert_allclose(chances.double().cpu().numpy(), best.predict_proba(same), atol=2e-3)
        logs = model.predict_log_proba(rows)
        np.testing.assert_allclose(logs.exp().double().cpu().numpy(), chances.double().cpu().numpy(), atol=1e-5)
    if method is LogisticRegression:
        assert model.certificate_.converged
        J = best.certificate_.objective
        assert -1e-6 * J <= model.certificate_.objective - J <= model.certificate_.gap + 1e-6 * J


@pytest.mark.usefixtures("at_work")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_offsets_of_columns_and_no_intercept(n_classes: int) -> None:
    X, y = problem(n_classes)
    X[:, 1] = X[:, 1] + 1e4
    w = np.random.default_rng(1).integers(0, 3, len(y))
    rows = torch.from_numpy(X)
    for options in ({"class_weight": "balanced"}, {"fit_intercept": False}, {"C": 0.01}):
        model = LogisticRegression(tol=1e-10, **options).fit(rows, y, sample_weight=w)
        best = LogisticRegression(tol=1e-12, **options).fit(X, y, sample_weight=w)
        assert model.certificate_.objective == pytest.approx(best.certificate_.objective, rel=1e-8)
        assert model.certificate_.converged
    with pytest.raises(MismatchError, match="offset"):
        LogisticRegression().fit(rows, y, offset=np.ones(len(y)))
    lda = LinearDiscriminantAnalysis().fit(rows, y, sample_weight=torch.from_numpy(w))
    np.testing.assert_allclose(lda.coef_, LinearDiscriminantAnalysis().fit(X, y, sample_weight=w).coef_, rtol=1e-7)


@pytest.mark.usefixtures("at_work")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_a_penalty_the_hessian_or_nothing_proves_the_end(n_classes: int) -> None:
    X, y = problem(n_classes)
    model = LogisticRegression(C=np.inf, tol=1e-8)
    best = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    if n_classes == 2:  # for more, separability is asked, which takes rows in memory
        model.fit(torch.from_numpy(X), y)
        assert model.certificate_.converged
        assert model.certificate_.objective == pytest.approx(best.certificate_.objective, rel=1e-8)


def test_an_anchor_makes_fast_products_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """The course on a GPU with float64 units; its fast products are played by half floats, which have as many bits."""
    X, y = problem(8, n=4_000, d=12, seed=3)
    rows = torch.from_numpy(X.astype(np.float32))
    source = device_.DeviceSource(device_.open_device(rows).rows, smallest=0)
    library = TorchLibrary

    def coarse(self: Any, values: Any) -> Any:
        return values.half().float()

    def product(self: Any, first: Any, second: Any, mode: str, level: Any = None) -> Any:
        a, b = (coarse(self, first), coarse(self, second)) if mode == "fast" else (first, second)
        return a @ b if level is None else a @ b + level

    def inner(self: Any, first: Any, second: Any, mode: str) -> Any:
        a, b = (coarse(self, first), coarse(self, second)) if mode == "fast" else (first, second)
        return (a.T @ b).double()

    def add_product(self: Any, start: Any, first: Any, second: Any, level: Any) -> Any:
        return start + (coarse(self, first) @ coarse(self, second) + level)

    for name, made in (("product", product), ("inner", inner), ("add_product", add_product)):
        monkeypatch.setattr(library, name, made)
    monkeypatch.setattr(library, "accelerated", property(lambda self: True))
    monkeypatch.setattr(library, "fast_double", property(lambda self: True))
    monkeypatch.setattr(library, "free_memory", lambda self: 1 << 40)
    seen: list[str] = []
    near = device_evaluate._Softmax._near
    monkeypatch.setattr(device_evaluate._Softmax, "_near", lambda self: seen.append("near") or near(self))
    model = LogisticRegression(tol=1e-6).fit(source, torch.from_numpy(y))
    best = LogisticRegression(tol=1e-10).fit(X.astype(np.float32).astype(np.float64), y)
    assert seen
    assert model.certificate_.converged
    J = best.certificate_.objective
    assert 0 <= model.certificate_.objective - J + 1e-9 <= model.certificate_.gap + 2e-9


def test_rows_in_memory_are_streamed_to_a_device_where_they_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = problem(3, n=5_000)
    fitting = discriminant.on_device(X, "cuda" if GPU else "cpu")
    assert not fitting.rows.streamed
    monkeypatch.setattr(device_, "RESIDENT_SHARE", 0.0)
    monkeypatch.setattr(device_, "BLOCK_VALUES", 1 << 14)
    rows = discriminant.on_device(X.astype(np.float32), "cuda" if GPU else "cpu")
    assert rows.rows.streamed
    for make in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, LogisticRegression):
        model, best = make().fit(rows, y), make().fit(X.astype(np.float32).astype(float), y)
        found = model.predict_proba(rows)
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, best.predict_proba(X), atol=1e-3)
        assert model.score(rows, y) == pytest.approx(best.score(X, y), abs=2e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_strict_array_library_is_enough(n_classes: int) -> None:
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    X, y = problem(n_classes)
    rows = strict.asarray(X)
    source = device_.DeviceSource(device_.open_device(rows).rows, smallest=0)
    for make in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, lambda: LogisticRegression(tol=1e-9)):
        model, best = make().fit(source, strict.asarray(y)), make().fit(X, y)
        found = model.predict_proba(rows)
        assert type(found) is type(rows)
        np.testing.assert_allclose(np.from_dlpack(found), best.predict_proba(X), atol=1e-3)
        assert (np.from_dlpack(model.predict(rows)) == best.predict(X)).mean() > 0.999


def test_labels_of_any_kind() -> None:
    X, y = problem(3)
    rows = torch.from_numpy(X)
    words = np.array(["a", "b", "c"])[y]
    model = LinearDiscriminantAnalysis().fit(rows, words)
    assert model.predict(rows).tolist() == LinearDiscriminantAnalysis().fit(X, words).predict(X).tolist()
    gaps = torch.from_numpy(np.array([-5, 7, 1000])[y])
    source = device_.DeviceSource(device_.open_device(rows).rows, smallest=0)
    model = LinearDiscriminantAnalysis().fit(source, gaps)
    assert model.classes_.tolist() == [-5, 7, 1000]
    assert set(model.predict(rows).tolist()) == {-5, 7, 1000}
    with pytest.raises(DataError, match="one class only"):
        LinearDiscriminantAnalysis().fit(rows, torch.zeros(len(y), dtype=torch.int64))
    with pytest.raises(DataError, match="X has 3000 rows and y has 5"):
        LinearDiscriminantAnalysis().fit(rows, gaps[:5])
    rows[7, 2] = float("nan")
    with pytest.raises(DataError, match=r"NaN: .*2 in row 7"):
        LinearDiscriminantAnalysis().fit(source, gaps)


def test_small_tensors_are_fitted_in_memory_to_the_last_digits() -> None:
    X, y = problem(2, n=200)
    model = LogisticRegression().fit(torch.from_numpy(X), torch.from_numpy(y))
    np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(X, y).coef_)
    assert isinstance(model.predict(torch.from_numpy(X)), torch.Tensor)


def test_array_api_dispatch_is_respected_and_not_required() -> None:
    from sklearn import config_context

    X, y = problem(2, n=300)
    rows = torch.from_numpy(X)
    plain = LinearDiscriminantAnalysis().fit(rows, y).predict_proba(rows)
    with config_context(array_api_dispatch=False):
        assert torch.equal(LinearDiscriminantAnalysis().fit(rows, y).predict_proba(rows), plain)


@pytest.mark.skipif(not GPU, reason="there is no CUDA device")
def test_the_gap_of_many_classes_is_proved_in_float64_on_a_gpu() -> None:
    generator = torch.Generator(device="cuda").manual_seed(0)
    X = torch.randn((60_000, 128), generator=generator, device="cuda")
    W = torch.randn((128, 50), generator=generator, device="cuda") / 6
    z = X @ W
    y = (
        z - torch.log(-torch.log(torch.rand(z.shape, generator=generator, device="cuda").clamp(1e-6, 1 - 1e-6)))
    ).argmax(1)
    model = LogisticRegression(tol=1e-6).fit(X, y)
    assert model.certificate_.converged
    assert isinstance(model.coef_, torch.Tensor)
    J = exact_objective(model, X.double().cpu().numpy(), y.cpu().numpy(), 1.0)
    assert model.certificate_.objective == pytest.approx(J, rel=1e-13)


@pytest.mark.skipif(not GPU, reason="there is no CUDA device")
@pytest.mark.parametrize("d", [1, 5, 17, 33, 64])
@pytest.mark.parametrize("shifted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 8, 16])
def test_the_fused_look_takes_the_same_moments(d: int, shifted: bool, n_classes: int) -> None:
    from discriminant.kernels import device_moments

    if not device_moments.here(torch, "cuda"):
        pytest.skip(reason="torch cannot compile kernels for this device")
    generator = torch.Generator(device="cuda").manual_seed(d)
    X = torch.randn((300_001, d), generator=generator, device="cuda") * 3 + 2
    codes = torch.randint(0, n_classes, (len(X),), generator=generator, device="cuda")
    shift = np.random.default_rng(d).normal(size=(n_classes, d)).astype(np.float32) if shifted else None
    found = device_moments.moments(X, codes, shift, np.full(d, 16.0), n_classes)
    assert found is not None
    gram, sums, counts = found
    rows = X.double() - (torch.from_numpy(shift).cuda().double()[codes] if shift is not None else 0.0)
    best = (rows.T @ rows).cpu().numpy()
    assert np.abs(gram - best).max() / np.abs(best).max() < 2e-6  # matrix units cut off what they add
    assert np.array_equal(gram, gram.T)
    own = torch.stack([rows[codes == k].sum(dim=0) for k in range(n_classes)]).cpu().numpy()
    assert np.abs(sums - own).max() / float(rows.abs().sum()) < 1e-7
    assert counts.tolist() == torch.bincount(codes, minlength=n_classes).tolist()


@pytest.mark.skipif(not GPU, reason="there is no CUDA device")
@pytest.mark.parametrize("odd", ["rare", "large", "negative", "far"])
def test_labels_that_some_rows_do_not_show_are_found(odd: str) -> None:
    generator = torch.Generator(device="cuda").manual_seed(0)
    X = torch.randn((400_000, 8), generator=generator, device="cuda")
    y = torch.randint(0, 3, (len(X),), generator=generator, device="cuda")
    y[12_345:12_360] = {"rare": 3, "large": 40, "negative": -1, "far": 2**32}[odd]
    model = LinearDiscriminantAnalysis().fit(X, y)
    best = LinearDiscriminantAnalysis().fit(X.double().cpu().numpy(), y.cpu().numpy())
    assert model.classes_.tolist() == best.classes_.tolist()
    np.testing.assert_allclose(in_memory(model.coef_), best.coef_, atol=1e-5)
    np.testing.assert_allclose(in_memory(model.priors_), best.priors_, rtol=1e-12)


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("method", [LogisticRegression, LinearDiscriminantAnalysis, LeastSquaresClassifier])
def test_rows_of_any_kind_are_predicted_by_a_model_of_another(
    method: Any, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fitted on torch, CuPy or a strict array library, a model answers rows of each, in the kind of the rows."""
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    cupy = cupy_stand_in.install(monkeypatch)
    if not small:
        plain = device_.open_device
        monkeypatch.setattr(device_, "open_device", lambda X: device_.DeviceSource(plain(X).rows, smallest=0))
    X, y = problem(2, n=400)
    X += 1e3  # a centre, which weights in the user's coordinates do not keep the digits of
    best = method().fit(X, y)
    kinds = (np.asarray, torch.from_numpy, cupy.asarray, strict.asarray)
    for there in kinds:
        model = method().fit(there(X), there(y))
        for other in kinds:
            found = model.decision_function(other(X))
            assert type(found) is type(other(X))
            np.testing.assert_allclose(in_memory(found), best.decision_function(X), rtol=1e-5, atol=1e-5)
            assert (in_memory(model.predict(other(X))) == best.predict(X)).all()
            assert model.score(other(X), other(y)) == best.score(X, y)


def exact_objective(model: Any, X: Any, y: Any, C: float) -> float:
    """J at a model's weights, in the machine's widest float."""
    weights, center = model.discriminant_.weights.astype(np.longdouble), model.discriminant_.center
    z = (X.astype(np.longdouble) - (0 if center is None else center)) @ weights[1:] + weights[0]
    z = np.hstack([np.zeros_like(z), z]) if z.shape[1] == 1 else z
    top = z.max(axis=1, keepdims=True)
    loss = top[:, 0] + np.log(np.exp(z - top).sum(axis=1)) - z[np.arange(len(y)), y]
    return float(loss.mean() + (weights[1:] ** 2).sum() / (2 * C * len(y)))


@pytest.mark.usefixtures("at_work")
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["plain", "offsets", "scales", "collinear", "wide spectrum", "large scores"])
def test_what_is_proved_of_float32_rows_is_true_and_proved_to_every_tolerance(
    kind: str, n_classes: int, C: float
) -> None:
    """bound ≤ min J ≤ J(model) ≤ bound + gap, against the minimum in float64, whose J is summed in the widest float."""
    rng = np.random.default_rng(0)
    n, d = 4_000, 8
    X = rng.normal(size=(n, d))
    if kind == "collinear":
        X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    if kind == "wide spectrum":
        X = X * np.logspace(0, -3, d) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    z = X @ rng.normal(size=(d, n_classes))
    z *= (30 if kind == "large scores" else 3) / z.std()
    y = np.argmax(z + rng.gumbel(size=z.shape), axis=1)
    X = {"offsets": X + 1e5 * rng.normal(size=d), "scales": X * np.logspace(-6, 6, d)}.get(kind, X).astype(np.float32)
    least = exact_objective(LogisticRegression(C=C, tol=1e-14).fit(X.astype(np.float64), y), X, y, C)
    for tol in (1e-6, 1e-10):
        model = LogisticRegression(C=C, tol=tol).fit(torch.from_numpy(X), torch.from_numpy(y))
        found, J = model.certificate_, exact_objective(model, X, y, C)
        slack = 1e-13 * least  # of the reference itself
        assert found.converged
        assert found.objective == pytest.approx(J, rel=1e-13)
        assert found.bound <= least + slack
        assert J - least <= found.gap + slack


@pytest.mark.usefixtures("at_work")
def test_an_unpenalised_fit_of_float32_rows_is_proved_by_a_hessian_in_float64() -> None:
    X, y = problem(2, n=4_000)
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    X = X.astype(np.float32)
    model = LogisticRegression(C=np.inf).fit(torch.from_numpy(X), torch.from_numpy(y))
    best = LogisticRegression(C=np.inf, tol=1e-14).fit(X.astype(np.float64), y)
    assert model.certificate_.converged
    assert model.certificate_.objective == pytest.approx(best.certificate_.objective, rel=1e-8)
    assert model.certificate_.bound <= best.certificate_.objective * (1 + 1e-14)
