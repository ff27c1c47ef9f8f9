"""``save`` and ``load``: a fitted model in one file, with a few rows whose answers prove that it came back whole.

On load the rows kept in the file are predicted again; a model that answers otherwise is refused.  No code is in the
file and none is run on load.  Writing is atomic: what was there before stays until the new file is whole.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import discriminant
from discriminant.arguments import MODEL, PATH, Allowed, checked, optional
from discriminant.arrays import in_memory
from discriminant.errors import DataError, DiscriminantError
from discriminant.io.container import ModelFileError, documented, pack, unpack, write_whole
from discriminant.io.encode import Decoder, Encoder, is_estimator
from discriminant.io.formulas import Formulas
from discriminant.io.pipelines import is_pipeline, table_model
from discriminant.io.program import edge_points, program
from discriminant.io.table_model import TableModel
from discriminant.methods import Fit
from discriminant.model import discriminant_of
from discriminant.protocols import Array

PROBE_ROWS = 5
_ANSWERS = ("predict_proba", "decision_function", "transform")


NOTES = Allowed(
    "a dict of texts",
    lambda value: isinstance(value, dict) and all(isinstance(text, str) for pair in value.items() for text in pair),
)


@documented
@checked(model=MODEL, path=PATH, notes=optional(NOTES))
def save(model: Any, path: str | os.PathLike[str], *, X: Any = None, notes: dict[str, str] | None = None) -> Path:
    """Write a fitted model to a file that holds numbers and text, no code.

    The first rows of X and what the model answers for them are kept as a self-check, which ``load`` repeats.

    Parameters
    ----------
    model : estimator, LinearDiscriminant, TableModel or Pipeline
        Fitted, of this package; or scikit-learn's pipeline of scalers, imputers, encoders and bases that ends in a
        linear one.
    path : path
        Where; an existing file is replaced only when the new one is whole.
    X : array-like or data frame of shape (n, d), or None, default=None
        The first few rows are kept as the self-check; None: made-up rows near the model's centre are.
    notes : dict of str to str, or None, default=None
        Whatever should be remembered about the training.

    Raises
    ------
    DataError
        Where the model is not fitted or not of this package.

    See Also
    --------
    load : Reads it back.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     line = LinearDiscriminant([0.0, 1.0], ["left", "right"], link="sigmoid")
    ...     path = save(line, Path(folder) / "line.model")
    ...     load(path).predict([[3.0]]).tolist()
    ['right']
    """
    model = table_model(model) if is_pipeline(model) else model
    core = _core(model)
    _require_fitted(core)
    if vars(core).get("_formula") is not None:
        raise DataError(
            "A model of a formula is not written to this kind of file, which holds no code: fit on the formula's "
            "columns (formulaic.model_matrix) and save that model, or pickle this one."
        )
    encoder = Encoder()
    probe = _probe_rows(core, X)
    if not (answers := _answers(core, probe)):  # a basis refuses rows made up around a centre, such as Log's below zero
        probe = edge_points(program(core))[:PROBE_ROWS]
        answers = _answers(core, probe)
    document = {
        "model": encoder.encode(model, type(model).__name__),
        "probe": encoder.encode({"X": probe, **answers}, "probe"),
        "about": {
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "discriminant": discriminant.__version__,
            "numpy": np.__version__,
            "python": sys.version.split()[0],
            "notes": {str(key): str(text) for key, text in (notes or {}).items()},
        },
    }
    target = Path(path)
    write_whole(target, pack(json.dumps(document, separators=(",", ":"), allow_nan=False), encoder.arrays))
    return target


@documented
@checked(path=PATH)
def load(path: str | os.PathLike[str]) -> Any:
    """The model in a file that ``save`` wrote.

    Parameters
    ----------
    path : path
        The file.

    Raises
    ------
    ModelFileError
        Where the file is damaged or foreign, or the model answers otherwise than when it was saved.

    See Also
    --------
    save : Writes one.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     line = LinearDiscriminant([0.0, 1.0], ["left", "right"], link="sigmoid")
    ...     load(save(line, Path(folder) / "line.model")) == line
    True
    """
    return _load(Path(path), as_fits=False)


def load_fit(path: str | os.PathLike[str]) -> Any:
    """The same with the fit in place of its estimator, where that answers alike: scikit-learn is not loaded then."""
    try:
        return _load(Path(path), as_fits=True)
    except ModelFileError:
        return load(path)


def _load(source: Path, *, as_fits: bool) -> Any:
    text, arrays = unpack(source)
    decoder = Decoder(arrays, as_fits)
    try:
        document = json.loads(text)
        model = decoder.decode(document["model"])
        probe = decoder.decode(document["probe"])
        answers = _answers(_core(model), probe["X"])
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError) as error:
        raise ModelFileError(f"{source} holds no model that can be restored: {error}") from error
    # A fit answers less than its estimator: what one of them wrote is asked of the other as far as it goes.
    asked = [name for name in _ANSWERS if name in probe and name in answers]
    alike = {name: answers[name].shape == np.shape(probe[name]) for name in asked}
    close = functools.partial(np.allclose, rtol=1e-9, atol=1e-12, equal_nan=True)
    wrong = [name for name in asked if not (alike[name] and close(answers[name], probe[name]))]
    if wrong or not asked:
        name = wrong[0] if wrong else " and ".join(_ANSWERS[:2])
        raise ModelFileError(
            f"{source}: the restored model does not give the answers that were stored with it ({name} differs)."
        )
    return model


def about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a model file says about itself, without restoring the model."""
    document = json.loads(unpack(Path(path))[0])
    return {"class": document["model"].get("class"), **document["about"]}


