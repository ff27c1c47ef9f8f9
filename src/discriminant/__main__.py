"""``python -m discriminant``: the command line; with a Python script, that script with scikit-learn's names patched.

python -m discriminant fit rows.csv --target y
python -m discriminant [--verbose] script.py arguments
"""

from __future__ import annotations

import sys


def main() -> int:
    given = sys.argv[1:]
    verbose = given[:1] == ["--verbose"]
    script = given[verbose:]
    if not script or not script[0].endswith(".py"):
        from discriminant.cli import main as command_line

        return command_line()
    import runpy

    from discriminant.patch import patch_sklearn

    patch_sklearn(verbose=verbose)
    sys.argv = script
    runpy.run_path(script[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
