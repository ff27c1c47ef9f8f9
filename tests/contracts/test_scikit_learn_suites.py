"""scikit-learn's own tests of the classes that ours stand in for, on ours, in a process of their own.

What fails is what docs/migration.md says, with the reason.
"""

from __future__ import annotations

import re
import subprocess
import sys

from contracts.declared import rows_of

PLUGIN = """
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
SUITES = (
    "sklearn.tests.test_discriminant_analysis",
    "sklearn.linear_model.tests.test_perceptron",
    "sklearn.linear_model.tests.test_logistic",
    "sklearn.svm.tests.test_svm",
)
# Grids of elastic nets that take minutes; tests/unit/test_sparse_logistic.py has such comparisons.
SLOW = "not elastic_net and not elasticnet"


def test_their_tests_fail_only_where_the_page_says_why(tmp_path):
    (tmp_path / "swap_classes.py").write_text(PLUGIN)
    command = [sys.executable, "-m", "pytest", "-p", "swap_classes", "--pyargs", *SUITES, "-k", SLOW, "-rf"]
    options = ["-q", "-W", "ignore", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no"]
    run = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=1800, check=False)
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|error)", run.stdout[-300:])}
    assert counts["passed"] > 350, run.stdout[-4000:]
    assert "error" not in counts, run.stdout[-4000:]
    failed = set(re.findall(r"^FAILED \S*::(\w+)", run.stdout, flags=re.MULTILINE))
    assert failed == {name for names, _ in rows_of("Tests of scikit-learn") for name in names}
