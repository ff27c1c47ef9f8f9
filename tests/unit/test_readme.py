"""What the documents say is so: their examples run, their names and links exist, their commands are there."""

from __future__ import annotations

import doctest
import inspect
import itertools
import os
import re
import shutil
import subprocess
import sys
import tomllib
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn

import discriminant
from contracts import test_criteria_laws, test_penalties_laws
from discriminant.data import as_rows
from discriminant.methods import make_sample

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
DOCUMENTS += sorted((ROOT / "docs").rglob("*.md"))
NO_CODE = ("index", "figures")  # pages of the guide that only lead to others
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def without_fences(text: str) -> str:
    """Markdown's closing fence would otherwise be read as the last line of an example's output."""
    return re.sub(r"^```.*$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_examples_give_what_they_show(path: Path) -> None:
    text = without_fences(path.read_text(encoding="utf-8"))
    test = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted > 5 or (path.name != "README.md" and path.parent.name != "guide") or path.stem in NO_CODE


def module_of_the_guide(name: str) -> Any:
    """The module that CONTRIBUTING.md tells how to write, with the class of this name, from the text itself."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = (code for code in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S) if f"class {name}" in code)
    module = types.ModuleType(f"guide_{name}")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(code, "CONTRIBUTING.md", "exec"), module.__dict__)
    return module


def part_of_the_guide(name: str) -> Any:
    return getattr(module_of_the_guide(name), name)()


def laws(module: Any) -> list[Any]:
    return [law for name, law in vars(module).items() if name.startswith("test_")]


def test_method_of_the_guide_finds_the_minimum_that_its_parts_find() -> None:
    """What CONTRIBUTING.md promises: a method is a choice of parts, and needs nothing more to be fitted."""
    iris = discriminant.datasets.load("iris")
    fit = part_of_the_guide("MaximumMargin").fit(make_sample(as_rows(iris.X), iris.y))
    parts = discriminant.Discriminant(criterion="squared-hinge", penalty=discriminant.penalties.Ridge(0.01))
    parts.fit(iris.X, iris.y)
    np.testing.assert_array_equal(fit.state["coef_"], parts.coef_)
    assert fit.certificate == parts.certificate_
    np.testing.assert_array_equal(fit.predict(iris.X), parts.predict(iris.X))


@pytest.mark.parametrize("law", laws(test_penalties_laws), ids=lambda law: law.__name__)
def test_penalty_of_the_guide_obeys_the_laws(law: Callable[..., None]) -> None:
    law(module_of_the_guide("Huber").Huber(0.4, delta=0.5))


@pytest.mark.parametrize("criterion", ["logistic", "softmax"])
def test_penalty_of_the_guide_leads_to_the_minimum(criterion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line names it, and the optimizers find where ∇J = 0."""
    from discriminant.penalties import PENALTIES, make_penalty

    iris = discriminant.datasets.load("iris")
    monkeypatch.setitem(PENALTIES, "huber", module_of_the_guide("Huber").Huber)
    penalty = make_penalty("huber", 0.02)
    model = discriminant.Discriminant(criterion=criterion, penalty=penalty).fit(iris.X, iris.y)
    A = np.vstack([model.intercept_, model.coef_.T])
    assert np.abs(model.coef_).max() > 1 > np.abs(model.coef_).min()  # both sides of δ
    targets = (iris.y[:, None] == model.classes_) / 1.0
    z = model.decision_function(iris.X)
    if criterion == "softmax":
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
    else:
        p = 1 / (1 + np.exp(-z))
    slope = np.vstack([np.ones(len(z)), iris.X.T]) @ (p - targets) / len(z) + penalty.gradient(A)
    np.testing.assert_allclose(slope, 0, atol=1e-8)


class PackedArray:
    """An array of another package, as the guide's storage opens it."""

    __module__ = "packed"

    def __init__(self, X: np.ndarray) -> None:
        self.low = X.min(axis=0)
        self.step = (X.max(axis=0) - self.low) / 255
        self.codes = np.rint((X - self.low) / self.step).astype(np.uint8)


@pytest.mark.filterwarnings("ignore:Ended after 20 epochs")
def test_storage_of_the_guide_is_fitted_and_predicted_as_its_numbers_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from discriminant.data.sources import OPENERS

    opener = f"{module_of_the_guide('PackedRows').__name__}:open_packed"
    iris = discriminant.datasets.load("iris")
    packed = PackedArray(iris.X)
    X = packed.low + packed.step * packed.codes
    monkeypatch.setitem(OPENERS, "packed", opener)
    for model in (
        discriminant.LogisticRegression(),
        discriminant.LogisticRegression(C=0.5, l1_ratio=1.0),
        discriminant.LinearDiscriminantAnalysis(),
        discriminant.LinearSVC(),
        discriminant.Adaline(random_state=0, max_iter=20),
    ):
        plain = sklearn.clone(model).fit(X, iris.y)
        model.fit(packed, iris.y)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
        np.testing.assert_array_equal(model.predict(packed), plain.predict(X))
        assert model.score(packed, iris.y) == plain.score(X, iris.y)
    model = discriminant.LinearDiscriminantAnalysis().partial_fit(packed, iris.y)
    np.testing.assert_allclose(model.coef_, discriminant.LinearDiscriminantAnalysis().fit(X, iris.y).coef_)
    with pytest.raises(discriminant.errors.DataError, match="X has 150 rows and y has 149"):
        model.fit(packed, iris.y[1:])


RECIPES = """
import sys
import numpy as np
import discriminant
from discriminant.methods import make_sample, method_of
from registry import CRITERIA, PENALTIES

iris = discriminant.datasets.load("iris")
assert discriminant.Discriminant(criterion="smooth-hinge").fit(iris.X, iris.y).score(iris.X, iris.y) > 0.9
assert discriminant.Discriminant(penalty="huber").fit(iris.X, iris.y).certificate_.converged
assert discriminant.criteria.SmoothHinge() in CRITERIA
assert any(type(one) is discriminant.penalties.Huber for one in PENALTIES)
method = method_of("MaximumMarginClassifier")()
from discriminant.data import as_rows
assert np.mean(method.fit(make_sample(as_rows(iris.X), iris.y)).predict(iris.X) == iris.y) > 0.9


class Packed:
    __module__ = "packed"
    low, step, codes = 0.0, 1.0, iris.X


assert discriminant.LinearDiscriminantAnalysis().fit(Packed(), iris.y).score(Packed(), iris.y) == 0.98
"""


def test_recipes_of_the_guide_need_one_file_and_one_line_each(tmp_path: Path) -> None:
    """A copy of the package with the files and the lines of CONTRIBUTING.md, and nothing else, knows the parts."""
    shutil.copytree(ROOT / "src" / "discriminant", tmp_path / "src" / "discriminant")
    shutil.copy(ROOT / "tests" / "contracts" / "registry.py", tmp_path)
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    files = re.findall(r"^\*\*The file\*\*, `(.+?)`:\n\n```python\n(.*?)^```", text, re.M | re.S)
    lines = re.findall(r"^\*\*The line\*\*, in (?:`(\w+)` of )?\[.+?\]\((.+?)\).*?\n```\n(.*?)^```", text, re.M | re.S)
    assert len(files) == len(lines) == 4
    for name, code in files:
        (tmp_path / name).write_text(code, encoding="utf-8")
    for table, name, line in lines:
        place = tmp_path / name
        known = place.read_text(encoding="utf-8")
        start = re.search(
            rf"^{table}\b.*[\[{{]\n" if table else r"(?<=^from __future__ import annotations\n)", known, re.M
        )
        assert start is not None
        place.write_text(known[: start.end()] + line + known[start.end() :], encoding="utf-8")
    paths = {**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}{os.pathsep}{tmp_path}"}
    done = subprocess.run([sys.executable, "-c", RECIPES], env=paths, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("law", laws(test_criteria_laws), ids=lambda law: law.__name__)
def test_criterion_of_the_guide_obeys_the_laws(law: Callable[..., None]) -> None:
    """What CONTRIBUTING.md promises: one file and one line are enough."""
    criterion = part_of_the_guide("SmoothHinge")
    if "dtype" in inspect.signature(law).parameters:
        for dtype, size in itertools.product((np.float32, np.float64), (0.0, 1.0, 1e4)):
            law(criterion, dtype, size)
    else:
        law(criterion)


def test_readme_opens_with_the_two_commands() -> None:
    opening = (ROOT / "README.md").read_text(encoding="utf-8")[:600]
    assert opening.index("make demo") < opening.index("make test")


def test_every_public_class_is_in_the_readme_and_every_name_there_exists() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    classes = {name for name in discriminant.__all__ if name[0].isupper()}
    missing = sorted(name for name in classes if f"`{name}" not in text)
    assert not missing, f"README.md needs a line in its table for each of {missing}"
    table = re.findall(r"^\| `([A-Z]\w+)`", text, flags=re.MULTILINE)
    assert table
    assert set(table) <= classes, "README.md promises what is not there"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8"))
    made = {ROOT / f"docs/reference/{name}.md" for name in discriminant.__all__ if name[0].isupper()}  # from docstrings
    missing = [link for link in links if not (path.parent / link).exists() and path.parent / link not in made]
    assert not missing


def test_every_dependency_has_its_line() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lists = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    wanted = {re.split(r"[\[<>=~!]", entry)[0] for entries in lists for entry in entries} - {"discriminant"}
    wanted |= {re.split(r"[<>=]", entry)[0] for entry in project["build-system"]["requires"]}
    rows = "".join(re.findall(r"^\|.*$", (ROOT / "docs/dependencies.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert not {name for name in wanted if not re.search(rf"\b{re.escape(name)}\b", rows)}


def test_make_targets_named_in_the_documents_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for path in DOCUMENTS:
        commands = re.findall(r"(?:`|^)make ([a-z-]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(commands) <= targets, path.name


def test_the_page_of_methods_names_every_estimator() -> None:
    text = (ROOT / "docs/methods.md").read_text(encoding="utf-8")
    table = set(re.findall(r"^\| \[`(\w+)`\]", text, flags=re.MULTILINE))
    assert table == {name for name in discriminant.__all__ if hasattr(getattr(discriminant, name), "fit")}


def test_every_page_is_in_the_navigation() -> None:
    """Some page's list of the pages below it has it; the site asks the same, but takes a minute."""
    listed = {ROOT / "docs/index.md"}
    for path in (ROOT / "docs").rglob("*.md"):
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S):
            pages = re.findall(r"^(?:.*<)?([\w./]+)>?$", tree, re.MULTILINE)
            listed |= {(path.parent / f"{page}.md").resolve() for page in pages}
    assert sorted(path for path in (ROOT / "docs").rglob("*.md") if path not in listed) == []


@pytest.mark.parametrize("path", sorted((ROOT / "examples/gallery").glob("*/*.py")), ids=lambda path: path.stem)
def test_every_example_of_the_gallery_has_a_title_and_ends_with_a_picture(path: Path) -> None:
    """They run when the site is built."""
    text = path.read_text(encoding="utf-8")
    title, line = re.match(r'"""\n(.+)\n(=+)\n\n', text).groups()  # type: ignore[union-attr]
    assert len(title) == len(line)
    assert "plt.show()\n" in text


def test_every_erratum_names_tests_that_exist() -> None:
    text = (ROOT / "docs/errata.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .*`(test_\w+\.py)` \|$", text, flags=re.MULTILINE)
    assert len(rows) == 18
    for line in re.findall(r"^\| .*`test_\w+\.py` \|$", text, flags=re.MULTILINE):
        *tests, file = re.findall(r"`(test_[\w.]+)`", line)
        source = (ROOT / "tests/theory" / file).read_text(encoding="utf-8")
        assert tests
        assert all(f"def {name}(" in source for name in tests), line
