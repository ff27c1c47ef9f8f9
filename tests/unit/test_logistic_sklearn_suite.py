"""scikit-learn's own tests of its logistic regression, run against ours in a process of its own.

What is left out is named with its reason: either it tests what ours does not do on purpose (stop early and warn), or
how a solver of theirs fails, or private parts.
"""

from __future__ import annotations

import subprocess
import sys

PLUGIN = """
import discriminant
import sklearn.linear_model as module

module.LogisticRegression = discriminant.LogisticRegression
"""

LEFT_OUT = {
    "an iteration limit that stops the fit, and the warning after it; ours has none": (
        "test_max_iter",
        "test_zero_max_iter",
        "(test_warm_start and not converge_LR)",
        "test_newton_cholesky_fallback_to_lbfgs",
        "test_liblinear_dual_random_state",
    ),
    "separated classes without a penalty, on which ours warns": ("test_c_inf_no_warning",),
    "limits of liblinear and sag (float64 only, no 64-bit indices, no large values), which ours has not": (
        "(test_dtype_match and liblinear)",
        "(test_large_sparse_matrix and (liblinear or sag))",
        "test_liblinear_with_large_values",
    ),
    "grids of elastic nets and cross-validations that take minutes; tests/unit/test_sparse_logistic.py covers them": (
        "test_elastic_net",
        "test_LogisticRegressionCV_GridSearchCV_elastic_net",
        "test_scores_attribute_layout_elasticnet",
    ),
    "private methods and functions": ("test_logreg_predict_proba_multinomial",),
    "array API input and callbacks of scikit-learn 1.9": ("array_api", "callback"),
}


def test_their_tests_pass_with_our_class(tmp_path):
    (tmp_path / "swap_classes.py").write_text(PLUGIN)
    left_out = " or ".join(name for names in LEFT_OUT.values() for name in names)
    # Tests of LogisticRegressionCV alone run their own class: they say nothing about ours.
    chosen = f"not ({left_out}) and not logistic_cv and not LogisticRegressionCV and not logisticregressioncv"
    command = [sys.executable, "-m", "pytest", "-p", "swap_classes", "--pyargs"]
    command += ["sklearn.linear_model.tests.test_logistic", "-k", chosen]
    options = ["-q", "-W", "ignore", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"]
    run = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
    assert run.returncode == 0, run.stdout[-4000:]
    assert " passed" in run.stdout
