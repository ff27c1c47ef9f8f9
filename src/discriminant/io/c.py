"""``to_c``: a model as one C file that needs nothing but the standard library, exact to the last bit of its numbers.

    int NAME_predict(const double *x, double *scores, double *chances)

returns the position of the decision in NAME_labels, or −1 where the model has no answer (NaN, a level that the fit
did not know); ``scores`` (K) and ``chances`` (K) may be NULL.  A model of a table also has ``NAME_predict_row``, which
takes the raw columns.  Constants are written as hexadecimal floats, so that no digit is lost between here and the
compiler.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from discriminant.arguments import MODEL, PATH, TEXT, checked, optional
from discriminant.data.preprocess import ColumnRule
from discriminant.data.roles import NUMBER
from discriminant.errors import DataError, ParameterError
from discriminant.io.cells import Cell, Cells, Number, ordered, written
from discriminant.io.container import documented, write_whole
from discriminant.io.program import Program, category_rows, edge_points, edge_table, program, require_agreement
from discriminant.protocols import Array

_HEAD = """/* A discriminant of {d} features and {K} classes.

   int {name}_predict(const double *x, double *scores, double *chances)

   x: the {d} numbers of a row, in the order of {name}_feature_names.  Returns the place of the decision among
   {name}_labels, or -1 where there is no answer (NAN).  scores, chances: room for a score and a probability of each of
   the {K} classes (NAN where the model has none), or NULL.{row} */
"""
_ROW = """

   int {name}_predict_row(const double *numbers, const char *const *texts, double *scores, double *chances)

   takes a row of the table as it is: {name}_number_columns and {name}_text_columns name its numbers and texts; NAN,
   NULL and empty texts are missing values."""


def _nested(function: str, parts: list[str]) -> str:
    """A function of two numbers over many, in halves."""
    half = len(parts) // 2
    return f"{function}({_nested(function, parts[:half])}, {_nested(function, parts[half:])})" if half else parts[0]


_PAIRS = """static void to_chances(const double *z, double *p)
{
    double r[K][K], q[K][K], h[K][K + 1], sum = 0;
    int i, j, s, at = 0;
    for (i = 0; i < K; i++) for (j = i + 1; j < K; j++, at++) {
        double e = exp(-fabs(z[at]));
        r[i][j] = z[at] < 0 ? e / (1 + e) : 1 / (1 + e);
        r[j][i] = 1 - r[i][j];
    }
    for (i = 0; i < K; i++) {
        q[i][i] = 0;
        for (j = 0; j < K; j++) if (j != i) { q[i][j] = -r[j][i] * r[i][j]; q[i][i] += r[j][i] * r[j][i]; }
    }
    for (i = 0; i < K - 1; i++) {
        for (j = 0; j < K - 1; j++) h[i][j] = q[i][j] - q[i][K - 1] - q[K - 1][j] + q[K - 1][K - 1];
        h[i][K - 1] = q[K - 1][K - 1] - q[i][K - 1];
    }
    for (s = 0; s < K - 1; s++) for (i = s + 1; i < K - 1; i++) {
        double f = h[i][s] / h[s][s];
        for (j = s; j < K; j++) h[i][j] -= f * h[s][j];
    }
    p[K - 1] = 1;
    for (i = K - 2; i >= 0; i--) {
        p[i] = h[i][K - 1];
        for (j = i + 1; j < K - 1; j++) p[i] -= h[i][j] * p[j];
        p[i] /= h[i][i];
        p[K - 1] -= p[i];
    }
    for (i = 0; i < K; i++) { p[i] = (p[i] > 0 ? p[i] : 0) * exp(prior_shift[i]); sum += p[i]; }
    for (i = 0; i < K; i++) p[i] /= sum;
}

