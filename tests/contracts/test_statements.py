"""What a status says is true: every kind of sentence is produced here, or where the table says, and worked out again.

The truth is computed apart from the package: objectives, gradients and minima in fifty digits, sides of a boundary and
least counts in rationals.  ``SENTENCES`` lists what the sources can say; a new sentence without a line there fails.
"""

from __future__ import annotations

import ast
import re
import warnings
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from discriminant import (
    Adaline,
    Discriminant,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearProgrammingClassifier,
    LogisticRegression,
    MinimumErrorClassifier,
    Perceptron,
    SigmoidRegressionClassifier,
    criteria,
    optimize,
)
from discriminant.codings import make_coding
from discriminant.data import make_blocks
from discriminant.objective import PointwiseObjective
from discriminant.penalties import Ridge
from unit.test_tiny_losses import Exact

mp = pytest.importorskip("mpmath")
SOURCE = Path(__file__).resolve().parents[2] / "src" / "discriminant"
CLAIM = re.compile(
    r"^(Solved|Converged|Not converged|Not solved|Stopped|Proved|Ended|Closed form|Cooled)\b"
    r"|proved to be within|could be proved|is proved for|has no maximum|least possible"
)

# What a sentence claims → the test of this page, or the file, that works it out.  {} is a number or a name.
SENTENCES = {
    r"(Solved: )?(J|P) = {} is proved to be within {} of its minimum\.?": "proved_gaps",
    r"Solved( by {})?: {}\.": "proved_gaps",
    r"Stopped where no step lowers J further: J = {} is proved to be within .*": "proved_gaps",
    r"Not converged: {}, and steps get it down no further\.": "proved_gaps",
    r"Stopped after {} passes: {}; raise max_iter or tol\.": "proved_gaps",
    r"J = {}; no bound could be proved.*": "proved_gaps",
    r"Converged after {}( steps)?: ‖∇J‖ = {}, J = {}\.": "gradients",
    r"Converged after {}( steps)? to the precision of the arithmetic: .*": "gradients",
    r"Converged after {}: the gradient is zero\.": "gradients",
    r"Not converged.*‖∇J‖ = {}.*": "gradients",
    r"(Not converged|Converged) after {}: (a further step|the next|J = {}, and the next) promises .*": "promises",
    r"Not converged: after {} no halving of the Newton step lowers J = {}\.": "promises",
    r"(Not converged|Converged) after {}: a proximal step of length 1 (still )?moves by {}\.": "proximal_moves",
    r"Converged: the samples are separated after .*": "separations",
    r"Converged: every row lies beyond its margin after {}\.": "separations",
    r"Converged after {}: no sample lies on the wrong side by more than rounding.*": "separations",
    r"Not converged: after {} and {} every sample is on its side, .*": "separations",
    r"Not converged: the last of {}.* still made {}( corrections)? of {} in all.*": "separations",
    r"Stopped early at step {}: no row is misclassified\.": "separations",
    r"Converged after {} {}: J = 0, the least possible\.": "least_counts",
    r"Cooled down after {} moves: J = {} is the least that was seen; .*": "least_counts",
    r"Proved: .* is the least .*": "least_counts",
    r"{} is the least found, and at least {} \({}\) is proved for {}": "least_counts",
    r"Solved by linear programming: J = {} is the least possible\.": "linear_programs",
    r"Solved by linear programming: every row lies beyond its margin b = {}\.": "linear_programs",
    r"Solved in closed form, .*": "closed_forms",
    r"Solved by conjugate gradients, .*": "unit/test_least_squares.py",
    r"Not solved: rounding leaves the closed form, {}, {} above the least J\.": "unit/test_near_collinearity.py",
    r"Closed form: .*": "unit/test_gaussian_digits.py unit/test_fisher.py unit/test_exponential_family.py",
    r"The classes are separated: every row lies on its own side .* has no maximum .*": "unit/test_separated_fits.py",
    r"Not converged: with margin 0 criterion {} is least at weights of zero, .*": "zero_weights",
    r"Not converged: J = {} is flat around the weights, .*": "unit/test_discriminant_estimator.py",
    r"Ended near the minimum(: {})?": "settled_weights unit/test_adaline.py",
    r"Not converged: after {} the step is still {} long .*": "steps",
    r"Not converged: the step of iteration {} was shorter than θ = {}, but {}\.": "least_values",
    r"Not converged: J swings to and fro .*": "unit/test_optimize_descent.py",
    r"Converged: the step of iteration {} was shorter than θ = {}\.": "steps",
    r"{} after {}: {}; a Newton step promises to lower J = {} by {}\.": "settled_weights",
    r"Ended after {}.*": "unit/test_optimize_single_sample_runs.py unit/test_perceptron.py",
    r"Stopped early .*": "unit/test_optimize_descent.py unit/test_perceptron.py",
    r"Stopped by the callback at step .*": "unit/test_honest_ends.py",
    r"Stopped by a callback after {}: J = {} is {}\.": "stopped_fits contracts/test_callbacks.py",
    r"proved to be within {} of its minimum": "stopped_fits",
    r"Not solved: HiGHS .*": "unit/test_highs.py",
    r"Proved by rows of a sample of {}: .*": "unit/test_separability.py",
    r"(Not )?[Ss]olved|Not converged": "unit/test_certify.py",
    # Verdicts beside a status
    r"{} The samples are not separated\.": "separations",
    r"They cannot be separated.*|{}: more passes would get there\.": "verdicts",
    r"{}, but steps on this criterion come to the edge of the solution region.*": "verdicts",
    r"Whether they can be separated at all, discriminant\.separability\(X, y\) tells\.": "unit/test_perceptron.py",
    r"The theorem's bound \(R/γ\)² on corrections is {}\.": "unit/test_perceptron.py",
    r"No minimum exists: the weights of step {} put every row strictly on its side, .*": "endless_slopes",
    r"{} rows have a loss below 2e-9: .*": "endless_slopes",
    r"Diverged: J grew from {} to {} in {}\. .*": "long_steps",
    r"The step η = {} is longer than {}, the longest at which descent is stable here .*": "long_steps",
    r"The step η = {} is too long for this criterion; try a tenth of it\.": "long_steps",
    r"Diverged in epoch {}: the weights overflow; take a shorter step.*": "long_steps unit/test_dask.py",
    r"The weights overflow although X is finite: the steps are too long .*": "unit/test_honest_ends.py",
    r"J is not a number at the start: .*": "unit/test_optimize_single_sample_runs.py",
    r"{}\. J = {}; the least-squares minimum is {}\.": "distances_of_lms",
    r"Diverged: the steps are too long for these rows; .*": "distances_of_lms",
    r"That is still far: columns of unlike size or mean make LMS slow; .*": "distances_of_lms",
    r"{}( of {})? are wrong, .*": "least_counts",
    r"Out of time: {}; give it more seconds to close the gap\.|Rounding: {}; .*": "unit/test_optimize_programs.py",
    r"Of pocket and last weights, .*|The average of the weights .*": "unit/test_optimize_single_sample_runs.py",
    r"Iterative parameter mixing: .*": "unit/test_dask.py",
    r"Separated: every row lies beyond its margin b = {}, with no slack\.": "linear_programs",
    r"Without a penalty the likelihood may have no maximum: .*": "unit/test_separated_fits.py",
    r"The classes are {}: without a penalty the likelihood has no finite maximum, .*": "unit/test_separated_fits.py",
    r"Remedies: .*|{}: the weights given are where the steps ended\.": "unit/test_separated_fits.py",
    r"; probabilities are those of the limit\.": "unit/test_separated_fits.py",
    r"{}: the penalised likelihood is largest here; .*|{}: the score is still {} .*": "golden/test_firth_reference.py",
    r"The criterion is not convex: .*|J = {} after {} steps: the outputs are .*": "local_minima",
    r"Learned {} rows in parts: .*": "unit/test_logistic.py",
    # Closed forms
    r"Variables are collinear: .*|{}: constant within the classes, .*|There are {} columns .*": "lost_directions",
    r"They are the smallest that fit; .*": "lost_directions",
    r"Variables are nearly collinear: .*": "unit/test_near_collinearity.py",
    r"The covariance matrix of class {} is not full rank .*": "unit/test_qda.py",
    r"Drop columns, or use shrinkage .*|Increase the value of .*": "unit/test_qda.py",
    r"The class means coincide: .*|The Gaussians fitted to the projections .*": "unit/test_fisher.py",
    r"The whitening undoes the covariance to {}\.": "unit/test_gaussian_digits.py",
    # What certify, separability and tables say
    r"(The classes are {}: J has|J = {}, and it has|The weights are infinite, but the) .*": "unit/test_certify.py",
    r"{}: J = {} is within {} of its minimum, .*|J = {}; it is too far from .*": "unit/test_certify.py",
    r"{} rows, {} columns, {}: {}\.|Every row is at least {} from the .*": "unit/test_separability.py",
    r"{} hold exact linear combinations .*|The gap is of the size of rounding .*": "unit/test_separability.py",
    r"Without {} the classes are separable; {}\.|No row needs to be removed: .*": "unit/test_separability.py",
    r"The hulls of points {} and of {} meet at .*|Shattered: each of {} .*": "unit/test_capacity.py",
    r"{} is proved to be within {}·\|J\| of its minimum": "unit/test_sparse_logistic.py",
    r"As many random labels .*|No row is on the wrong side, .*|{} rows prove that .*": "unit/test_separability.py",
    r"{} {} is claimed by one class, {} by none, {} by several\.": "unit/test_ambiguity.py",
    r"This fit is penalised.*|The rows do not determine .*|The classes are separated: .*": "unit/test_summaries.py",
    r"The fit is {} standard errors from the optimum; .*|Targets that stand .*": "unit/test_summaries.py",
    r"Standard errors are those .*|The direction is .*|Some columns are collinear: .*": "unit/test_summaries.py",
    r"Bootstrap: .*|In {} of them the classes were .*|Marginal effects .*": "unit/test_summaries.py",
    r"The mean of the weights of {} folds, .*|Class {} has {} rows for {} folds: .*": "unit/test_logistic_cv.py",
    r"The priors still moved by {} .*|The {} do not sum to 1\. .*": "unit/test_decision.py",
    # What was given
    r"X holds integers as large as {}; .*|The largest sample_weight is .*": "contracts/test_hostile.py",
    r"{} {}\. This method steps in the units of X, .*": "contracts/test_hostile.py",
    r"('penalty'|'n_jobs'|'l1_ratio=None'|Inconsistent values: penalty=).*": "unit/test_logistic.py",
    r"set_callbacks comes with scikit-learn 1\.9, .*": "contracts/test_callbacks.py",
}


