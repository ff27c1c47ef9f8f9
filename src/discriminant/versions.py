"""What is installed: the versions that a report of a mistake needs, and whether the kernels are compiled."""

from __future__ import annotations

import importlib.metadata
import platform
import sys

from discriminant.kernels import compiled

PACKAGES = (
    "numpy", "scipy", "scikit-learn", "narwhals", "threadpoolctl", "pandas", "polars", "pyarrow", "dask", "torch",
    "matplotlib",
)  # fmt: skip


def show_versions() -> None:
    """Print the versions of Python, of this package and of those it uses, and which kernels are in use.

    Examples
    --------
    >>> from discriminant import show_versions
    >>> show_versions()  # doctest: +ELLIPSIS
    discriminant   0.2.0
    kernels        ...
    """
    lines = {"discriminant": _version("discriminant"), "kernels": compiled.in_use()}
    lines |= {"python": sys.version.split()[0], "machine": f"{platform.system()} {platform.machine()}"}
    lines |= {name: _version(name) for name in PACKAGES}
    for name, value in lines.items():
        print(f"{name:<14} {value}")


def one_line() -> str:
    """Version and kernels, as ``discriminant --version`` prints them.

    >>> one_line()
    'discriminant 0.2.0 (kernels: ...)'
    """
    return f"discriminant {_version('discriminant')} (kernels: {compiled.in_use()})"


def _version(name: str) -> str:
    if name == "discriminant":
        from discriminant import __version__

        return __version__
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