"""

_WORDS: dict[str, str | Callable[[list[str]], str]] = {
    "add": "({} + {})", "subtract": "({} - {})", "multiply": "({} * {})", "divide": "({} / {})", "negative": "(-{})",
    "absolute": "fabs({})", "square": "({0} * {0})", "sqrt": "sqrt({})", "sin": "sin({})", "exp": "exp({})",
    "log": "log({})", "log1p": "log1p({})", "maximum": "fmax({}, {})", "max": partial(_nested, "fmax"),
    "min": partial(_nested, "fmin"), "greater": "{} > {}", "greater_equal": "{} >= {}", "equal": "{} == {}",
    "where": "({} ? {} : {})", "sum": lambda parts: f"({' + '.join(parts)})",
    "pick": lambda parts: "".join(map("{} ? {} : ".format, parts[:-2:2], parts[1:-2:2])) + parts[-1],
}  # fmt: skip

_CHOOSE = """static void choose(const char *given, const char *const *levels, int n, const double *rows, int width,
                   double *x)
{
    int i, j = 0;
    if (given == NULL || given[strspn(given, " \\t\\r\\n")] == 0) j = n + 1;
    else while (j < n && strcmp(given, levels[j])) j++;
    for (i = 0; i < width; i++) x[i] = rows[j * width + i];
}

"""


@documented
@checked(model=MODEL, path=optional(PATH), name=TEXT)
def to_c(model: Any, path: str | os.PathLike[str] | None = None, *, name: str = "discriminant") -> str:
    """The C source of a fitted model.

    Where a C compiler is there, the source is compiled and its answers compared with the model's first.

    Parameters
    ----------
    name : str, default="discriminant"
        Prefix of the functions in the source.

    >>> "double" in to_c(LinearDiscriminant([0.0, 1.0], ["left", "right"], link="sigmoid"))
    True
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ParameterError(f"name is {name!r}; it becomes part of C names: letters, digits and underscores.")
    found = program(model)
    source = _source(found, name)
    _try(found, source, name)
    if path is not None:
        write_whole(Path(path), source.encode())
    return source


def _numbers(values: Array) -> str:
    return ", ".join(float(value).hex() if np.isfinite(value) else _special(value) for value in np.ravel(values))


def _special(value: float) -> str:
    return "NAN" if value != value else "INFINITY" if value > 0 else "-INFINITY"


def _text(value: Any) -> str:
    data = value if isinstance(value, bytes) else str(value).encode()
    if 0 in data:
        raise DataError(f"{value!r} holds a zero byte, at which a text of C ends; rename it.")
    plain = [chr(byte) if 32 <= byte <= 126 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in data]
    return f'"{"".join(plain)}"'


def _table(name: str, values: Array) -> str:
    return f"static const double {name}[{max(np.size(values), 1)}] = {{{_numbers(values) or '0'}}};\n"


def _source(found: Program, name: str) -> str:
    d, K = len(found.features), len(found.classes)
    labels, body = found.labels, _body(found)
    parts = [
        _HEAD.format(name=name, d=d, K=K, row=_ROW.format(name=name) if found.columns else ""),
        "#include <math.h>\n#include <stddef.h>\n",
        "#include <string.h>\n\n" if found.columns else "\n",
        f"enum {{ D = {d}, F = {len(found.center)}, K = {K}, L = {len(labels)} }};\n",
        f"const char *const {name}_feature_names[D] = {{{', '.join(_text(item) for item in found.features)}}};\n",
        f"const char *const {name}_labels[L] = {{{', '.join(_text(label) for label in labels)}}};\n",
        f"const int {name}_features = D, {name}_classes = K;\n\n",
        _table("center", found.center),
        *_scores(found),
        *_pairs(found),
        f"int {name}_predict(const double *x, double *scores, double *chances)\n{{\n"
        "    double v[F], z[Q], g[K], p[K];\n    int i, best;\n",
        *body,
        "    if (scores) for (i = 0; i < K; i++) scores[i] = g[i];\n"
        "    if (chances) for (i = 0; i < K; i++) chances[i] = p[i];\n"
        "    for (i = 0; i < K; i++) if (isnan(g[i])) return -1;  /* no answer */\n    return best;\n}\n",
        _columns(found.columns, name) if found.columns else "",
    ]
    return "".join(parts)


