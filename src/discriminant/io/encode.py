"""Objects ↔ a JSON document and a set of arrays.  Nothing but data: no name in a file makes us run what is not ours.

Plain values are themselves.  Everything else is {"$": kind, ...}:

    array       a numeric array, kept apart           strings    an array of text, of any text type
    scalar      a NumPy number                        float      nan, inf and −inf, which JSON lacks
    tuple, map  as they are called                    object     one of our dataclasses, by name, with its fields,
                                                                 and what a basis has learned: names that end in "_"
    fraction    p/q in hexadecimal; whole numbers too large for JSON readers have no q
    estimator   one of our estimators, by name, with its parameters and its fitted attributes

Names are looked up in a table of this package's own classes, made from the modules listed here and from nothing else.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

import discriminant
from discriminant.arrays import in_memory, is_foreign
from discriminant.errors import DataError, names
from discriminant.methods import HOMES, Fit, method_of
from discriminant.protocols import Array

FOLDERS = ("bases", "codings", "criteria", "decision", "gaussian", "geometry", "inference", "optimize", "penalties")
MODULES = ("model", "protocols", "data.preprocess", "estimators.features", "io.formulas", "io.table_model")
MOVED = {  # module of an older file → where its classes are now
    "criteria.hinge": "criteria.perceptron",
    "criteria.zero_one": "criteria.perceptron",
    "optimize.annealing": "optimize.value_search",
    "optimize.evolution": "optimize.value_search",
}
RENAMED = {"_belief": "_posterior"}  # what an older file calls an attribute → its name now
DEEPEST = 60


@functools.cache
def known_estimators() -> dict[str, type]:
    """The public estimators, by name."""
    found = {name: estimator_named(name) for name in discriminant._HOMES}
    return {name: kind for name, kind in found.items() if kind is not None}


@functools.cache
def object_named(name: str) -> type | None:
    """The dataclass that a file means by this name, or None; only its own module is loaded."""
    module = name.rpartition(".")[0]
    module = MOVED.get(module, module)
    allowed = module in MODULES or module.partition(".")[0] in FOLDERS
    if not allowed or not all(part.isidentifier() for part in name.split(".")):
        return None
    try:
        home = importlib.import_module(f"{discriminant.__name__}.{module}")
    except ModuleNotFoundError:
        return None
    value = getattr(home, name.rpartition(".")[2], None)
    if not isinstance(value, type) or value.__module__ != home.__name__:
        return None
    own: type = value
    return own if dataclasses.is_dataclass(own) or hasattr(own, "get_params") else None


def estimator_named(name: str) -> type | None:
    """The public estimator of this name, or None; only its own module is loaded."""
    value = getattr(discriminant, name) if discriminant._HOMES.get(name, "").startswith("estimators.") else None
    return value if isinstance(value, type) else None


def is_estimator(value: Any) -> bool:
    """Whether this is one of our estimators; asks without loading any."""
    kind = type(value)
    return kind.__module__.startswith("discriminant.estimators.") and estimator_named(kind.__name__) is kind


@dataclasses.dataclass
class Encoder:
    """Objects to JSON; arrays are set aside under running names."""

    arrays: dict[str, Array] = dataclasses.field(default_factory=dict)

    def encode(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, bool | str) or (type(value) is int and abs(value) < 2**63):
            return value
        if type(value) is int or isinstance(value, Fraction):
            text = f"{value:x}" if isinstance(value, int) else f"{value.numerator:x}/{value.denominator:x}"
            return {"$": "fraction", "value": text}
        if type(value) is float:
            return value if math.isfinite(value) else {"$": "float", "value": repr(value)}
        if is_foreign(value):
            value = in_memory(value)  # a model file holds NumPy's arrays
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if isinstance(value, list | tuple):
            items = [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]
            return items if type(value) is list else {"$": "tuple", "items": items}
        if isinstance(value, dict):
            pairs = [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()]
            return {"$": "map", "items": pairs}
        return self._object(value, where)

    def _array(self, value: Array, where: str) -> Any:
        if value.dtype.kind in "fiub" and value.dtype.itemsize <= 8:
            name = f"a{len(self.arrays)}"
            self.arrays[name] = value
            return {"$": "array", "name": name}
        if value.dtype.kind in "US":
            flat = value.ravel().tolist()
            items = [item.decode("latin-1") if isinstance(item, bytes) else item for item in flat]
            return {"$": "strings", "dtype": value.dtype.str, "shape": list(value.shape), "items": items}
        if value.dtype.kind == "O":
            items = [self.encode(item, where) for item in value.ravel().tolist()]
            return {"$": "strings", "dtype": "|O", "shape": list(value.shape), "items": items}
        raise DataError(f"{where} is an array of {value.dtype}, which a model file cannot hold.")

    def _scalar(self, value: Any, where: str) -> Any:
        if value.dtype.kind not in "fiubU":
            raise DataError(f"{where} is a {value.dtype}, which a model file cannot hold.")
        return {"$": "scalar", "dtype": value.dtype.str, "value": self.encode(value.item(), where)}

    def _object(self, value: Any, where: str) -> Any:
        kind = type(value)
        name = f"{kind.__module__.removeprefix('discriminant.')}.{kind.__name__}"
        if is_estimator(value):
            return {"$": "estimator", "class": kind.__name__, **self._parts(value, where)}
        if isinstance(value, Fit):
            state = {"n_features_in_": value.n_features, **value.state}
            parts = {"parameters": self._fields(value.parameters, where), "state": self._fields(state, where)}
            return {"$": "estimator", "class": value.method.estimator, **parts}
        if object_named(name) is not kind or isinstance(value, enum.Enum):
            raise DataError(
                f"{where} is a {kind.__module__}.{kind.__name__}, which a model file cannot hold: only this package's "
                "own parts, numbers and text can be saved. Leave it out, or keep the model in memory."
            )
        if dataclasses.is_dataclass(value):
            own = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
            node = {"$": "object", "class": name, "fields": self._fields(own, where)}
            learned = {key: item for key, item in vars(value).items() if key.endswith("_") and _learns(kind)}
            return node | {"state": self._fields(learned, where)} if learned else node
        return {"$": "object", "class": name, **self._parts(value, where)}

    def _parts(self, value: Any, where: str) -> dict[str, Any]:
        from discriminant.estimators.inferential import Remembered

        parameters = value.get_params(deep=False)
        kept = {key: item for key, item in vars(value).items() if not isinstance(item, Remembered)}
        state = {key: item for key, item in kept.items() if key not in (*parameters, "_skl_callbacks")}
        return {"parameters": self._fields(parameters, where), "state": self._fields(state, where)}

    def _fields(self, fields: Mapping[str, Any], where: str) -> dict[str, Any]:
        return {key: self.encode(item, f"{where}.{key}") for key, item in fields.items()}


def _learns(kind: type) -> bool:
    """Whether objects of this class learn in ``fit`` beside their fields: the bases do."""
    return kind.__module__.startswith("discriminant.bases.")


@dataclasses.dataclass(frozen=True)
class Decoder:
    """JSON back to objects; ``as_fits``: estimators as the fits inside them, where a fit answers as they do."""

    arrays: dict[str, Array]
    as_fits: bool = False

    def decode(self, node: Any, depth: int = 0) -> Any:
        if depth > DEEPEST:
            raise DataError("The model file nests its parts too deeply.")
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        if not isinstance(node, dict):
            return node
        depth += 1
        match node.get("$"):
            case "array":
                array = self.arrays[node["name"]]
                return array.astype(array.dtype.newbyteorder("="))
            case "strings":
                return self._strings(node, depth)
            case "scalar":
                return self._scalar(node, depth)
            case "float":
                return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[node["value"]]
            case "fraction":
                top, _, bottom = str(node["value"]).partition("/")
                return Fraction(int(top, 16), int(bottom, 16)) if bottom else int(top, 16)
            case "tuple":
                return tuple(self.decode(item, depth) for item in node["items"])
            case "map":
                return {self.decode(key, depth): self.decode(item, depth) for key, item in node["items"]}
            case "object":
                return self._object(node, depth)
            case "estimator":
                name = str(node["class"])
                if self.as_fits and (fit := self._fit(name, node, depth)) is not None:
                    return fit
                if (kind := estimator_named(name)) is None:
                    raise DataError(f"The model file holds a {name[:60]!r}, which this package does not have.")
                return self._assemble(kind, node, depth)
            case unknown:
                raise DataError(f"The model file holds a part of a kind that is not known: {str(unknown)[:40]!r}.")

    def _strings(self, node: dict[str, Any], depth: int) -> Array:
        dtype, items = np.dtype(str(node["dtype"])), node["items"]
        if dtype.kind == "O":
            flat = np.empty(len(items), dtype=object)
            flat[:] = [self.decode(item, depth) for item in items]
        elif dtype.kind in "US" and all(isinstance(item, str) for item in items):
            longest = max((len(item) for item in items), default=1)
            text = [item.encode("latin-1") for item in items] if dtype.kind == "S" else items
            flat = np.array(text, dtype=f"{dtype.kind}{max(longest, 1)}")
            # A width that the text itself does not explain is dropped where it would cost memory.
            bearable = dtype.itemsize * flat.size <= max(4 * flat.nbytes, 1 << 20)
            flat = flat.astype(dtype) if bearable and dtype.itemsize >= flat.itemsize else flat
        else:
            raise DataError("The model file holds an array of text that is none.")
        return flat.reshape(node["shape"])

    def _scalar(self, node: dict[str, Any], depth: int) -> Any:
        dtype = np.dtype(str(node["dtype"]))
        if dtype.kind not in "fiubU" or dtype.itemsize > 4096:
            raise DataError("The model file holds a number of a type that is none.")
        return dtype.type(self.decode(node["value"], depth))

    def _object(self, node: dict[str, Any], depth: int) -> Any:
        kind = object_named(str(node["class"]))
        if kind is None:
            raise DataError(
                f"The model file names a part that this package does not have: {str(node['class'])[:60]!r}."
            )
        if "fields" not in node:
            return self._assemble(kind, node, depth)
        fields = {key: self.decode(item, depth) for key, item in node["fields"].items()}
        expected = {field.name for field in dataclasses.fields(kind) if field.init}
        if not set(fields) <= expected:
            raise DataError(f"The model file gives {kind.__name__} the fields {names(sorted(set(fields) - expected))}.")
        made = kind(**fields)
        for key, item in node.get("state", {}).items():
            if not _learns(kind) or not (key.isidentifier() and key.endswith("_")) or key.startswith("_"):
                raise DataError(f"The model file sets {key[:40]!r}, which is nothing that a {kind.__name__} learns.")
            vars(made)[key] = self.decode(item, depth)
        return made

    def _fit(self, name: str, node: dict[str, Any], depth: int) -> Fit | None:
        """The fit in an estimator's node, or None where the estimator itself must answer."""
        if name not in HOMES or node["parameters"].get("basis") is not None:
            return None
        state = self._state(node, depth)
        given = {key: self.decode(item, depth) for key, item in node["parameters"].items()}
        kind = method_of(name)
        if not given.keys() <= {one.name for one in dataclasses.fields(kind)}:
            return None
        method = kind(**given)
        discriminant = method.discriminant(state)
        return None if discriminant is None else Fit(method, discriminant, state)

    def _assemble(self, kind: Any, node: dict[str, Any], depth: int) -> Any:
        parameters = {key: self.decode(item, depth) for key, item in node["parameters"].items()}
        unknown = set(parameters) - set(kind._get_param_names())
        if unknown:
            raise DataError(f"The model file gives {kind.__name__} the parameters {names(sorted(unknown))}.")
        model = kind(**parameters)
        for key, item in self._state(node, depth).items():
            if not key.isidentifier() or (key.startswith("__")) or callable(getattr(kind, key, None)):
                raise DataError(f"The model file sets {key[:40]!r}, which is no attribute of a {kind.__name__}.")
            vars(model)[key] = item
        return model

    def _state(self, node: dict[str, Any], depth: int) -> dict[str, Any]:
        """What an estimator has learned, as it is held today."""
        state = {RENAMED.get(key, key): self.decode(item, depth) for key, item in node["state"].items()}
        coding, likelihood = state.get("coding_"), type(state.get("criterion_")).__name__ == "Logistic"
        if coding is not None and coding.name == "pairwise" and likelihood:  # older discriminants had no link for pairs
            state["discriminant_"] = dataclasses.replace(state["discriminant_"], link="pairs")
        return state
