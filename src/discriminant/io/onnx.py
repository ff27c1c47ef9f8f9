"""``to_onnx``: a model as an ONNX graph, built node by node from its program.

The graph computes in float64 whatever its input's type: float32 inputs are widened first and the answers narrowed last,
so that the only loss is that of the input and of the output.  Input: ``X`` (n, d), or for a model of a table each raw
column by its name, (n, 1), numbers with NaN and texts with "" where a value is missing.  Outputs: ``label``, ``scores``
(n, K) and, where there are any, ``probabilities`` (n, K).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discriminant.arguments import MODEL, PATH, among, checked, optional
from discriminant.codings import pairs
from discriminant.data.roles import NUMBER
from discriminant.errors import DataError
from discriminant.io.container import documented, write_whole
from discriminant.io.formulas import FOLDS, WITH_A_NUMBER, Formula
from discriminant.io.program import Program, category_rows, edge_points, edge_table, program, require_agreement
from discriminant.protocols import Array

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
OUTPUTS = ("label", "scores", "probabilities")


@documented
@checked(model=MODEL, path=optional(PATH), dtype=among("float32", "float64"))
def to_onnx(model: Any, path: str | os.PathLike[str] | None = None, *, dtype: str = "float64") -> bytes:
    """The serialised ONNX graph of a fitted model.

    Where onnxruntime is installed the graph is run and compared with the model first, to 1e-12 (float64) or 1e-6.
    Texts are compared as they are: take blanks around them away first, as the model itself and its SQL do.

    Parameters
    ----------
    dtype : {"float64", "float32"}, default="float64"
        Type of the graph's inputs.

    Raises
    ------
    DataError
        Where the package onnx is not installed.

    >>> data = to_onnx(LinearDiscriminant([0.0, 1.0], ["left", "right"], link="sigmoid"))  # doctest: +SKIP
    """
    found = program(model)
    data = _Builder(found, dtype).build()
    _try(found, data, dtype)
    if path is not None:
        write_whole(Path(path), data)
    return data


@dataclass
class _Builder:
    found: Program
    dtype: str
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    @cached_property
    def own(self) -> str:
        """What names of the graph's own begin with, and no column's does."""
        own = "_"
        while any(rule.name.startswith(own) for rule in self.found.columns):
            own += "_"
        return own

    def build(self) -> bytes:
        try:
            from onnx import TensorProto, checker, helper
        except ImportError as error:
            raise DataError("to_onnx needs the package onnx: pip install onnx") from error
        number = TensorProto.FLOAT if self.dtype == "float32" else TensorProto.DOUBLE
        inputs, x = self._inputs(number)
        if self.found.basis:
            x = self.op("Concat", *(self._formula(formula, x) for formula in self.found.basis), axis=1)
        x = self.op("Sub", x, self.constant(self.found.center))
        z = self._scores(x)
        g = self._classes(z)
        p = self._chances(z, g)
        labels = self._labels()
        outputs = []
        names = output_names(self.found)
        self.op("Gather", labels[0], self._decision(g, p), out=names[0], axis=0)
        outputs.append(helper.make_tensor_value_info(names[0], labels[1], ["n"]))
        K = len(self.found.classes)
        for name, value in zip(names[1:], (g, p), strict=True):
            if value is not None:
                self.op("Cast", value, out=name, to=number)
                outputs.append(helper.make_tensor_value_info(name, number, ["n", K]))
        graph = helper.make_graph(self.nodes, "discriminant", inputs, outputs, self.constants)
        opset = [helper.make_opsetid("", OPSET)] + [helper.make_opsetid("ai.onnx.ml", ML_OPSET)] * bool(
            self.found.columns
        )
        model = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION, producer_name="discriminant")
        lists: dict[str, Any] = {"features": self.found.features, "classes": self.found.classes}
        for key, items in lists.items():
            entry = model.metadata_props.add()
            entry.key, entry.value = key, "\n".join(str(item) for item in items)
        checker.check_model(model)
        return bytes(model.SerializeToString())

    def _inputs(self, number: int) -> tuple[list[Any], str]:
        """(inputs of the graph, the name of the features in it)."""
        from onnx import TensorProto, helper

        found = self.found
        if not found.columns:
            inputs = [helper.make_tensor_value_info("X", number, ["n", len(found.features)])]
            return inputs, "X" if number == TensorProto.DOUBLE else self.op("Cast", "X", to=TensorProto.DOUBLE)
        kinds = [number if rule.role == NUMBER else TensorProto.STRING for rule in found.columns]
        inputs = [helper.make_tensor_value_info(rule.name, kind, ["n", 1])
                  for rule, kind in zip(found.columns, kinds, strict=True)]  # fmt: skip
        return inputs, self._columns(number)

    def _columns(self, number: int) -> str:
        """The name of the features in the graph, from raw columns of (n, 1) each."""
        from onnx import TensorProto

        op, constant, parts = self.op, self.constant, []
        for rule in self.found.columns:
            name = rule.name
            if rule.role == NUMBER:
                value = name if number == TensorProto.DOUBLE else op("Cast", name, to=TensorProto.DOUBLE)
                gone = op("IsNaN", value)
                filled = op("Where", gone, constant(rule.fill), value)
                if rule.scale != 1.0:
                    filled = op("Div", op("Sub", filled, constant(rule.fill)), constant(rule.scale))
                parts += [filled, op("Cast", gone, to=TensorProto.DOUBLE)][: len(rule.features)]
                continue
            levels, rows = category_rows(rule)
            keys = ["", *(level for level in levels if level != "")]
            places = [len(levels) + 1, *(j for j, level in enumerate(levels) if level != "")]
            code = op("LabelEncoder", name, domain="ai.onnx.ml", keys_strings=keys, values_int64s=places,
                      default_int64=len(levels))  # fmt: skip
            flat = op("Reshape", code, constant([-1], np.int64))
            parts.append(op("Gather", constant(rows), flat, axis=0))
        return str(parts[0] if len(parts) == 1 else op("Concat", *parts, axis=1))

    def _formula(self, formula: Formula, x: str) -> str:
        """The name of a feature (n, 1) of the basis."""
        from onnx import TensorProto

        op, constant = self.op, self.constant
        kind, *operands = formula
        if kind in ("x", "dot"):
            part = op("Gather", x, constant(np.atleast_1d(operands[0]), np.int64), axis=1)
            if kind == "x":
                return part
            return op("MatMul", op("Sub", part, constant(operands[2])), constant(np.array(operands[1])[:, None]))
        value = self._formula(operands[0], x)
        if kind in FOLDS:
            for other in operands[1:]:
                value = op({"+": "Add", "*": "Mul"}[kind], value, self._formula(other, x))
            return value
        if kind == "square":
            return op("Mul", value, value)
        if kind not in WITH_A_NUMBER:
            return op(kind.title(), value)
        named = op({"-": "Sub", "/": "Div", ">": "Greater", ">=": "GreaterOrEqual"}[kind], value, constant(operands[1]))
        return op("Add", op("Cast", named, to=TensorProto.DOUBLE), op("Sub", value, value)) if ">" in kind else named

    def op(self, kind: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        name = out or f"{self.own}v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        from onnx import numpy_helper

        name = f"{self.own}c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values, dtype=dtype), name))
        return name

    def _scores(self, x: str) -> str:
        found = self.found
        if found.quadratic is None:
            assert found.weights is not None
            product = self.op("MatMul", x, self.constant(found.weights[1:]))
            return self.op("Add", product, self.constant(found.weights[0]))
        W, u, a = found.quadratic
        K, d, r = W.shape
        v = self.op("MatMul", x, self.constant(W.transpose(1, 0, 2).reshape(d, K * r)))
        v = self.op("Sub", v, self.constant(u.ravel()))
        half_sums = -0.5 * np.kron(np.eye(K), np.ones((r, 1)))
        return self.op("Add", self.op("MatMul", self.op("Mul", v, v), self.constant(half_sums)), self.constant(a))

    def _classes(self, z: str) -> str:
        from onnx import TensorProto

        first, second = self.found.decode
        if self.found.decoder == "linear":
            return self.op("Add", self.op("MatMul", z, self.constant(first)), self.constant(second))
        if self.found.decoder == "nearest":
            wide = self.op("Unsqueeze", z, self.constant([1], np.int64))
            gap = self.op("Sub", wide, self.constant(first[None]))
            square = self.op("Mul", self.op("Mul", gap, gap), self.constant(-0.5 * second[None]))
            return self.op("ReduceSum", square, self.constant([2], np.int64), keepdims=0)
        g = self.op("Sub", z, self.constant(second))
        if self.found.decoder == "unanimous":
            wide = self.op("Unsqueeze", g, self.constant([1], np.int64))
            agreed = self.op("Mul", wide, self.constant(first[None]))
            part = self.op("Where", self.constant(first[None] != 0, np.bool_), agreed, self.constant(np.inf))
            return self.op("ReduceMin", part, axes=[2], keepdims=0)
        zero = self.constant(0.0)
        above = self.op("Cast", self.op("Greater", g, zero), to=TensorProto.DOUBLE)
        below = self.op("Cast", self.op("Less", g, zero), to=TensorProto.DOUBLE)
        votes = self.op(
            "Add",
            self.op("MatMul", above, self.constant((first > 0).T.astype(float))),
            self.op("MatMul", below, self.constant((first < 0).T.astype(float))),
        )
        total = self.op("MatMul", g, self.constant(first.T))
        bound = self.op("Mul", self.op("Add", self.op("Abs", total), self.constant(1.0)), self.constant(3.0))
        return self.op("Add", votes, self.op("Div", total, bound))

    def _chances(self, z: str, g: str) -> str | None:
        if self.found.link is None:
            return None
        if self.found.link == "pairs":
            return self._pairs(z)
        each = g
        if self.found.link == "sigmoid":  # log σ(g) = −log(1 + e⁻ᵍ), with the exponent never positive
            zero = self.constant(0.0)
            small = self.op("Exp", self.op("Neg", self.op("Abs", g)))
            log = self.op("Log", self.op("Add", small, self.constant(1.0)))
            each = self.op("Sub", self.op("Min", g, zero), log)
        if self.found.prior_shift is not None:
            each = self.op("Add", each, self.constant(self.found.prior_shift))
        return self.op("Softmax", each, axis=1)

    def _pairs(self, z: str) -> str:
        """The name of p (n, K) in the graph."""
        op, constant, K, shift = self.op, self.constant, len(self.found.classes), self.found.prior_shift
        first, second = pairs(K)
        place = np.zeros((len(first), K * K))
        at = np.arange(len(first))
        place[at, first * K + second], place[at, second * K + first] = 1.0, -1.0
        below = np.zeros((K, K))
        below[second, first] = 1.0
        e = op("Exp", op("Neg", op("Abs", z)))
        half = op("Div", constant(1.0), op("Add", e, constant(1.0)))
        r = op("Where", op("Less", z, constant(0.0)), op("Mul", e, half), half)
        r = op("Reshape", op("MatMul", r, constant(place)), constant([-1, K, K], np.int64))
        r = op("Add", r, constant(below[None]))
        other = op("Transpose", r, perm=[0, 2, 1])
        losses = op("ReduceSum", op("Mul", r, r), constant([1], np.int64), keepdims=1)
        Q = op("Sub", op("Mul", losses, constant(np.eye(K)[None])), op("Mul", r, other))
        m = K - 1
        Z = np.vstack([np.eye(m), -np.ones(m)])  # p = e_m + Z p_{<m}
        reduced = op("MatMul", constant(Z.T), Q)
        right = op("Neg", op("MatMul", reduced, constant(np.eye(K)[:, m:])))
        H = op("Concat", op("MatMul", reduced, constant(Z)), right, axis=2)
        for s in range(m):  # Gauss and Jordan: column s is left with its diagonal alone
            row, column = (op("Gather", H, constant([s], np.int64), axis=axis) for axis in (1, 2))
            others = op("Mul", column, constant((np.arange(m) != s).astype(float)[None, :, None]))
            pivot = op("Gather", row, constant([s], np.int64), axis=2)
            H = op("Sub", H, op("Mul", op("Div", others, pivot), row))
        square = op("Gather", H, constant(np.arange(m), np.int64), axis=2)
        diagonal = op("ReduceSum", op("Mul", square, constant(np.eye(m)[None])), constant([2], np.int64), keepdims=0)
        right = op("ReduceSum", op("Gather", H, constant([m], np.int64), axis=2), constant([2], np.int64), keepdims=0)
        p = op("Div", right, diagonal)
        last = op("Sub", constant(1.0), op("ReduceSum", p, constant([1], np.int64), keepdims=1))
        p = op("Max", op("Concat", p, last, axis=1), constant(0.0))
        p = p if shift is None else op("Mul", p, constant(np.exp(shift)))
        return str(op("Div", p, op("ReduceSum", p, constant([1], np.int64), keepdims=1)))

    def _decision(self, g: str, p: str | None) -> str:
        from onnx import TensorProto

        found = self.found
        if found.costs is not None:
            assert p is not None
            risk = self.op("MatMul", p, self.constant(found.costs.T))
            return self.op("ArgMin", risk, axis=1, keepdims=0)
        if found.rejects:
            positive = self.op("Cast", self.op("Greater", g, self.constant(0.0)), to=TensorProto.INT64)
            count = self.op("ReduceSum", positive, self.constant([1], np.int64), keepdims=0)
            first = self.op("ArgMax", g, axis=1, keepdims=0)
            one = self.op("Equal", count, self.constant(1, np.int64))
            return self.op("Where", one, first, self.constant(len(found.classes), np.int64))
        over = g if found.prior_shift is None or p is None else p
        return self.op("ArgMax", over, axis=1, keepdims=0)

    def _labels(self) -> tuple[str, int]:
        from onnx import TensorProto, helper

        labels = self.found.labels
        name = f"{self.own}c{len(self.constants)}"
        if whole_labels(self.found):
            tensor = helper.make_tensor(name, TensorProto.INT64, [len(labels)], [int(label) for label in labels])
            kind = TensorProto.INT64
        else:
            text: Any = [label_text(label).encode() for label in labels]
            tensor, kind = helper.make_tensor(name, TensorProto.STRING, [len(labels)], text), TensorProto.STRING
        self.constants.append(tensor)
        return name, int(kind)


def _try(found: Program, data: bytes, dtype: str) -> None:
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return
    tolerance = 1e-12 if dtype == "float64" else 1e-6
    X = edge_table(found, 400, dtype) if found.columns else edge_points(found).astype(dtype)
    positions, chances = run_onnx(found, data, X[0] if isinstance(X, tuple) else X)
    features = X[1] if isinstance(X, tuple) else X.astype(np.float64)
    require_agreement(found, features, positions, chances, "onnxruntime", tolerance)


def output_names(found: Program) -> list[str]:
    """label, scores and probabilities, with a line behind them where a column is called so."""
    taken = {rule.name for rule in found.columns}
    return [name + "_" * (name in taken) for name in OUTPUTS]


def whole_labels(found: Program) -> bool:
    """Whether every label is a whole number of 64 bits; otherwise they are written as text."""
    return all(isinstance(label, int) and -(2**63) <= label < 2**63 for label in found.labels)


def label_text(label: Any) -> str:
    return label.decode("latin-1") if isinstance(label, bytes) else str(label)


def run_onnx(found: Program, data: bytes, X: Any) -> tuple[Array, Array | None]:
    """(positions, chances) from onnxruntime, of rows X (n, d) or of a table's raw columns."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    given = {"X": X}
    if isinstance(X, dict):
        kinds = {item.name: item.type for item in session.get_inputs()}
        types = {"tensor(string)": object, "tensor(double)": np.float64, "tensor(float)": np.float32}
        given = {name: np.array(values, dtype=types[kinds[name]])[:, None] for name, values in X.items()}
    answers = dict(zip([o.name for o in session.get_outputs()], session.run(None, given), strict=True))
    names = output_names(found)
    whole = whole_labels(found)
    labels = [int(label) if whole else label_text(label) for label in found.labels]
    return np.array([labels.index(label) for label in answers[names[0]].tolist()]), answers.get(names[2])
