"""The textbooks' pseudocode, line by line, in plain loops: what the package's procedures are compared with.

Nothing here imports the package.  Samples are augmented, y = (1, x), and where it says so normalised: −y for the
second class.  Every function hands back the list of weights after each correction (or step), the start first.
"""

from __future__ import annotations

import math

import numpy as np


def augmented(X):
    """(1, x) for each row."""
    return [np.concatenate([[1.0], np.asarray(x, dtype=float)]) for x in X]


def normalised(X, y):
    """(1, x), with its sign turned for y = 0: a·y > 0 is what every sample then asks."""
    return [row if label else -row for row, label in zip(augmented(X), y, strict=True)]


def dot(a, b):
    """Σ a_i b_i, added from the left."""
    total = 0.0
    for p, q in zip(a, b, strict=True):
        total += p * q
    return total


def batch_perceptron(samples, eta, theta, most):
    """Batch perceptron: a ← a + η(k) Σ over the misclassified, until that step is shorter than θ."""
    a = np.zeros(len(samples[0]))
    path, k = [a.copy()], 0
    while k < most:
        k += 1
        total = np.zeros(len(a))
        for y in samples:
            if dot(a, y) <= 0:
                total = total + y
        a = a + eta(k) * total
        path.append(a.copy())
        if np.linalg.norm(eta(k) * total) < theta:
            break
    return path


def fixed_increment(samples, most=10_000):
    """Fixed-increment single-sample perceptron, until n samples in a row need no correction."""
    return variable_increment(samples, 0.0, lambda k: 1.0, most)


def variable_increment(samples, b, eta, most=10_000):
    """Variable increment with margin b: a ← a + η(k) y where a·y ≤ b."""
    n, a = len(samples), np.zeros(len(samples[0]))
    path, j, k, unchanged = [a.copy()], 0, 0, 0
    while unchanged < n and j < most:
        j += 1
        y = samples[(j - 1) % n]
        if dot(a, y) <= b:
            k += 1
            a = a + eta(k) * y
            path.append(a.copy())
            unchanged = 0
        else:
            unchanged += 1
    return path


def single_sample_relaxation(samples, b, eta, most):
    """a ← a + η (b − a·y)/‖y‖² y where a·y ≤ b, cyclically, for ``most`` samples or until n in a row need none."""
    n, a = len(samples), np.zeros(len(samples[0]))
    path, unchanged = [a.copy()], 0
    for j in range(most):
        y = samples[j % n]
        if dot(a, y) <= b and dot(a, y) != b:
            a = a + eta * (b - dot(a, y)) / dot(y, y) * y
            path.append(a.copy())
            unchanged = 0
        else:
            unchanged += 1
        if unchanged == n:
            break
    return path


def single_sample_quadratic(samples, b, eta, most):
    """a ← a + 2η (b − a·y) y where a·y < b: the gradient of (b − a·y)²."""
    n, a = len(samples), np.zeros(len(samples[0]))
    path, unchanged = [a.copy()], 0
    for j in range(most):
        y = samples[j % n]
        if dot(a, y) < b:
            a = a + 2 * eta * (b - dot(a, y)) * y
            path.append(a.copy())
            unchanged = 0
        else:
            unchanged += 1
        if unchanged == n:
            break
    return path


def batch_relaxation(samples, b, eta, steps):
    """a ← a + η Σ (b − a·y)/‖y‖² y over a·y ≤ b."""
    a = np.zeros(len(samples[0]))
    path = [a.copy()]
    for _ in range(steps):
        total = np.zeros(len(a))
        for y in samples:
            if dot(a, y) <= b:
                total = total + (b - dot(a, y)) / dot(y, y) * y
        a = a + eta * total
        path.append(a.copy())
    return path


def batch_quadratic(samples, start, eta, steps):
    """a ← a − η Σ 2 (a·y) y over a·y ≤ 0."""
    a = np.array(start, dtype=float)
    path = [a.copy()]
    for _ in range(steps):
        total = np.zeros(len(a))
        for y in samples:
            if dot(a, y) <= 0:
                total = total + 2 * dot(a, y) * y
        a = a - eta * total
        path.append(a.copy())
    return path


def lms(samples, targets, eta, samples_met):
    """LMS: a ← a + η(k) (b_k − a·y^k) y^k, cyclically."""
    n, a = len(samples), np.zeros(len(samples[0]))
    path = [a.copy()]
    for k in range(1, samples_met + 1):
        i = (k - 1) % n
        a = a + eta(k) * (targets[i] - dot(a, samples[i])) * samples[i]
        path.append(a.copy())
    return path


