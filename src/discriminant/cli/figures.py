"""``discriminant figures``: the books' figures as files, drawn from the library's own fits."""

from __future__ import annotations

import io
from argparse import Namespace
from pathlib import Path
from typing import Any

from discriminant.cli.console import Console, table
from discriminant.errors import DataError, counted
from discriminant.figures.registry import REGISTRY, Entry, entry
from discriminant.io.container import write_whole


def run(given: Namespace) -> int:
    """The command."""
    console = Console(given.json, given.quiet)
    chosen = list({one.name: one for one in map(entry, given.names)}.values()) or list(REGISTRY.values())
    if given.list:
        console.document({"figures": [_document(e) for e in chosen]})
        console.show(table(["name", "place in the books", "what it claims"], [_row(e) for e in chosen]))
        return 0
    folder = _folder(given.out)
    written = []
    for number, one in enumerate(chosen, start=1):
        console.progress(f"{number} of {len(chosen)}: {one.name}")
        path = folder / f"{one.name}.{given.format}"
        _write(one.draw(), path, given.format, given.dpi)
        written.append({**_document(one), "file": str(path)})
    console.done()
    console.document({"figures": written})
    for row in written:
        console.show(f"  {row['file']}")
    if not given.quiet:
        console.show(f"  {counted(len(written), 'figure')} written to {folder}")
    return 0


def _document(one: Entry) -> dict[str, str]:
    return {"name": one.name, "source": one.source, "caption": one.caption, "seen": one.seen, "also": one.also}


def _row(one: Entry) -> list[str]:
    caption = one.caption if len(one.caption) <= 72 else one.caption[:71].rsplit(" ", 1)[0] + " …"
    return [one.name, one.source, caption]


def _folder(out: str) -> Path:
    from discriminant.plots.theme import matplotlib

    matplotlib()  # said before a folder is made
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"--out {out} is a file; give a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write(figure: Any, path: Path, form: str, dpi: int) -> None:
    """Whole or not at all; without a date or random names inside, so that the same figure is the same bytes."""
    from discriminant.plots.theme import matplotlib

    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    file = io.BytesIO()
    with matplotlib().rc_context({"svg.hashsalt": path.stem}):
        figure.savefig(file, format=form, dpi=dpi, metadata=dates.get(form))
    write_whole(path, file.getvalue())
