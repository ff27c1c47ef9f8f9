"""Decoders: scores of q outputs → scores of K classes.

With g_j = z_j − θ_j the score of output j above its threshold, and s_kj = +1, −1 or 0 as class k lies on the positive
side of output j, on its negative side, or takes no part in it:

    maximum     class k's own output                                       one output a class
    sum         Σ_j s_kj g_j                                               Alpaydin 10.10; pairwise, error-correcting
    votes       #{j : s_kj g_j > 0}, ties broken by the sum                majority
    unanimous   min_j s_kj g_j: positive where all outputs agree on k      conjunction; elsewhere a reject
    nearest     −½ Σ_j (z_j − t_kj)²                                       targets of several levels

The sum of raw pairwise scores lets one output that shouts drown the others: pairwise logistic on iris has 0.60 of the
flowers right by it and 0.99 by votes.  It is here because the textbook states it.
"""

from __future__ import annotations

import numpy as np

from discriminant.protocols import Array

DECODERS = ("maximum", "sum", "votes", "unanimous", "nearest")


def decode_sum(g: Array, signs: Array) -> Array:
    """Σ_j s_kj g_j, shape (n, K)."""
    return np.asarray(g @ signs.T.astype(g.dtype))


def decode_votes(g: Array, signs: Array) -> Array:
    """Votes for each class, plus less than a third of a vote in the order of the sums to break ties."""
    total = decode_sum(g, signs)
    votes = np.sign(g) @ signs.T.astype(g.dtype)  # votes for less votes against …
    votes = (votes + np.abs(np.sign(g)) @ np.abs(signs).T.astype(g.dtype)) / 2  # … plus votes cast, halved
    return np.asarray(votes + total / (3 * (1 + np.abs(total))))


def decode_unanimous(g: Array, signs: Array) -> Array:
    """min_j s_kj g_j over the outputs that class k takes part in."""
    scores = np.empty((g.shape[0], signs.shape[0]), dtype=g.dtype)
    for k, row in enumerate(signs):
        part = np.flatnonzero(row)
        scores[:, k] = (g[:, part] * row[part].astype(g.dtype)).min(axis=1)
    return scores


def decode_nearest(z: Array, targets: Array, care: Array) -> Array:
    """−½ Σ_j (z_j − t_kj)² over the outputs that class k takes part in."""
    scores = np.empty((z.shape[0], targets.shape[0]), dtype=z.dtype)
    for k, row in enumerate(targets):
        part = care[k] > 0
        scores[:, k] = -np.square(z[:, part] - row[part].astype(z.dtype)).sum(axis=1) / 2
    return scores
