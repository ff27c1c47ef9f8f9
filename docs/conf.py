"""The documentation site: ``make docs`` builds it into site/, without a network, and a warning is an error.

``pages.py`` says what is done to the pages before Sphinx reads them; the gallery's examples lie in examples/gallery.
"""

from __future__ import annotations

import importlib.metadata
import sys
import warnings
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS))

GALLERY = ("boundaries", "learning", "proof", "statistics", "decisions", "data", "engineering")  # in this order

project = "discriminant"
author = "the discriminant developers"
version = release = importlib.metadata.version("discriminant")
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "pages",
]
exclude_patterns = ["pictures", "README.md"]
nitpicky = True

myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # types stand in the docstrings, in words
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": ".",  # all of them run
    "doc_module": ("discriminant",),
    "backreferences_dir": "gallery/used",
    "reference_url": {"discriminant": None},
    "subsection_order": [f"../examples/gallery/{name}" for name in GALLERY],
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "thumbnail_size": (400, 280),
}

# MathJax is served with the site: one file, found in the package that brings it.
mathjax_path = "tex-svg.js"
_mathjax = [file for file in importlib.metadata.files("sphinx-mathjax-offline") or [] if file.name == mathjax_path]
html_static_path = ["style.css", *(str(file.locate()) for file in _mathjax)]
html_css_files = ["style.css"]
html_theme = "pydata_sphinx_theme"
html_title = "discriminant"
html_favicon = "favicon.svg"
html_context = {"default_mode": "auto"}
html_copy_source = html_show_sourcelink = False
html_show_search_summary = False  # it would be fetched, which browsers forbid to pages that lie on the disk
html_sidebars = {"index": []}
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_prev_next": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"index": [], "**": ["page-toc"]},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copyright = "the discriminant developers, BSD 3-Clause"

warnings.filterwarnings("ignore", category=UserWarning, message="FigureCanvasAgg is non-interactive")
