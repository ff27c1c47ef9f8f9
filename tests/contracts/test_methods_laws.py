"""The law of the named methods: estimator = method = command line, to the bit, and with the same defaults."""

import inspect
import subprocess
import sys
import warnings
from dataclasses import fields

import numpy as np
import pytest

import discriminant
from discriminant import datasets
from discriminant.cli import main
from discriminant.cli.methods import METHODS
from discriminant.data import as_rows
from discriminant.data.files import read_table
from discriminant.methods import HOMES, make_sample, method_of


def sample_of(classes):
    iris = datasets.load("iris")
    chosen = np.flatnonzero(np.isin(iris.y, np.unique(iris.y)[-classes:]))
    return iris.X[chosen], iris.y[chosen]


def same(a, b):
    """Equal to the bit, through lists, tuples and the fields of objects."""
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if hasattr(a, "__dataclass_fields__"):
        return type(a) is type(b) and all(same(getattr(a, one.name), getattr(b, one.name)) for one in fields(a))
    return a == b or (a != a and b != b)


@pytest.mark.parametrize("name", HOMES)
def test_a_method_has_the_parameters_of_its_estimator_with_the_same_defaults(name):
    expected = {one.name: one.default for one in inspect.signature(getattr(discriminant, name)).parameters.values()}
    assert {one.name: one.default for one in fields(method_of(name))} == expected
    assert method_of(name).estimator == name


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", HOMES)
def test_an_estimator_holds_what_its_method_finds_and_warns_of_its_notes(name, classes):
    X, y = sample_of(classes)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fitted = getattr(discriminant, name)().fit(X, y)
    fit = method_of(name)().fit(make_sample(as_rows(X), y))
    assert [str(one.message) for one in heard] == [note.text for note in fit.notes]
    assert fit.state
    for key, value in fit.state.items():
        assert same(value, vars(fitted)[key]), key
    assert same(fit.certificate, fitted.certificate_)
    assert same(fit.predict(X), fitted.predict(X))
    assert same(fit.decision_function(X), fitted.decision_function(X))


@pytest.mark.parametrize("name", HOMES)
def test_a_fit_comes_back_from_its_file_as_the_fitted_estimator(name, tmp_path):
    X, y = sample_of(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = getattr(discriminant, name)().fit(X, y)
    discriminant.save(method_of(name)().fit(make_sample(as_rows(X), y)), tmp_path / "fit", X=X)
    restored = discriminant.load(tmp_path / "fit")
    assert type(restored) is type(fitted)
    assert restored.get_params() == fitted.get_params()
    assert {key for key in vars(fitted) if key.endswith("_")} <= vars(restored).keys()
    assert same(restored.decision_function(X), fitted.decision_function(X))
    assert str(restored.certificate_) == str(fitted.certificate_)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.estimator in HOMES])
def test_the_command_line_fits_what_the_estimator_fits(name, tmp_path):
    """On the matrix that its own preprocessing makes of the table."""
    assert main(["fit", "penguins", "--model", name, "--cv", "0", "-q", "--out", str(tmp_path / "m")]) == 0
    model, table = discriminant.load(tmp_path / "m"), read_table("penguins")
    labels, rows = model.labels_of(table)
    X = model.preprocess.matrix(table.take(rows))[0]
    method = METHODS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = getattr(discriminant, method.estimator)(**method.parameters).fit(X, labels)
    assert type(model.model) is type(fitted)
    assert same(model.model.decision_function(X), fitted.decision_function(X))
    assert str(model.model.certificate_) == str(fitted.certificate_) == model.facts["certificate"]


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.estimator in HOMES])
def test_fitting_predicting_and_evaluating_start_without_scikit_learn(name, tmp_path):
    file = str(tmp_path / "m")
    code = (
        "import sys\nfrom discriminant.cli import main\n"
        f"assert main(['fit', 'penguins', '--model', {name!r}, '-q', '--out', {file!r}]) == 0\n"
        f"assert main(['predict', {file!r}, 'penguins', '-q', '--out', {file + '.csv'!r}]) == 0\n"
        f"assert main(['evaluate', {file!r}, 'penguins', '-q']) == 0\n"
        f"assert main(['summary', {file!r}, '-q']) == 0\n"
        f"assert main(['export', {file!r}, '--to', 'json', '--out', {file + '.json'!r}, '-q']) == 0\n"
        "print('sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
