"""``to_onnx``: a model as an ONNX graph, which keeps what its program does with an array of rows.

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
from typing import Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from discriminant.arguments import MODEL, PATH, among, checked, optional
from discriminant.data.roles import NUMBER
from discriminant.errors import DataError
from discriminant.io.container import documented, write_whole
from discriminant.io.program import Program, category_rows, edge_inputs, program, require_agreement
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
        answers = self.found.answers(cast(Array, Traced(self, x)))
        decided, g, p = cast(tuple[Traced, Traced, Traced | None], answers)
        labels = output_labels(self.found)
        whole = isinstance(labels[0], int)
        outputs = []
        names = output_names(self.found)
        self.op("Gather", self.constant(labels, "int64" if whole else "O"), decided.name, out=names[0], axis=0)
        kind = TensorProto.INT64 if whole else TensorProto.STRING
        outputs.append(helper.make_tensor_value_info(names[0], kind, ["n"]))
        K = len(self.found.classes)
        for name, value in zip(names[1:], (g, p), strict=True):
            if value is not None:
                self.op("Cast", value.name, out=name, to=number)
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
            flat = op("Reshape", code, constant([-1], "int64"))
            parts.append(op("Gather", constant(rows), flat, axis=0))
        return str(parts[0] if len(parts) == 1 else op("Concat", *parts, axis=1))

    def op(self, kind: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        name = out or f"{self.own}v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, values: Array | list[Any] | float, dtype: str = "float64") -> str:
        from onnx import numpy_helper

        name = f"{self.own}c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, dtype=dtype, order="C"), name))
        return name

    def named(self, one: Operand, of: str) -> str:
        """The name of an operand: of a constant of this type, or of an array, its truths as numbers if need be."""
        if not isinstance(one, Traced):
            return self.constant(one, of)
        from onnx import TensorProto

        return self.op("Cast", one.name, to=TensorProto.DOUBLE) if (one.kind, of) == ("bool", "float64") else one.name


class Traced(NDArrayOperatorsMixin):
    """An array of the graph: what NumPy is asked of it becomes a node.  ``kind``: its type, as NumPy's."""

    def __init__(self, graph: _Builder, name: str, kind: str = "float64") -> None:
        self.graph, self.name, self.kind = graph, name, kind

    def _node(self, op: str, *inputs: Operand, kind: str = "float64", of: str = "float64", **more: Any) -> Traced:
        """The node of an operation on what is of type ``of``."""
        return Traced(self.graph, self.graph.op(op, *(self.graph.named(one, of) for one in inputs), **more), kind)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Operand) -> Traced:
        if ufunc is np.square:
            return self._node("Mul", self, self)
        if ufunc is np.logaddexp:  # of zero and z: max(z, 0) + log(1 + e^−|z|)
            z = cast(Traced, inputs[1])
            tail = z._node("Exp", z._node("Neg", z._node("Abs", z)))
            return z._node("Add", z._node("Max", z, 0), z._node("Log", z._node("Add", tail, 1)))
        return self._node(NODES[ufunc], *inputs, kind="bool" if ufunc in COMPARED else "float64")

    def __array_function__(self, function: Any, types: Any, given: tuple[Any, ...], more: dict[str, Any]) -> Traced:
        if function is np.where:
            kind = "int64" if any(isinstance(one, Traced) and one.kind == "int64" for one in given) else "float64"
            test, *either = given
            return self._node("Where", Traced(self.graph, self.graph.named(test, "bool")), *either, kind=kind, of=kind)
        columns = [one[:, None] for one in given[0]] if function is np.column_stack else given[0]
        return self._node("Concat", *columns, axis=more.get("axis", 1))

    def __getitem__(self, places: tuple[Any, ...]) -> Traced:
        found = self
        for axis, place in enumerate(places):
            if place is None:
                found = found._node("Unsqueeze", found, [axis], of="int64")
            elif not isinstance(place, slice):
                found = found._node("Gather", found, place, of="int64", axis=axis)
        return found

    def sum(self, axis: int, keepdims: bool = False) -> Traced:
        return self._node("ReduceSum", Traced(self.graph, self.graph.named(self, "float64")), [axis], of="int64",
                          keepdims=int(keepdims))  # fmt: skip

    def min(self, axis: int) -> Traced:
        return self._node("ReduceMin", self, axes=[axis], keepdims=0)

    def max(self, axis: int, keepdims: bool) -> Traced:
        return self._node("ReduceMax", self, axes=[axis], keepdims=int(keepdims))

    def argmin(self, axis: int) -> Traced:
        return self._node("ArgMin", self, kind="int64", axis=axis, keepdims=0)

    def argmax(self, axis: int) -> Traced:
        return self._node("ArgMax", self, kind="int64", axis=axis, keepdims=0)

    def reshape(self, *shape: int) -> Traced:
        return self._node("Reshape", self, list(shape), of="int64")

    def transpose(self, *order: int) -> Traced:
        return self._node("Transpose", self, perm=order)


Operand = Traced | Array | list[int] | float
COMPARED = {np.greater: "Greater", np.greater_equal: "GreaterOrEqual", np.equal: "Equal"}
NODES: dict[np.ufunc, str] = COMPARED | {
    np.add: "Add", np.subtract: "Sub", np.multiply: "Mul", np.divide: "Div", np.matmul: "MatMul", np.maximum: "Max",
    np.negative: "Neg", np.absolute: "Abs", np.exp: "Exp", np.log: "Log", np.sqrt: "Sqrt", np.sin: "Sin",
}  # fmt: skip


def _try(found: Program, data: bytes, dtype: str) -> None:
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return
    tolerance = 1e-12 if dtype == "float64" else 1e-6
    given, X = edge_inputs(found, dtype=dtype)
    require_agreement(found, X, *run_onnx(found, data, given), "onnxruntime", tolerance)


def output_names(found: Program) -> list[str]:
    """label, scores and probabilities, with a line behind them where a column is called so."""
    taken = {rule.name for rule in found.columns}
    return [name + "_" * (name in taken) for name in OUTPUTS]


def output_labels(found: Program) -> list[Any]:
    """What a decision can be: whole numbers where all are such of 64 bits, else texts."""
    if all(isinstance(label, int) and -(2**63) <= label < 2**63 for label in found.labels):
        return [int(label) for label in found.labels]
    return [label.decode("latin-1") if isinstance(label, bytes) else str(label) for label in found.labels]


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
    labels = output_labels(found)
    return np.array([labels.index(label) for label in answers[names[0]].tolist()]), answers.get(names[2])
