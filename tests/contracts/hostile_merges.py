"""More hostile cases: what an array would merge, round or hide without a word."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import scipy.sparse as sp

from contracts.hostile import CASES, THIN, Given, N, X, Y, case, csr, harmless, tell

for kind in ("bsr", "dia", "lil", "dok"):
    case(f"sparse {kind.upper()}", "storage", lambda kind=kind: Given(csr().asformat(kind), Y), benign=harmless(THIN))
case("sparse booleans", "storage", lambda: Given(sp.csr_array(X > 0.5), Y),
     benign=harmless(Given(1.0 * (X > 0.5), Y)))  # fmt: skip
case("sparse complex numbers", "storage", lambda: Given(sp.csr_array(X + 0j), Y), "refused", says="omplex")
case("decimals as objects", "storage", Given(np.array([[Decimal(repr(float(v))) for v in row] for row in X]), Y))
case("pandas NA among objects", "storage", lambda: Given(np.where(X > 2, pd.NA, X.astype(object)), Y), "refused",
     says="NA|missing")  # fmt: skip
case("None among objects", "storage", lambda: Given(np.where(X > 2, None, X), Y), "refused", says="NaN")
case("words among objects", "storage", lambda: Given(np.where(X > 2, "x", X.astype(object)), Y), "refused", says="'x'")
case("long doubles beyond floats", "storage",
     lambda: Given(X.astype(np.longdouble) * np.longdouble("1e400"), Y), "refused", says="infinity")  # fmt: skip
case("integers beyond 2**53", "storage", Given(np.round(10 * X).astype(np.int64) + 2**60, Y), "answer")
case("durations", "storage", lambda: Given((10 * X).astype("m8[s]"), Y), "refused", says="duration")

# Weights that no sum can hold, and classes that have none
for name, weight, says in (
    ("subnormal weights", np.full(N, 1e-320), "subnormal"),
    ("weights whose sum overflows", np.full(N, 1e308), "overflow"),
    ("weights of one class only", 1.0 * (Y == 2), "one class|no rows"),
    ("weight of one row only", 1.0 * (np.arange(N) == 4), "one class|no rows"),
    ("masked weights", np.ma.masked_array(np.ones(N), mask=np.arange(N) == 3), "mask"),
    ("dates as weights", np.full(N, np.datetime64("2020-01-01")), "weight"),
):
    case(name, "weights", Given(X, Y, weight), "refused", says=says)
for name, weight in (
    ("weights in a list", [1] * N), ("weights as booleans", np.ones(N, dtype=bool)), ("one weight for all", 1),
    ("weights as objects", np.ones(N).astype(object)), ("big-endian weights", np.ones(N, dtype=">f8")),
):  # fmt: skip
    case(name, "weights", Given(X, Y, weight))

# Labels that an array would merge, round or spell otherwise
KEPT_APART = {
    "a zero byte at the end": ["a", "a\0", "b"],
    "a zero byte at the end of bytes": [b"a", b"a\0", b"b"],
    "one letter in two spellings": ["e\u0301", "x", "\u00e9"],
    "a blank and capitals": ["A", "a", "a "],
    "numbers next to 2**53": [2**53, 2**53 + 1, 2**53 + 2],
    "the largest floats": [-1e308, 0.0, 1e308],
}
for name, words in KEPT_APART.items():
    case(f"labels in a list: {name}", "labels", Given(X, [words[k] for k in Y]), labels=words,
         other=tell("LogisticRegressionCV"))  # fmt: skip
for name, words, says in (
    ("booleans and numbers", [True, 1, 2], "mix"),
    ("a word and its number", ["1", 1, 2], "mix"),
    ("more than 64 bits", [2**64, 2**64 + 1, 0], "label"),
    ("integers that floats merge", [-1, 2**63, 2**63 + 1], "64 bits"),
    ("integers and a float that merge", [2**53, 2**53 + 1, 1.0], "64 bits"),
    ("decimals", [Decimal(1), Decimal(2), Decimal("2.5")], "label"),
    ("tuples", [(1, 2), (3, 4), (5, 6)], "label|1d|shape|columns"),
    ("halves", [0.5, 1.5, 2.5], "continuous"),
    ("pandas NA", [pd.NA, "a", "b"], "missing"),
    ("pandas NaT", [pd.NaT, "a", "b"], "missing"),
):
    case(f"labels in a list: {name}", "labels", Given(X, [words[k] for k in Y]), "refused", says=says, debatable=True)

__all__ = ["CASES"]