def _body(found: Program) -> list[str]:
    """From x to the features v, the outputs z, scores g, probabilities p and the decision, as the program does it."""
    lines = ["    for (i = 0; i < F; i++) v[i] = x[i];\n"]
    if found.basis:
        v: Any = found.mapped(_leaves("x", len(found.features)))
        lines = _lines("f", _places("v", v))
    lines.append("    for (i = 0; i < F; i++) v[i] -= center[i];\n    to_scores(v, z);\n")
    z = _leaves("z", found.decode[0].shape[found.decoder != "linear"])
    g: Any = found.class_scores(z)
    if found.link == "pairs":
        p: Any = _leaves("p", len(found.classes))
        lines.append("    to_chances(z, p);\n")
    else:
        p = found.chances(z, g)
    decided: Any = found.decide(g, p)
    if p is None:
        p = Cells([[np.nan] * len(found.classes)])
    return lines + _lines("t", [*_places("g", g), *_places("p", p), ("best", decided.cells[0])])


def _leaves(array: str, count: int) -> Array:
    return cast(Array, Cells([[Cell("leaf", f"{array}[{i}]") for i in range(count)]]))


def _places(array: str, values: Cells) -> list[tuple[str, Number]]:
    return [(f"{array}[{i}]", cell) for i, cell in enumerate(values.cells[0])]


def _lines(prefix: str, wanted: list[tuple[str, Number]]) -> list[str]:
    """Statements that fill the places ``wanted``; what they share has a name that begins with ``prefix``."""
    names: dict[Cell, str] = {}

    def said(cell: Number, top: bool = False) -> str:
        return written(cell, names, _WORDS, lambda value: _numbers(np.array(value)), top)

    lines = []
    for cell in ordered([cell for _, cell in wanted]):
        name = f"{prefix}{len(names)}"
        lines.append(f"    const double {name} = {said(cell, top=True)};\n")
        names[cell] = name
    return lines + [f"    {place} = {said(cell)};\n" for place, cell in wanted if said(cell) != place]


def _scores(found: Program) -> list[str]:
    if found.quadratic is not None:
        W, u, a = found.quadratic
        r = W.shape[2]
        return [
            f"enum {{ Q = K, R = {r} }};\n", _table("whitener", np.transpose(W, (0, 2, 1))), _table("means", u),
            _table("constants", a),
            "static void to_scores(const double *v, double *z)\n{\n    int i, k, r;\n"
            "    for (k = 0; k < K; k++) {\n        double square = 0;\n        for (r = 0; r < R; r++) {\n"
            "            double t = 0;\n"
            "            for (i = 0; i < F; i++) t += v[i] * whitener[(k * R + r) * F + i];\n"
            "            t -= means[k * R + r];\n            square += t * t;\n        }\n"
            "        z[k] = constants[k] - 0.5 * square;\n    }\n}\n\n",
        ]  # fmt: skip
    assert found.weights is not None
    q = found.weights.shape[1]
    return [
        f"enum {{ Q = {q} }};\n", _table("weights", found.weights[1:].T), _table("bias", found.weights[0]),
        "static void to_scores(const double *v, double *z)\n{\n    int i, j;\n    for (j = 0; j < Q; j++) {\n"
        "        double t = 0;\n        for (i = 0; i < F; i++) t += v[i] * weights[j * F + i];\n"
        "        z[j] = t + bias[j];\n    }\n}\n\n",
    ]  # fmt: skip


def _pairs(found: Program) -> list[str]:
    """``to_chances``: the elimination as loops, which for many classes is a thousandth of it written out."""
    shift = np.zeros(len(found.classes)) if found.prior_shift is None else found.prior_shift
    return [_table("prior_shift", shift), _PAIRS] if found.link == "pairs" else []


