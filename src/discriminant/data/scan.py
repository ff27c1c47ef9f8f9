"""``scan``: rows in files that need not fit in memory, accepted wherever rows are.

    data = discriminant.scan("clicks/*.parquet", target="clicked", memory="2GB")
    model = discriminant.LogisticRegression().fit(data)
    model.predict_proba(data, out="chances.parquet")

What is known beforehand comes from the files' heads; labels are encoded in one look at their column alone.  A fit then
reads the files as few times as its method allows (``data.passes`` counts), a part at a time, and never holds more than
``memory``.  Data that are small beside that are read once and held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from discriminant.data.blocks import ArrayBlocks, make_blocks
from discriminant.data.check import check_weights
from discriminant.data.labels import encode_labels
from discriminant.data.scan_open import bytes_of, find_files, open_format
from discriminant.data.scan_parts import Progress, stack
from discriminant.data.scan_results import Streamed
from discriminant.data.scan_sample import Samples
from discriminant.data.sources import SAMPLE_FIRST
from discriminant.data.stream import StreamRows
from discriminant.errors import DataError
from discriminant.protocols import Array


def scan(
    path: Any,
    target: Any = None,
    *,
    columns: Sequence[Any] | None = None,
    memory: str | int = "2GB",
    hold: bool | None = None,
    progress: Any = False,
    n_features: int | None = None,
) -> Scan:
    """Rows in files, larger than memory if need be: a source for ``fit``, ``predict``, ``score``, ``separability``.

    Parameters
    ----------
    path : a file, a folder, a pattern such as "data/*.parquet", or a list of files
        Parquet, Arrow IPC (Feather), CSV, libsvm or ``.npy``; told apart by what is in them.
    target : name of the label's column; for ``.npy``: the file (or files) of labels, or the number of a column
        None for rows without labels.
    columns : the columns to learn from, by name (``.npy``: by number); None: all but the target
    memory : such as "2GB" or a number of bytes
        What the whole process may take at most, prefetched parts included.
    hold : keep the rows in memory after reading them once; None: where they take a quarter of ``memory`` at most
    progress : True prints rows a second and the time left; a function is called with them as keywords
    n_features : libsvm only: the number of features, where a file may not show the last ones

    Examples
    --------
    >>> import numpy as np, tempfile, os
    >>> import discriminant
    >>> folder = tempfile.TemporaryDirectory()
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> np.save(os.path.join(folder.name, "X.npy"), X)
    >>> np.save(os.path.join(folder.name, "y.npy"), (X[:, 0] > 0).astype(int))
    >>> rows = discriminant.scan(os.path.join(folder.name, "X.npy"), target=os.path.join(folder.name, "y.npy"))
    >>> rows.shape, discriminant.LogisticRegression().fit(rows).score(rows) > 0.95
    ((300, 3), True)
    >>> folder.cleanup()
    """
    files = find_files(path)
    format_ = open_format(files, target, columns, n_features)
    return Scan(format_, bytes_of(memory), hold, Progress.of(progress), target)


class Scan(Samples):
    """Files as a source of rows (see ``scan``)."""

    is_source: ClassVar[bool] = True

    def __init__(self, format_: Any, memory: int, hold: bool | None, progress: Progress, target: Any) -> None:
        super().__init__(format_, memory, progress, target)
        self.hold, self.began = hold, 0.0

    def __repr__(self) -> str:
        files = self.format.files
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"<scan of {files[0]}{more}, {self.parts.size / 1e6:,.0f} MB>"

    def training(self, y: Any, sample_weight: Any, classes: Array | None) -> tuple[ArrayBlocks, Array]:
        """Blocks with class codes, and the classes."""
        self.began = self.parts.passes
        if y is None:
            ahead = self._has_labels and not self._held()
            guess = self.guess() if ahead and classes is None and sample_weight is None and SAMPLE_FIRST.get() else None
            if ahead and guess is None:
                self.expect_sample()
            codes: Any
            found, codes = self.labels(classes) if guess is None else guess
        else:
            found, codes = encode_labels(np.asarray(y))
            if len(codes) != self.n_rows:
                raise DataError(f"y has {len(codes)} labels, and the files hold {self.n_rows} rows.")
            self._labels = (found, codes)
            self.reconsider()
        weight = check_weights(sample_weight, self.n_rows)
        if self._held():
            return make_blocks(self.whole(), np.asarray(codes), weight), found
        return make_blocks(StreamRows(self), codes, weight), found

    def _held(self) -> bool:
        if self.hold is not None:
            return bool(self.hold)
        size = 12 * self.format.entries if self.format.is_sparse else 8 * self.n_rows * self.n_features
        return size <= self.memory // 4 and size <= 3 * self.budget.sample

    def whole(self) -> Any:
        """All rows in memory: an array, or a CSR matrix."""
        self._look()
        if self.format.is_sparse:
            return stack([piece.matrix for _, piece in self.parts.walk()])
        X = np.empty(self.shape, self.dtype)
        for start, piece in self.parts.walk():
            X[start : start + piece.rows] = piece.take(np.arange(piece.rows))
        return X

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """(rows, labels) of each part; labels None where there are none."""
        found = self.labels() if self._has_labels else None
        self._look()
        for start, piece in self.parts.walk():
            labels = None if found is None else found[0][np.asarray(found[1][start : start + piece.rows])]
            yield piece.take(np.arange(piece.rows)), labels

    def apply(self, function: Callable[[Any], Array], out: Any = None) -> Any:
        """function of every part's rows: results that stream, or the file that they were written to."""
        results = Streamed(self, function)
        return results if out is None else results.write(out)

    def score(self, predict: Callable[[Any], Array], y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose label is predicted."""
        labels = None if y is None else np.asarray(y)
        weight = check_weights(sample_weight, self.n_rows)
        right = total = 0.0
        start = 0
        for X, own in self:
            part = slice(start, start + X.shape[0])
            hit = np.asarray(predict(X)) == (own if labels is None else labels[part])
            right += float(hit.sum() if weight is None else hit @ weight[part])
            total += float(len(hit) if weight is None else weight[part].sum())
            start = part.stop
        return right / total

    def learn(self, partial_fit: Callable[..., Any], y: Any, sample_weight: Any, classes: Array | None) -> None:
        """partial_fit of every part, in order."""
        known = (
            self.classes if classes is None and y is None else np.unique(np.asarray(y)) if classes is None else classes
        )
        weight = check_weights(sample_weight, self.n_rows)
        start = 0
        for X, own in self:
            part = slice(start, start + X.shape[0])
            extra = {} if weight is None else {"sample_weight": weight[part]}
            partial_fit(X, own if y is None else np.asarray(y)[part], classes=known, **extra)
            start = part.stop
