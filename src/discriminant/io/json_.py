"""``to_json``: a model as a JSON document that any language can evaluate in a few lines."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.arguments import MODEL, PATH, checked, optional
from discriminant.data.preprocess import ColumnRule
from discriminant.io.container import documented, write_whole
from discriminant.io.program import Program, edge_points, program, require_agreement
from discriminant.protocols import Array

HOW = (
    "z = weights[0] + (x - center) @ weights[1:], or z_k = constants_k - 0.5 |(x - center) @ whiteners_k - means_k|^2; "
    "g = z @ decode[0] + decode[1] (linear); p = softmax(g + prior_shift) or normalised sigmoids; argmax g, or argmin "
    "costs @ p; pairs: see codings.coupling. columns: number: (v - fill) / scale, missing: fill; category: 1 in the "
    "feature of its level, none for levels[0], shares for a level not listed, and for a missing one that is no level; "
    "where fill or shares are null the model refuses such a value. "
    "basis: x becomes [f(x) for f in basis]; f = [kind, operands]: [x, j], [dot, columns, w, m] = sum w (x - m), "
    "[+, f, g, ...], [*, f, g, ...], [-, f, number], [/, f, number], [>, f, number] (0 or 1), [square, f], [exp, f]..."
)


@documented
@checked(model=MODEL, path=optional(PATH))
def to_json(model: Any, path: str | os.PathLike[str] | None = None) -> str:
    """A fitted model as a JSON document; numbers keep all their digits.

    >>> import json
    >>> json.loads(to_json(LinearDiscriminant([0.0, 1.0], ["left", "right"])))["classes"]
    ['left', 'right']
    """
    found = program(model)
    text = json.dumps(_document(found), indent=1, allow_nan=False, ensure_ascii=False, default=_plain)
    again = from_json(text)
    X = edge_points(found)
    positions, _, chances = again.evaluate(X)
    require_agreement(found, X, positions, chances, "JSON", 1e-12)
    if path is not None:
        write_whole(Path(path), text.encode())
    return text


def _document(found: Program) -> dict[str, Any]:
    document: dict[str, Any] = {
        "format": "discriminant-program", "version": 1, "how": HOW, "features": found.features,
        "classes": found.classes, "center": found.center, "decoder": found.decoder, "decode": found.decode,
        "link": found.link,
    }  # fmt: skip
    if found.weights is not None:
        document["weights"] = found.weights
    if found.quadratic is not None:
        document |= zip(("whiteners", "means", "constants"), found.quadratic, strict=True)
    document |= {"prior_shift": found.prior_shift, "costs": found.costs, "actions": found.actions,
                 "rejects": found.rejects, "reject": found.reject}  # fmt: skip
    if found.columns:
        document["columns"] = [
            {"name": rule.name, "role": rule.role, "features": rule.features, "fill": _known(rule.fill),
             "scale": rule.scale, "indicate": rule.indicate, "levels": rule.levels, "pooled": rule.pooled,
             "shares": [_known(share) for share in rule.shares], "missing_is_a_level": rule.missing}
            for rule in found.columns
        ]  # fmt: skip
    if found.basis:
        document["basis"] = found.basis
    return document


def _plain(value: Array | bytes) -> Any:
    """What JSON does not know: arrays, and labels of bytes."""
    return value.decode("latin-1") if isinstance(value, bytes) else value.tolist()


def _known(value: float) -> float | None:
    return None if value != value else value


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _formula(item: Any) -> Any:
    return tuple(_formula(part) for part in item) if isinstance(item, list) else item


def from_json(text: str) -> Program:
    """The program in a document of ``to_json``."""
    document = json.loads(text)

    def array(name: str) -> Any:
        return None if document.get(name) is None else np.array(document[name], dtype=np.float64)

    same = ("name", "role", "scale", "indicate")
    columns = tuple(
        ColumnRule(**{key: item[key] for key in same}, fill=_number(item["fill"]), levels=tuple(item["levels"]),
                   pooled=tuple(item["pooled"]), shares=tuple(map(_number, item["shares"])),
                   missing=item["missing_is_a_level"])
        for item in document.get("columns", [])
    )  # fmt: skip
    quadratic = None
    if "whiteners" in document:
        quadratic = (array("whiteners"), array("means"), array("constants"))
    return Program(
        tuple(document["features"]), document["classes"], array("center"), array("weights"), quadratic,
        document["decoder"], tuple(np.array(part, dtype=np.float64) for part in document["decode"]), document["link"],
        array("prior_shift"), array("costs"), document["actions"], bool(document.get("rejects", False)),
        document["reject"], columns, tuple(_formula(item) for item in document.get("basis", [])),
    )  # fmt: skip