def _core(model: Any) -> Any:
    """The model that answers for numbers: of a model with its preprocessing, the one inside."""
    return model.model if isinstance(model, TableModel) else model


def _require_fitted(model: Any) -> None:
    whole = isinstance(model, discriminant.LinearDiscriminant | Fit)
    if not whole and not is_estimator(model):
        raise DataError(f"Only this package's models can be saved; this is a {type(model).__name__}.")
    if not whole and "classes_" not in vars(model):
        raise DataError(f"This {type(model).__name__} is not fitted yet, so that there is nothing to save.")


def _probe_rows(model: Any, X: Any) -> Array:
    """A few rows near the data: the user's own, or made up around the model's centre."""
    encoding = vars(model).get("_encoding")
    if X is not None:
        from discriminant.data import as_rows

        given = X if encoding is None else model._read_rows(X, reset=False)
        return np.array(as_rows(given).design(0, PROBE_ROWS).dense(), dtype=np.float64)
    linear = discriminant_of(model)
    if isinstance(model, discriminant.LinearDiscriminant) and isinstance(model.basis, Formulas):
        return edge_points(program(model))[:PROBE_ROWS]  # where every formula has a value
    if linear is not None and linear.basis is None:
        d = linear.n_features
    else:
        d = int(model.n_features_in_) if encoding is None else len(encoding.feature_names)
    rows = np.random.default_rng(0).normal(size=(PROBE_ROWS, d))
    centre = None if linear is None else linear.center
    means = vars(model).get("means_")
    if means is not None and np.shape(means)[-1:] == (d,):
        centre = in_memory(means).astype(np.float64).mean(axis=0)
    return rows if centre is None or len(centre) != d else rows + centre


def _answers(model: Any, rows: Array) -> dict[str, Array]:
    """What the model says of the rows, by every method that it has."""
    import warnings

    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows have no feature names; that is no news here
        for name in _ANSWERS:
            method = getattr(model, name, None)
            if method is None:
                continue
            try:
                found[name] = np.asarray(method(rows), dtype=np.float64)
            except (NotImplementedError, DiscriminantError):
                continue
    return found
