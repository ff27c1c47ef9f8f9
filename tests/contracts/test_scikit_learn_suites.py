"""scikit-learn's own tests of the classes that ours stand in for, in a process of their own: on ours, and on theirs
under ``patch_sklearn``.

What fails is what docs/migration.md says, with the reason.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import sklearn

from contracts.declared import rows_of

SWAP = """
import discriminant
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.svm

for module, names in (
    (sklearn.linear_model, ("LogisticRegression", "LogisticRegressionCV", "Perceptron")),
    (sklearn.discriminant_analysis, ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis")),
    (sklearn.svm, ("LinearSVC",)),
):
    for name in names:
        setattr(module, name, getattr(discriminant, name))
"""
PATCH = """
import discriminant

discriminant.patch_sklearn()
"""
SUITES = (
    "sklearn.tests.test_discriminant_analysis",
    "sklearn.linear_model.tests.test_perceptron",
    "sklearn.linear_model.tests.test_logistic",
    "sklearn.svm.tests.test_svm",
)
RIDGE = "sklearn.linear_model.tests.test_ridge"
# Grids of elastic nets that take minutes; tests/unit/test_sparse_logistic.py has such comparisons.
SLOW = "not elastic_net and not elasticnet"
SLOWER = f"(not test_ridge.py or ridge_classifier) and {SLOW} and not cv_iris and not consistency"


@pytest.mark.parametrize(
    ("plugin", "suites", "chosen", "title"),
    [
        (SWAP, SUITES, SLOW, "Tests of scikit-learn"),
        (PATCH, (*SUITES, RIDGE), SLOWER, "Tests of scikit-learn under the patch"),
    ],
    ids=["ours", "patched"],
)
def test_their_tests_fail_only_where_the_page_says_why(plugin, suites, chosen, title, tmp_path):
    if not sklearn.__version__.startswith("1.9."):
        pytest.skip("the tables are those of scikit-learn 1.9")
    (tmp_path / "other_classes.py").write_text(plugin)
    command = [sys.executable, "-m", "pytest", "-p", "other_classes", "--pyargs", *suites, "-k", chosen, "-rf"]
    options = ["-q", "-W", "ignore", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no"]
    run = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=1800, check=False)
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|error)", run.stdout[-300:])}
    assert counts["passed"] > 350, run.stdout[-4000:]
    assert "error" not in counts, run.stdout[-4000:]
    failed = set(re.findall(r"^FAILED \S*::(\w+)", run.stdout, flags=re.MULTILINE))
    assert failed == {name for names, _ in rows_of(title) for name in names}