SPOKEN = ("optimize", "methods", "inference", "gaussian", "estimators", "decision", "objective.py")


def is_refusal(node):
    """Whether this makes a method that a class has not, with the sentence of its error."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "not_defined"


def claims():
    """Sentences in the sources that are not errors, with {} for what is filled in."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] not in SPOKEN:
            continue
        tree = ast.parse(path.read_text())
        nodes = list(ast.walk(tree))
        skip = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        errors = [node for node in nodes if isinstance(node, ast.Raise) or is_refusal(node)]
        skip |= {id(part) for node in errors for part in ast.walk(node)}
        bodies = [n.body[0] for n in nodes if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
        skip |= {id(first.value) for first in bodies if isinstance(first, ast.Expr)}
        for node in nodes:
            if id(node) in skip or not isinstance(node, ast.Constant | ast.JoinedStr):
                continue
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in parts)
            text = " ".join(text.split())
            sentence = len(text.split()) >= 4 and text.endswith(".") and " : " not in text  # and no docstring's entry
            if sentence or CLAIM.search(text):
                found[text] = path.relative_to(SOURCE).as_posix()
    return found


def pattern(line):
    return re.compile(line.replace("{}", r"(?:\{\w*\}|\S+(?: \S+)*?)"))


def test_every_sentence_that_can_be_said_has_a_check():
    told = claims()
    assert len(told) > 50
    missing = [
        f"{path}: {text}" for text, path in told.items() if not any(pattern(p).fullmatch(text) for p in SENTENCES)
    ]
    assert not missing, "no line of SENTENCES says how these are checked:\n" + "\n".join(missing)
    for where in SENTENCES.values():
        for part in where.split():
            known = part.endswith(".py") and (Path(__file__).parents[1] / part).exists()
            assert known or f"test_{part}" in globals(), part


