"""Reads the comma-separated files beside it into arrays, with NumPy and the standard library only.

A row that lacks one of the measurements is left out, and the data set's description says how many were.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True)
class Dataset:
    """Measurements X (n, d), labels y (n,), and what the columns and classes are called.

    What ``load`` returns; each call makes new arrays.

    Attributes
    ----------
    name : str
        Which set this is.
    X : ndarray of shape (n, d), or data frame
        The measurements.
    y : ndarray of shape (n,), or series
        The labels, as strings.
    feature_names : tuple of d str
        The columns of X.
    classes : tuple of str
        The different labels, sorted.
    description : str
        What was measured, by whom, and under which licence it may be used.

    See Also
    --------
    load : A bundled data set by name.

    Examples
    --------
    >>> from discriminant import datasets
    >>> datasets.load("penguins")
    Dataset('penguins', 342 rows, 4 features, classes Adelie, Chinstrap, Gentoo)
    """

    name: str
    X: Any  # (n, d) float64, or a data frame with the feature names
    y: Any  # (n,) strings, or a named series of them
    feature_names: tuple[str, ...]
    classes: tuple[str, ...]
    description: str

    def __repr__(self) -> str:
        rows, width = self.X.shape
        return f"Dataset({self.name!r}, {rows} rows, {width} features, classes {', '.join(self.classes)})"


class _Source(NamedTuple):
    """Where a file's label stands, which columns are not measurements, and where the data come from."""

    target: str
    ignored: tuple[str, ...]
    description: str


_SOURCES = {
    "breast_cancer": _Source(
        "diagnosis",
        (),
        "Wisconsin Diagnostic Breast Cancer: 30 measurements of cell nuclei in images of fine-needle aspirates, each "
        "the mean, standard error or worst value of ten. Source: W. N. Street, W. H. Wolberg, O. L. Mangasarian, "
        "1993; UCI Machine Learning Repository, as distributed with scikit-learn. Licence: CC BY 4.0. The two "
        "classes are linearly separable in all 30 measurements.",
    ),
    "iris": _Source(
        "species",
        (),
        "Iris flowers: length and width of sepals and petals in centimetres. Source: collected by E. Anderson, "
        "published by R. A. Fisher, 1936; the values of R's iris, without the two typing errors of the UCI copy. "
        "Licence: facts in the public domain; as a UCI data set CC BY 4.0. Setosa is linearly separable from the "
        "other two species, which overlap.",
    ),
    "penguins": _Source(
        "species",
        ("island", "sex", "year"),
        "Palmer Archipelago penguins: bill length and depth and flipper length in millimetres, body mass in grams. "
        "Source: K. B. Gorman, Palmer Station LTER; A. M. Horst, A. P. Hill, K. B. Gorman, palmerpenguins, 2020. "
        "Licence: CC0. Gentoo is linearly separable from the other two species.",
    ),
}


def available() -> tuple[str, ...]:
    """The names that :func:`load` knows.

    Returns
    -------
    tuple of str
        The names.

    Examples
    --------
    >>> available()
    ('breast_cancer', 'iris', 'penguins')
    """
    return tuple(sorted(_SOURCES))


def target(name: str) -> str:
    """The name of the label's column in a bundled set's file.

    Parameters
    ----------
    name : str
        One of ``available()``.

    Returns
    -------
    str
        The column's name.

    Examples
    --------
    >>> target("iris")
    'species'
    """
    return _SOURCES[name].target


def load(name: str, *, as_frame: bool = False) -> Dataset:
    """A bundled data set by name.

    Parameters
    ----------
    name : str
        One of ``available()``.
    as_frame : bool, default=False
        Give X as a pandas data frame and y as a series, with their names.

    Returns
    -------
    Dataset
        With ``X``, ``y``, ``feature_names``, ``classes`` and ``description``; new arrays at every call.

    Raises
    ------
    ValueError
        Where there is no set of that name.

    Examples
    --------
    >>> data = load("iris")
    >>> data
    Dataset('iris', 150 rows, 4 features, classes setosa, versicolor, virginica)
    >>> data.X[0], str(data.y[0])
    (array([5.1, 3.5, 1.4, 0.2]), 'setosa')
    """
    if name not in _SOURCES:
        raise ValueError(f"There is no bundled data set {name!r}; there are {', '.join(map(repr, available()))}.")
    source = _SOURCES[name]
    from importlib import resources  # loads a dozen modules, and most commands read a file of the user's

    text = resources.files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    features = [column for column in header if column != source.target and column not in source.ignored]
    places = [header.index(column) for column in features]
    kept = [row for row in rows if all(row[place] for place in places)]
    X: Any = np.array([[float(row[place]) for place in places] for row in kept])
    y: Any = np.array([row[header.index(source.target)] for row in kept])
    classes = tuple(np.unique(y).tolist())
    said = source.description
    if missing := len(rows) - len(kept):
        said += f" {missing} of {len(rows)} rows lack measurements and are left out."
    if source.ignored:
        said += f" The file's further columns ({', '.join(source.ignored)}) are not measurements and are left out."
    if as_frame:
        try:
            import pandas as pd
        except ImportError as error:
            message = "as_frame=True needs pandas, which is not installed; pip install pandas, or use as_frame=False."
            raise ImportError(message) from error
        X, y = pd.DataFrame(X, columns=features), pd.Series(y, name=source.target)
    return Dataset(name, X, y, tuple(features), classes, said)
