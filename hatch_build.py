"""Builds the kernels: every C file of src/discriminant/kernels/c into one extension per instruction-set level.

The build backend calls this when a wheel is made or the package is installed; ``python hatch_build.py`` does it in
place, for work on a checkout.  The extensions use Python's limited API: one binary serves all Pythons from 3.11; for a
free-threaded Python, which has none, they are its own.
Where there is no C compiler, or it fails, a line says so and the package is pure Python: the same answers, slower.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
KERNELS = ROOT / "src" / "discriminant" / "kernels"

# Products are added with one rounding where the level can (a pass over rows with its Hessian is 1.6 times faster): bits
# depend on the level, never on the number of threads.  Sums are reordered only where a pragma says so; -ffast-math
# would switch denormals off for the whole process.
FLAGS = ["-std=gnu11", "-O3", "-fPIC", "-fvisibility=hidden", "-fno-math-errno", "-fno-trapping-math",
         "-ffp-contract=fast", "-fopenmp-simd", "-Wall", "-Wextra", "-fmax-errors=5"]  # fmt: skip
LEVELS: dict[str, list[str]] = {"baseline": []}
if platform.machine().lower() in ("x86_64", "amd64") and sys.maxsize > 2**32:
    LEVELS["avx2"] = ["-mavx2", "-mfma"]
    LEVELS["avx512"] = ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mfma", "-mprefer-vector-width=512"]
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX") if FREE_THREADED else ".abi3.so"
LINK = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]


def compiler() -> list[str] | None:
    """The C compiler's command: $CC, or the first of the usual names on the PATH."""
    named = shlex.split(os.environ.get("CC", ""))
    for command in [named] if named else [["cc"], ["gcc"], ["clang"]]:
        if shutil.which(command[0]):
            return command
    return None


def build(folder: Path = KERNELS) -> list[Path]:
    """Compile into ``folder`` what is not up to date there, and return the extensions; none where it cannot be done."""
    targets = {level: folder / f"_compiled_{level}{SUFFIX}" for level in LEVELS}
    sources = sorted((KERNELS / "c").glob("*.[ch]"))
    newest = max(path.stat().st_mtime for path in [*sources, Path(__file__)])
    stale = [level for level, path in targets.items() if not path.exists() or path.stat().st_mtime < newest]
    for level in stale:  # no fit shall run on kernels of another version
        targets[level].unlink(missing_ok=True)
    command = compiler()
    if stale and command is None:
        print("discriminant: there is no C compiler here; installing pure Python, which is slower.", file=sys.stderr)
    elif stale and command:
        folder.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda level: _compile(command, level, sources, targets[level]), stale))
    return [path for path in targets.values() if path.exists()] if targets["baseline"].exists() else []


def _compile(command: list[str], level: str, sources: list[Path], target: Path) -> None:
    """One extension, put in its place when it is whole."""
    partial = target.with_suffix(f".{os.getpid()}.partial")
    run = subprocess.run(
        [*command, *FLAGS, *LEVELS[level], f"-DLEVEL={level}", f"-I{sysconfig.get_paths()['include']}", *LINK, "-o",
         str(partial), *(str(path) for path in sources if path.suffix == ".c"), "-lm"],
        capture_output=True, text=True,
    )  # fmt: skip
    sys.stderr.write(run.stderr)
    if run.returncode == 0:
        os.replace(partial, target)
    else:
        print(f"discriminant: the kernels could not be compiled for {level}; going on without.", file=sys.stderr)


def _tag() -> str:
    from packaging.tags import sys_tags

    here = next(tag.platform for tag in sys_tags() if "manylinux" not in tag.platform and "musl" not in tag.platform)
    own = "cp{}{}".format(*sys.version_info)
    return f"{own}-{own}t-{here}" if FREE_THREADED else f"cp311-abi3-{here}"


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand in an environment that has no build backend
    pass
else:

    class KernelsHook(BuildHookInterface):  # type: ignore[type-arg]
        """In place for an editable installation; in a folder of its own for a wheel."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if version == "editable":
                build()
                return
            folder = ROOT / "build" / "kernels"
            shutil.rmtree(folder, ignore_errors=True)
            made = build(folder)
            if made:
                build_data.update(pure_python=False, tag=_tag())
                build_data["force_include"].update({str(path): f"discriminant/kernels/{path.name}" for path in made})


if __name__ == "__main__":
    build()