def batch_lms(samples, targets, eta, steps):
    """a ← a − η(k) Yᵗ(Y a − b)."""
    a = np.zeros(len(samples[0]))
    path = [a.copy()]
    for k in range(1, steps + 1):
        total = np.zeros(len(a))
        for y, b in zip(samples, targets, strict=True):
            total = total + (dot(a, y) - b) * y
        a = a - eta(k) * total
        path.append(a.copy())
    return path


def kesler_samples(X, codes, K):
    """Kesler's construction: for a sample y of class i and each j ≠ i a vector with y in block i and −y in block j."""
    built = []
    for y, i in zip(augmented(X), codes, strict=True):
        D = len(y)
        for j in range(K):
            if j == i:
                continue
            eta = np.zeros(K * D)
            eta[i * D : (i + 1) * D] = y
            eta[j * D : (j + 1) * D] = -y
            built.append(eta)
    return built


def multiclass_perceptron(X, codes, K, epochs):
    """The strongest rival j of class i: where a_i·y ≤ a_j·y, a_i ← a_i + y and a_j ← a_j − y."""
    rows = augmented(X)
    A = np.zeros((len(rows[0]), K))
    path, clean = [A.copy()], 0
    for _ in range(epochs):
        for y, i in zip(rows, codes, strict=True):
            z = [dot(A[:, k], y) for k in range(K)]
            j = max((k for k in range(K) if k != i), key=lambda k: z[k])
            if z[i] - z[j] <= 0:
                A[:, i] += y
                A[:, j] -= y
                path.append(A.copy())
                clean = 0
            else:
                clean += 1
            if clean == len(rows):
                return path
    return path


def sigmoid(o):
    """1/(1 + e^−o)."""
    return 1.0 / (1.0 + math.exp(-o)) if o >= 0 else math.exp(o) / (1.0 + math.exp(o))


def logistic_descent(X, r, w, eta, passes):
    """Figure 10.6: Δw_j = Σ_t (r − y) x_j, then w_j ← w_j + η Δw_j."""
    rows, w = augmented(X), np.array(w, dtype=float)
    path = [w.copy()]
    for _ in range(passes):
        change = np.zeros(len(w))
        for x, t in zip(rows, r, strict=True):
            y = sigmoid(dot(w, x))
            for j in range(len(w)):
                change[j] = change[j] + (t - y) * x[j]
        for j in range(len(w)):
            w[j] = w[j] + eta * change[j]
        path.append(w.copy())
    return path


def softmax_descent(X, codes, W, eta, passes):
    """Figure 10.8, with the input x_j where it prints x_i: Δw_ij = Σ_t (r_i − y_i) x_j."""
    rows, W = augmented(X), np.array(W, dtype=float)  # (1+d, K)
    D, K = W.shape
    path = [W.copy()]
    for _ in range(passes):
        change = np.zeros((D, K))
        for x, own in zip(rows, codes, strict=True):
            o = [dot(W[:, i], x) for i in range(K)]
            total = sum(math.exp(value) for value in o)
            y = [math.exp(value) / total for value in o]
            for i in range(K):
                for j in range(D):
                    change[j, i] = change[j, i] + ((1.0 if i == own else 0.0) - y[i]) * x[j]
        W = W + eta * change
        path.append(W.copy())
    return path


def irls(X, r, w, steps):
    """w ← (ΦᵗRΦ)⁻¹ΦᵗR z with R = y(1−y) and z = Φw − R⁻¹(y − r)."""
    rows, w = np.array(augmented(X)), np.array(w, dtype=float)
    path = [w.copy()]
    for _ in range(steps):
        y = np.array([sigmoid(dot(w, x)) for x in rows])
        R = y * (1 - y)
        z = rows @ w - (y - r) / R
        w = np.linalg.solve(rows.T @ (R[:, None] * rows), rows.T @ (R * z))
        path.append(w.copy())
    return path


def sigmoid_regression_descent(X, R, W, eta, passes):
    """Discrimination by regression: Δw_i = η Σ_t (r_i − y_i) y_i (1 − y_i) x, each output for itself."""
    rows, W = augmented(X), np.array(W, dtype=float)
    D, K = W.shape
    path = [W.copy()]
    for _ in range(passes):
        change = np.zeros((D, K))
        for x, r in zip(rows, R, strict=True):
            for i in range(K):
                y = sigmoid(dot(W[:, i], x))
                change[:, i] = change[:, i] + (r[i] - y) * y * (1 - y) * x
        W = W + eta * change
        path.append(W.copy())
    return path
