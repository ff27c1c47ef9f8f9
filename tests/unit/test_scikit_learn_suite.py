"""scikit-learn's own tests of its discriminant analysis, run against ours in a process of its own."""

from __future__ import annotations

import subprocess
import sys

PLUGIN = """
import discriminant
import sklearn.discriminant_analysis as module

module.LinearDiscriminantAnalysis = discriminant.LinearDiscriminantAnalysis
module.QuadraticDiscriminantAnalysis = discriminant.QuadraticDiscriminantAnalysis
"""


def test_their_tests_pass_with_our_classes(tmp_path):
    (tmp_path / "swap_classes.py").write_text(PLUGIN)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "swap_classes",
        "--pyargs",
        "sklearn.tests.test_discriminant_analysis",
    ]
    options = ["-q", "-W", "ignore", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"]
    run = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stdout[-4000:]
    assert " passed" in run.stdout
    assert "failed" not in run.stdout