def _columns(columns: Sequence[ColumnRule], name: str) -> str:
    """``NAME_encode``: numbers and texts of a raw row → x; and ``NAME_predict_row``, which also decides."""
    numbers = [rule for rule in columns if rule.role == NUMBER]
    words = [rule for rule in columns if rule.role != NUMBER]
    parts = ["\n/* Raw columns: numbers (NAN: missing) and texts (NULL or empty: missing), each in this order. */\n"]
    for kind, rules in (("number", numbers), ("text", words)):
        listed = ", ".join(_text(rule.name) for rule in rules) or "0"
        parts.append(f"const char *const {name}_{kind}_columns[{max(len(rules), 1)}] = {{{listed}}};\n")
    body, at = [], 0
    for rule in columns:
        width = len(rule.features)
        if rule.role == NUMBER:
            i = numbers.index(rule)
            fill = _numbers(np.array(rule.fill))
            value = f"isnan(numbers[{i}]) ? {fill} : numbers[{i}]"
            if rule.scale != 1.0:
                value = f"(({value}) - {fill}) / {float(rule.scale).hex()}"
            body.append(f"    x[{at}] = {value};\n")
            if width == 2:
                body.append(f"    x[{at + 1}] = isnan(numbers[{i}]) ? 1 : 0;\n")
        else:
            i = words.index(rule)
            levels, rows = category_rows(rule)
            own = [item for item in levels if item != ""]
            parts.append(f"static const char *const levels_{i}[{max(len(own), 1)}] = "
                         f"{{{', '.join(_text(item) for item in own) or '0'}}};\n")  # fmt: skip
            kept = np.vstack([rows[[levels.index(item) for item in own]], rows[-2:]]) if own else rows[-2:]
            parts.append(_table(f"coded_{i}", kept))
            body.append(f"    choose(texts[{i}], levels_{i}, {len(own)}, coded_{i}, {width}, x + {at});\n")
        at += width
    parts += [
        _CHOOSE if words else "",
        f"void {name}_encode(const double *numbers, const char *const *texts, double *x)\n",
        "{\n    (void)numbers;\n    (void)texts;\n",
        *body,
        "}\n\n",
    ]
    parts.append(
        f"int {name}_predict_row(const double *numbers, const char *const *texts, double *scores, double *chances)\n"
        f"{{\n    double x[D];\n    {name}_encode(numbers, texts, x);\n"
        f"    return {name}_predict(x, scores, chances);\n}}\n"
    )
    return "".join(parts)


def _try(found: Program, source: str, name: str) -> None:
    """Compile and compare, where a compiler is there."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return
    X = edge_points(found)
    with tempfile.TemporaryDirectory() as folder:
        code, library = Path(folder, "model.c"), Path(folder, "model.so")
        code.write_text(source)
        options = ["-std=c99", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
        run = subprocess.run([compiler, *options, str(code), "-o", str(library), "-lm"], capture_output=True, text=True,
                             check=False)  # fmt: skip
        if run.returncode:
            raise DataError(f"The export was refused: the C compiler does not accept it ({run.stderr[:200]!r}).")
        require_agreement(found, X, *run_library(library, name, X, len(found.classes)), "C", 1e-12)
        if found.columns:
            table, X = edge_table(found, 400)
            require_agreement(found, X, *run_rows(library, name, found, table), "C", 1e-12)


def run_rows(path: Path, name: str, found: Program, table: dict[str, list[Any]]) -> tuple[Array, Array]:
    """(positions, chances) of the rows of a raw table from a compiled export."""
    numbers = [table[rule.name] for rule in found.columns if rule.role == NUMBER]
    words = [table[rule.name] for rule in found.columns if rule.role != NUMBER]
    n = len(next(iter(table.values())))
    rows = np.array(numbers, dtype=np.float64).reshape(len(numbers), n).T
    kind = ctypes.c_char_p * max(len(words), 1)
    texts = [(kind(*[None if w[i] is None else w[i].encode() for w in words]),) for i in range(n)]
    return _run(path, f"{name}_predict_row", rows, texts, len(found.classes))


def run_library(path: Path, name: str, X: Array, n_classes: int) -> tuple[Array, Array]:
    """(positions, chances) of the rows of X from a compiled export."""
    return _run(path, f"{name}_predict", X, [()] * len(X), n_classes)


def _run(path: Path, name: str, X: Array, texts: list[tuple[Any, ...]], n_classes: int) -> tuple[Array, Array]:
    function, pointer = getattr(ctypes.CDLL(str(path)), name), ctypes.POINTER(ctypes.c_double)
    function.argtypes = [pointer, *[ctypes.POINTER(ctypes.c_char_p)] * len(texts[0]), pointer, pointer]
    function.restype = ctypes.c_int
    rows, scores = np.ascontiguousarray(X, dtype=np.float64), np.empty(n_classes)
    positions, chances = np.empty(len(rows), dtype=np.intp), np.empty((len(rows), n_classes))
    for i, text in enumerate(texts):
        numbers = (part.ctypes.data_as(pointer) for part in (rows[i], scores, chances[i]))
        positions[i] = function(next(numbers), *text, *numbers)
    return positions, chances