# Hard problems -------------------------------------------------------------------------------------------------------
def problem(name):
    """(X, y): two classes."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(24, 3))
    y = (X[:, 0] + 0.7 * rng.normal(size=24) > 0).astype(int)
    apart = (X @ [1.0, -0.5, 0.25] > 0.1).astype(int)
    return {
        "overlapping": (X, y),
        "separable": (X, apart),
        "collinear": (np.c_[X[:, :2], X[:, 0] + 1e-6 * X[:, 2]], y),
        "scales": (X * [1e-6, 1.0, 1e6], y),
        "offset": (X + [1e6, 0.0, 0.0], y),
        "rare": (X, (np.arange(24) == 7).astype(int)),
        "float32": (X.astype(np.float32), y),
        "wide": (rng.normal(size=(10, 20)), np.arange(10) % 2),
        "nearly square": (rng.normal(size=(12, 11)), np.arange(12) % 2),
    }[name]


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def stacked(model):
    """a of the exact objective: the intercept and the weights of each output."""
    A = np.vstack([np.broadcast_to(model.intercept_, len(model.coef_)), model.coef_.T])
    return mp.matrix(np.asarray(A.T, dtype=float).ravel().tolist())


def said(text, word):
    """The number after a word."""
    return float(re.search(re.escape(word) + r" ?([-+0-9.e]+[0-9])", text).group(1))


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4, 1e8, 1e14, 1e20])
@pytest.mark.parametrize("name", ["overlapping", "separable", "collinear", "rare", "float32", "scales"])
def test_proved_gaps(name, C):
    """0 ≤ J(A) − J* ≤ gap, and the words follow the numbers: "Solved" only where the gap is as small as was asked."""
    X, y = problem(name)
    model = fitted(LogisticRegression(C=C), X, y)
    proof = model.certificate_
    with mp.workdps(60):
        exact = Exact(X, y, 2, C)
        a = stacked(model)
        J, least = exact.value(a), exact.minimum(a)[1]
        assert least <= J
        if np.isfinite(proof.gap):
            # float32 data give float32 weights: what is proved is proved of the weights before they are rounded.
            rounding = 1e-6 * float(J) if X.dtype == np.float32 else 0.0
            assert float(J - least) <= proof.gap + rounding
            assert abs(float(J) - proof.objective) <= proof.gap + 1e-12 * float(J) + rounding
            assert said(proof.status, "within") == pytest.approx(proof.gap, rel=0.06)
    assert proof.status.startswith("Solved") == (proof.converged and np.isfinite(proof.gap))
    if proof.status.startswith("Solved"):
        assert proof.gap <= model.tol * abs(proof.objective)


@pytest.mark.parametrize("name", ["wide", "nearly square"])
def test_proved_gaps_of_many_columns(name):
    X, y = problem(name)
    model = fitted(LogisticRegression(C=1e8), X, y)
    with mp.workdps(60):
        exact = Exact(X, y, 2, 1e8)
        a = stacked(model)
        best, least = exact.minimum(a)
        assert float(exact.value(a) - least) <= model.certificate_.gap
        assert model.certificate_.converged
        moved = max(abs(float(u - v)) for u, v in zip(a, best, strict=True)) / max(abs(float(v)) for v in best)
        assert moved < 1e-8  # "to the last digits": one more step in sixty digits moves nothing that is shown


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("name", ["overlapping", "separable", "collinear", "rare"])
def test_proved_gaps_of_sparse_weights(name, l1_ratio):
    """No weights near the answer, nor those of another method, are better by more than the gap."""
    X, y = problem(name)
    model = fitted(LogisticRegression(C=1.0, l1_ratio=l1_ratio, tol=1e-6), X, y)
    other = fitted(LogisticRegression(C=1.0, l1_ratio=l1_ratio, tol=0.0), X, y)
    with mp.workdps(50):
        exact = Exact(X, y, 2, np.inf)

        def J(m):
            a = stacked(m)
            ridge, lasso = mp.fsum(v**2 for v in a[1:]), mp.fsum(abs(v) for v in a[1:])
            return exact.value(a) + (mp.mpf(l1_ratio) * lasso + (1 - mp.mpf(l1_ratio)) * ridge / 2) / len(y)

        assert float(J(model) - J(other)) <= model.certificate_.gap
        assert float(J(other) - J(model)) <= other.certificate_.gap + 1e-15


def gradient_norm(exact, a):
    """‖∇J‖ of J = (Σℓ + ½‖w‖²/C)/n."""
    size, total = len(a), mp.mpf(0)
    for i in range(size):
        h = mp.mpf(10) ** -25
        up, down = a.copy(), a.copy()
        up[i] += h
        down[i] -= h
        total += ((exact.value(up) - exact.value(down)) / (2 * h)) ** 2
    return float(mp.sqrt(total))


@pytest.mark.parametrize("optimizer", [optimize.ConjugateGradient(), optimize.ConjugateGradient(iterations=3),
                                       optimize.LBFGS(), optimize.LBFGS(iterations=3)], ids=repr)  # fmt: skip
@pytest.mark.parametrize("name", ["overlapping", "rare", "collinear"])
def test_gradients(name, optimizer):
    """The ‖∇J‖ that is told is that of the weights; what is called converged has a small one."""
    X, y = problem(name)
    model = fitted(LogisticRegression(C=1.0, optimizer=optimizer, random_state=0), X, y)
    status = model.certificate_.status
    with mp.workdps(60):
        exact = Exact(X, y, 2, 1.0)
        norm = gradient_norm(exact, stacked(model))
        if "‖∇J‖ =" in status:
            told = said(status, "‖∇J‖ =")
            assert norm <= 1.1 * told + 1e-12 or norm == pytest.approx(told, rel=0.1, abs=1e-12)
        if status.startswith("Converged"):
            assert norm < 1e-5
        least = exact.minimum(stacked(model))[1]
        far = float(exact.value(stacked(model)) - least)
    assert far < 1e-8 if model.certificate_.converged else far > 0


@pytest.mark.parametrize("iterations", [2, 100])
@pytest.mark.parametrize("optimizer", [optimize.Newton, optimize.LBFGS])
@pytest.mark.parametrize("name", ["overlapping", "rare", "collinear", "scales"])
def test_promises(name, optimizer, iterations):
    """A further step promises to lower J by so much: no more than twice that is left where the run has converged."""
    X, y = problem(name)
    model = fitted(LogisticRegression(C=1.0, optimizer=optimizer(iterations=iterations), random_state=0), X, y)
    status, converged = model.certificate_.status, model.certificate_.converged
    near = fitted(LogisticRegression(C=1.0), X, y)  # two steps on such columns may lead anywhere
    with mp.workdps(60):
        exact = Exact(X, y, 2, 1.0)
        left = float(exact.value(stacked(model)) - exact.minimum(stacked(near))[1])
    if "promises to lower" in status:
        told = float(re.findall(r"by (?:no more than )?([-+0-9.e]+[0-9])", status)[-1])
        assert (left <= 2 * told + 1e-13) if converged else (left > 0 and told > 0)
    if converged:
        assert left <= 1e-9


BY_STEPS = [optimize.LBFGS(), optimize.ConjugateGradient(), optimize.GradientDescent(iterations=300),
            optimize.GradientDescent(step=lambda k: 0.1 * 0.9**k, iterations=300),
            optimize.ProximalGradient(iterations=300)]  # fmt: skip


@pytest.mark.parametrize("criterion", ["logistic", "squared", "squared-hinge", "softmax", "relaxation", "hinge"])
@pytest.mark.parametrize("name", ["overlapping", "collinear", "scales", "offset"])
def test_least_values(name, criterion):
    """What is called converged is no more than 1e-8 of J above what any other way has found."""
    X, y = problem(name)
    y = np.arange(24) % 3 if criterion == "softmax" else y
    for penalty in (None, Ridge(1e-3)):
        runs = [Discriminant(criterion=criterion, penalty=penalty, optimizer=way) for way in ("auto", *BY_STEPS)
                if criterion != "hinge" or way == "auto" or isinstance(way, optimize.GradientDescent)]  # fmt: skip
        proofs = [fitted(run, X, y).certificate_ for run in runs]
        least = min(proof.objective for proof in proofs)
        for run, proof in zip(runs, proofs, strict=True):
            assert not proof.converged or proof.objective - least <= 1e-8 * abs(least), (run, proof.status)


@pytest.mark.parametrize("optimizer", ["auto", "newton", "lbfgs", "conjugate-gradient"])
@pytest.mark.parametrize("classes", [2, 3])
def test_zero_weights(optimizer, classes):
    """Σ (a·y)² over errors is least at a = 0 whatever the rows: a run that ends there has not found a boundary."""
    X, y = problem("overlapping")
    y = np.arange(24) % 3 if classes == 3 else y
    for penalty in (None, Ridge(1e-3)):
        model = fitted(Discriminant(criterion="quadratic", penalty=penalty, optimizer=optimizer), X, y)
        assert not model.certificate_.converged
        assert "least at weights of zero" in model.certificate_.status
        assert np.abs(model.coef_).max() < 1e-6
        assert f"{int((model.predict(X) != y).sum())} row" in model.certificate_.status or classes == 3
        mended = fitted(Discriminant(criterion=criteria.Quadratic(margin=1.0), penalty=penalty), X, y)
        assert mended.certificate_.converged


def test_proximal_moves():
    """The move of a proximal step of length 1 at the weights, in fifty digits."""
    X, y = problem("overlapping")
    for iterations, near in ((4, 0.06), (20_000, 1.0)):
        way = optimize.ProximalGradient(iterations=iterations)
        model = fitted(Discriminant(criterion="logistic", penalty="lasso", optimizer=way), X, y)
        told = said(model.certificate_.status, "moves by")
        strength = 1.0  # of the named penalty
        with mp.workdps(50):
            exact, a = Exact(X, y, 2, np.inf), stacked(model)
            step, _ = exact.step(a)
            del step
            h, moved = mp.mpf(10) ** -22, mp.mpf(0)
            for i in range(len(a)):
                up, down = a.copy(), a.copy()
                up[i], down[i] = a[i] + h, a[i] - h
                v = a[i] - (exact.value(up) - exact.value(down)) / (2 * h)
                v = v if i == 0 else mp.sign(v) * max(abs(v) - strength, 0)
                moved = max(moved, abs(v - a[i]))
        assert float(moved) <= 3 * told + 1e-12
        assert model.certificate_.converged == (near == 1.0)


def margins(model, X, y):
    """The signed scores t(a₀ + aᵗx) in rationals: floats are rationals, so nothing is rounded."""
    a0, a = Fraction(float(model.intercept_[0])), [Fraction(float(v)) for v in model.coef_[0]]
    rows = np.asarray(X, dtype=float).tolist()
    return [(1 if t else -1) * (a0 + sum(w * Fraction(v) for w, v in zip(a, row, strict=True)))
            for row, t in zip(rows, y, strict=True)]  # fmt: skip


@pytest.mark.parametrize("name", ["separable", "overlapping", "wide"])
@pytest.mark.parametrize(
    "model",
    [Perceptron(), Perceptron(margin=0.5), Perceptron(mode="batch"), Perceptron(max_iter=3, tol=None),
     Perceptron(criterion="relaxation", margin=0.3), Perceptron(criterion="relaxation"),
     Discriminant(criterion="perceptron", optimizer="gradient-descent"),
     Discriminant(criterion=criteria.Perceptron(margin=0.2), optimizer="gradient-descent"),
     Discriminant(criterion="perceptron", optimizer="single-sample"),
     Discriminant(criterion="quadratic", optimizer="single-sample")],
    ids=repr,
)  # fmt: skip
def test_separations(model, name):
    """Where a status says that the samples are separated they are, in rationals; elsewhere it does not say so."""
    X, y = problem(name)
    X = (X - X.mean(axis=0)) / (4 * X.std(axis=0))
    found = fitted(model, X, y)
    status, least = found.certificate_.status, min(margins(found, X, y))
    if re.search(r"samples are separated|no row is misclassified|every sample is on its side", status):
        assert least > 0
    if "beyond its margin" in status:
        assert least >= 0
    if "by more than rounding" in status:
        assert least >= -Fraction(1, 10**9)
    if name == "overlapping":
        assert least <= 0
        assert not found.certificate_.converged or "separated" not in status


def test_stopped_fits():
    """A callback that ends a fit after some steps: J is no further from its least than is said, in sixty digits."""
    callbacks = pytest.importorskip("contracts.test_callbacks")
    X, y = problem("overlapping")
    near = stacked(fitted(LogisticRegression(), X, y))
    for steps in (1, 2, 3):
        model = LogisticRegression(tol=1e-14).set_callbacks(callbacks.Notes(stop_after=steps))
        proof = fitted(model, X, y).certificate_
        with mp.workdps(60):
            exact = Exact(X, y, 2, 1.0)
            left = float(exact.value(stacked(model)) - exact.minimum(near)[1])
        if proof.status.startswith("Stopped by a callback"):
            assert not proof.converged
            assert left <= 1.06 * said(proof.status, "within") if "within" in proof.status else left > 0
        else:
            assert left <= proof.gap + 1e-15


@pytest.mark.parametrize("name", ["overlapping", "collinear", "rare"])
@pytest.mark.parametrize("criterion", ["logistic", "squared"])
def test_settled_weights(name, criterion):
    """A run by samples ends near the minimum exactly where J is within 2 % of its least, in fifty digits.

    However it ended: by a step shorter than θ, by weights that moved no more, or by a loss that ceased to fall.
    """
    X, y = problem(name)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    exact = Exact(X, y, 2, np.inf)
    Y, t = [[mp.mpf(1), *map(mp.mpf, row)] for row in X.tolist()], [2 * int(k) - 1 for k in y]
    best = fitted(LogisticRegression(C=np.inf, tol=0.0), X, y)

    def J(a):
        if criterion == "logistic":
            return exact.value(a)
        return mp.fsum((mp.fdot(row, a) - s) ** 2 for row, s in zip(Y, t, strict=True)) / (2 * len(y))

    kinds = set()
    for ending in ({"tolerance": 1e-2}, {"tolerance": 1e-6}, {"threshold": 1e-3}, {"improvement": 1e-4}):
        for step in (0.01, optimize.Inverse(0.1)):
            way = optimize.SingleSample(step, epochs=2000, **ending)
            model = fitted(Discriminant(criterion=criterion, optimizer=way), X, y)
            proof = model.certificate_
            with mp.workdps(50):
                if criterion == "logistic":
                    least = exact.minimum(stacked(best))[1]
                else:
                    normal = mp.matrix([[mp.fdot(u, v) for v in zip(*Y, strict=True)] for u in zip(*Y, strict=True)])
                    least = J(list(mp.lu_solve(normal, mp.matrix([mp.fdot(u, t) for u in zip(*Y, strict=True)]))))
                left = float((J(stacked(model)) - least) / least)
            if "a Newton step promises" in proof.status:
                assert proof.converged == proof.status.startswith("Ended near the minimum")
                assert proof.converged == (left <= 0.02) or 0.01 < left < 0.03  # logistic: by its curvature
            else:
                assert not proof.converged
            kinds.add(proof.converged)
    assert kinds == {False, True} or name == "rare"


def test_least_counts():
    """The least number of errors of any line in the plane, over every line through two points (moved a little)."""
    rng = np.random.default_rng(3)
    for seed in range(3):
        X = np.random.default_rng(seed).integers(-4, 5, (9, 2)).astype(float) + rng.normal(size=(9, 2)) * 1e-3
        y = np.random.default_rng(seed + 10).integers(0, 2, 9)
        y[:2] = 0, 1
        best = len(y)
        for i, j in combinations(range(9), 2):
            normal = np.array([X[j, 1] - X[i, 1], X[i, 0] - X[j, 0]])
            sides = (X - X[i]) @ normal
            fixed = np.delete(np.arange(9), [i, j])
            wrong = [int(((sides[fixed] > 0) != (y[fixed] == s)).sum()) for s in (0, 1)]
            best = min(best, *wrong)  # the two points on the line may go to any side, by a turn or a shift
        best = min(best, int((y == 0).sum()), int((y == 1).sum()))
        found = fitted(MinimumErrorClassifier(), X, y)
        errors = int((found.predict(X) != y).sum())
        assert errors >= best
        if found.certificate_.status.startswith("Proved"):
            assert errors == best
        evolution = optimize.DifferentialEvolution(iterations=20, random_state=0)
        annealing = optimize.Annealing(iterations=200, random_state=0)
        for optimizer in (annealing, evolution, optimize.MixedInteger(seconds=20)):
            model = fitted(Discriminant(criterion="zero-one", optimizer=optimizer), X, y)
            errors = int((model.predict(X) != y).sum())
            if re.search("Proved|the least possible", model.certificate_.status) and "does not" not in (
                model.certificate_.status
            ):
                assert errors == best
            assert model.certificate_.bound <= best / 9 + 1e-12


def test_linear_programs():
    """Σ max(0, 1 − t(a₀ + a₁x)) over a line: a minimum lies where two of its terms bend, and those are counted out."""
    rng = np.random.default_rng(2)
    for apart in (False, True):
        x = np.rint(rng.normal(size=14) * 8) / 8
        y = ((x > 0.2) if apart else (x + rng.normal(size=14) > 0)).astype(int)
        if apart:
            x = np.where(y == 1, x + 1, x)
        t, xs = [Fraction(2 * int(k) - 1) for k in y], [Fraction(v) for v in x.tolist()]

        def loss(a0, a1, t=t, xs=xs):
            return sum(max(Fraction(0), 1 - s * (a0 + a1 * v)) for s, v in zip(t, xs, strict=True))

        corners = [(t[i], Fraction(0)) for i in range(14)]
        for i, j in combinations(range(14), 2):
            if xs[i] != xs[j]:
                slope = (t[j] - t[i]) / (xs[j] - xs[i])
                corners.append((t[i] - slope * xs[i], slope))
        least = min(loss(*corner) for corner in corners)
        model = fitted(LinearProgrammingClassifier(), x[:, None], y)
        own = loss(Fraction(float(model.intercept_[0])), Fraction(float(model.coef_[0, 0])))
        status = model.certificate_.status
        assert status.startswith("Solved by linear programming")
        assert 0 <= own - least <= Fraction(1, 10**8)
        assert ("every row lies beyond" in status) == (least == 0)


@pytest.mark.parametrize("name", ["overlapping", "separable", "scales", "rare", "float32"])
def test_closed_forms(name):
    """Yᵗ(Ya − t) = 0 to what rounding allows, in fifty digits."""
    X, y = problem(name)
    for model in (LeastSquaresClassifier(), Discriminant(criterion="squared", optimizer="closed-form")):
        found = fitted(model, X, y)
        assert "closed form" in found.certificate_.status
        Y = [[mp.mpf(1), *map(mp.mpf, row)] for row in np.asarray(X, dtype=float).tolist()]
        t = [1 if k else -1 for k in y]
        with mp.workdps(50):
            normal = mp.matrix([[mp.fdot(u, v) for v in zip(*Y, strict=True)] for u in zip(*Y, strict=True)])
            right = mp.matrix([mp.fdot(u, t) for u in zip(*Y, strict=True)])
            best = mp.lu_solve(normal, right)
            a = stacked(found)
            worst = max(abs(float((u - v) / v)) for u, v in zip(a, best, strict=True))
        assert worst < (1e-5 if X.dtype == np.float32 else 1e-9)


def test_steps():
    """Gradient descent: the length of the next step, worked out again, is below θ exactly where it is said to be."""
    X, y = problem("overlapping")
    for iterations in (5, 20_000):
        way = optimize.GradientDescent(step=0.5, iterations=iterations, threshold=1e-7)
        model = fitted(LogisticRegression(C=1.0, optimizer=way), X, y)
        with mp.workdps(60):
            norm = gradient_norm(Exact(X, y, 2, 1.0), stacked(model))
        converged = "was shorter than θ" in model.certificate_.status
        assert converged == model.certificate_.converged == (iterations == 20_000)
        assert (0.5 * norm < 2e-7) == converged


@pytest.mark.parametrize("name", ["separable", "overlapping"])
def test_verdicts(name):
    """That samples can or cannot be separated, by a linear program of another kind; more passes do get there."""
    from scipy.optimize import linprog

    X, y = problem(name)
    t = 2 * y - 1
    rows = -t[:, None] * np.column_stack([np.ones(len(y)), X])
    possible = linprog(np.zeros(4), A_ub=rows, b_ub=-np.ones(len(y)), bounds=(None, None)).status == 0
    heard = set()
    for model in (Perceptron(max_iter=1, tol=None), Perceptron(max_iter=2, tol=None, shuffle=False),
                  Perceptron(criterion="relaxation", max_iter=2, tol=None), Perceptron(max_iter=30)):  # fmt: skip
        status = fitted(model, X, y).certificate_.status
        if "cannot be separated" in status:
            assert not possible
        if "can be separated" in status or "samples are separated" in status:
            assert possible
        if "more passes would get there" in status:
            longer = fitted(model.set_params(max_iter=20_000), X, y)
            assert min(margins(longer, X, y)) > 0
        if "to the edge of the solution region" in status:
            edge = fitted(model.set_params(max_iter=20_000), X, y)
            assert min(margins(edge, X, y)) <= Fraction(1, 10**6)
            inside = fitted(model.set_params(margin=0.5), X, y)
            assert min(margins(inside, X, y)) > 0
        heard |= {words for words in ("more passes", "cannot be separated") if words in status}
    assert heard == {"more passes" if possible else "cannot be separated"}


def test_endless_slopes():
    """Where no minimum is said to exist the weights separate, in rationals; where rows are far, so many are."""
    X, y = problem("separable")
    for way in ("newton", "lbfgs", "conjugate-gradient"):
        model = fitted(Discriminant(criterion="logistic", optimizer=way), X, y)
        assert model.certificate_.status.startswith("No minimum exists")
        assert min(margins(model, X, y)) > 0
        J = [model.certificate_.objective]
        with mp.workdps(60):
            exact, a = Exact(X, y, 2, np.inf), stacked(model)
            assert exact.value([2 * v for v in a]) < exact.value(a)  # further along them J is lower, for ever
            assert float(exact.value(a)) == pytest.approx(J[0], rel=1e-6)
    # One column tells some rows of a class from all others, and the rest overlap: quasi-separable.
    X, y = problem("overlapping")
    X = np.column_stack([X, 1.0 * ((y == 1) & (np.arange(24) % 3 == 0))])
    model = fitted(Discriminant(criterion="logistic", optimizer=optimize.LBFGS(iterations=5000, tolerance=1e-16)), X, y)
    told = [
        int(found[0]) for note in model.certificate_.notes if (found := re.findall(r"(\d+) rows have a loss", note))
    ]
    far = sum(mp.log1p(mp.exp(-mp.mpf(m.numerator) / m.denominator)) < 2e-9 for m in margins(model, X, y))
    assert not told or told == [far]


def test_long_steps():
    """2/λ_max of the Hessian at the start, and J that grew: worked out by NumPy."""
    X, y = problem("overlapping")
    Y, t = np.column_stack([np.ones(24), 3 * X]), 2.0 * y - 1
    stable = 2 / np.linalg.eigvalsh(Y.T @ Y / 24)[-1]
    for step, long in ((1.01 * stable, True), (20.0, True), (0.9 * stable, False)):
        way = optimize.GradientDescent(step=step, iterations=300)
        status = fitted(Discriminant(criterion="squared", optimizer=way), 3 * X, y).certificate_.status
        assert ("is longer than" in status) == long
        if long:
            told = float(re.findall(r"is longer than (\S+),", status)[0])
            assert told == pytest.approx(stable, rel=0.01)
        if status.startswith("Diverged: J grew"):
            first, last = map(float, re.findall(r"J grew from (\S+) to (\S+) in", status)[0])
            assert first == pytest.approx((t**2).mean() / 2, rel=1e-3)
            assert last > 10 * first
    objective = PointwiseObjective(make_blocks(3 * X, y), criteria.Squared(), make_coding("two-class", 2))
    found = optimize.SingleSample(50.0, epochs=200).minimize(objective, np.zeros((4, 1)))
    assert found.status.startswith("Diverged in epoch")
    shorter = optimize.SingleSample(0.5 / (Y**2).sum(axis=1).max(), epochs=200).minimize(objective, np.zeros((4, 1)))
    assert np.isfinite(shorter.objective)
    assert "Diverged" not in shorter.status


def test_local_minima():
    """½ mean (r − σ(z))² in fifty digits: no lower beside a minimum; lower with longer weights where rows separate."""
    for name in ("rare", "separable"):
        X, y = problem(name)
        model = fitted(SigmoidRegressionClassifier(), X, y)
        status, a = model.certificate_.status, stacked(model)
        rows = [[mp.mpf(1), *map(mp.mpf, row)] for row in X.tolist()]

        def J(a, rows=rows, y=y):
            out = [1 / (1 + mp.exp(-mp.fdot(row, a))) for row in rows]
            return mp.fsum((mp.mpf(int(k)) - s) ** 2 for k, s in zip(y, out, strict=True)) / (2 * len(y))

        with mp.workdps(50):
            assert float(J(a)) == pytest.approx(model.certificate_.objective, rel=1e-6)
            if name == "separable":
                assert "J may fall towards 0 without end" in status
                assert J([2 * v for v in a]) < J(a) / 10
            else:
                assert status.startswith("Converged")
                beside = [J([v + h * (i == j) for i, v in enumerate(a)]) for j in range(4) for h in (-1e-3, 1e-3)]
                assert min(beside) > J(a)
        assert "local minimum at best" in " ".join(model.certificate_.notes)


@pytest.mark.parametrize("name", ["overlapping", "collinear", "rare"])
def test_distances_of_lms(name):
    """J of the weights and the least-squares minimum, in fifty digits; near is two parts in a hundred."""
    X, y = problem(name)
    Y, t = [[mp.mpf(1), *map(mp.mpf, row)] for row in X.tolist()], [2 * int(k) - 1 for k in y]
    with mp.workdps(50):
        normal = mp.matrix([[mp.fdot(u, v) for v in zip(*Y, strict=True)] for u in zip(*Y, strict=True)])
        best = list(mp.lu_solve(normal, mp.matrix([mp.fdot(u, t) for u in zip(*Y, strict=True)])))

        def J(a):
            return float(mp.fsum((mp.fdot(row, a) - s) ** 2 for row, s in zip(Y, t, strict=True)) / (2 * len(t)))

        least = J(best)
        for model in (Adaline(), Adaline(max_iter=2), Adaline(eta0=1e-6), Adaline(mode="batch", max_iter=3)):
            proof = fitted(model, X, y).certificate_
            own = J(stacked(model))
            assert own == pytest.approx(float(re.findall(r" J = (\S+);", proof.status)[0]), rel=1e-4)
            assert least == pytest.approx(float(re.findall(r"minimum is (\S+)\.", proof.status)[0]), rel=1e-4)
            assert proof.converged == (own <= 1.02 * least)
            assert ("still far" in proof.status or "Diverged" in proof.status) == (not proof.converged)
            assert "Diverged" not in proof.status or own > 5


def test_lost_directions():
    """As many combinations are constant within the classes as the rank, in rationals, lacks."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    A = rng.integers(-8, 9, (30, 3)).astype(float)
    X = np.column_stack([A, A[:, 0] + A[:, 1], A[:, 2] - 2 * A[:, 0], 4.0 + y])
    for cls, centred in ((LinearDiscriminantAnalysis, True), (LeastSquaresClassifier, False)):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model = cls().fit(X, y)
        rows = X - np.array([X[y == k].mean(axis=0) for k in (0, 1)])[y] if centred else X - X.mean(axis=0)
        lacking = 5 - np.linalg.matrix_rank(rows[:, :5], tol=1e-9)
        text = " ".join(str(one.message) for one in heard)
        assert f"{lacking} linear combinations of columns 0, 1, 2, 3 and 4 are constant" in text
        assert ("Column 5: constant within the classes" in text) == centred
        assert not centred or model.coef_[0, 5] == 0
    wide = rng.normal(size=(12, 200))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        LinearDiscriminantAnalysis().fit(wide, np.arange(12) % 3)
    means = np.array([wide[k::3].mean(axis=0) for k in range(3)])
    rank = np.linalg.matrix_rank(wide - means[np.arange(12) % 3])
    assert f"There are 200 columns and 12 rows: their covariance has rank {rank} " in str(heard[0].message)
