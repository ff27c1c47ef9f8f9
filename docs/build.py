"""Builds the documentation as static pages: ``python docs/build.py site``.

The Markdown files of the repository become pages at the same place in the output folder, so that their links to each
other keep working, and pdoc writes the reference of the package from its docstrings into ``api/``.
"""

from __future__ import annotations

import argparse
import re
import warnings
from pathlib import Path

import markdown
import pdoc
import pdoc.render

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "README.md": "Start",
    "docs/architecture.md": "Architecture",
    "docs/dependencies.md": "Dependencies",
    "benchmarks/README.md": "Benchmarks",
    "CONTRIBUTING.md": "Contributing",
    "CHANGELOG.md": "Changes",
}
STYLE = """
body { font: 16px/1.6 system-ui, sans-serif; color: #1c2733; max-width: 54rem; margin: 0 auto; padding: 0 1.5rem 4rem }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.3rem; padding: 1rem 0; border-bottom: 1px solid #d9e0e7 }
nav a { text-decoration: none } a { color: #1459a8 }
nav a[aria-current] { color: #1c2733; font-weight: 600 }
h1, h2, h3 { line-height: 1.25; margin: 2rem 0 .7rem }
pre { background: #f4f6f8; padding: .9rem 1.1rem; border-radius: 6px; overflow-x: auto; line-height: 1.4 }
code { font: .875em ui-monospace, "DejaVu Sans Mono", monospace }
:not(pre) > code { background: #f0f3f6; padding: .1em .3em }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .94em }
th, td { text-align: left; padding: .4rem .8rem; border-bottom: 1px solid #e3e8ed; vertical-align: top }
"""


def target(source: str) -> str:
    """The page that a Markdown file becomes."""
    return source.replace("README.md", "index.md").removesuffix(".md") + ".html"


def page(source: str, sources: list[str]) -> str:
    """One Markdown file as a whole page, with links to the others."""
    up = "../" * source.count("/")
    links = [f'<a href="{up}{target(s)}"{" aria-current=page" if s == source else ""}>{PAGES[s]}</a>' for s in sources]
    links.append(f'<a href="{up}api/discriminant.html">Reference</a>')
    text = (ROOT / source).read_text(encoding="utf-8")
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc", "sane_lists"])
    body = re.sub(r'(?<=href=")(?!https?:)([^"#]*\.md)', lambda link: target(link[0]), body)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>discriminant: {PAGES[source]}</title><style>{STYLE}</style><nav>{' '.join(links)}</nav>{body}</html>"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, help="the folder to write to; made when missing")
    output = parser.parse_args().output
    sources = [source for source in PAGES if (ROOT / source).exists()]
    for source in sources:
        path = output / target(source)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(source, sources), encoding="utf-8")
    # pdoc reads a dataclass's generated signature where it is re-exported, and warns that its annotations' names are
    # not imported there; it then shows them as written, which is what we want.
    warnings.filterwarnings("ignore", message="Error parsing type annotation", category=UserWarning)
    pdoc.render.configure(docformat="numpy", footer_text="discriminant")
    pdoc.pdoc("discriminant", output_directory=output / "api")
    print(f"{len(sources)} pages and the reference: {output / 'index.html'}")


if __name__ == "__main__":
    main()
