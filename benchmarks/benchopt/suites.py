"""Run benchopt's logistic suites with our solver files beside the peers that install, and say who came first.

    git clone https://github.com/benchopt/benchmark_logreg_l2 FOLDER/l2      (and benchmark_logreg_l1 FOLDER/l1)
    python -m venv ENV && ENV/bin/pip install "benchopt==1.7.0" "joblib<1.5" skglm celer .
    ENV/bin/python benchmarks/benchopt/suites.py FOLDER                      # ten minutes;  --quick  the smallest set

First is who comes within 1e-6 of the lowest objective that anyone reached, relative to it, in the least time.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd

HERE = Path(__file__).resolve().parent
GAP = 1e-6
# Suite → our file, the sets (the smallest first), the solvers beside ours.
SUITES = {
    "l2": (
        "ridge.py",
        [(1_000, 10), (200, 500), (100_000, 400)],
        [f"sklearn[solver={name}]" for name in ("lbfgs", "newton-cg", "newton-cholesky", "liblinear")] + ["snapml"],
    ),
    "l1": ("lasso.py", [(500, 2_000), (500, 5_000)], ["skglm", "Celer", "sklearn[solver=liblinear]", "snapml"]),
}


def run(folder: Path, suite: str, options: argparse.Namespace) -> Path:
    """The file of results of one suite; solvers whose packages are missing are left out by benchopt, which says so."""
    file, sets, solvers = SUITES[suite]
    shutil.copyfile(HERE / file, folder / suite / "solvers" / "discriminant.py")  # it wants the files in its folder
    command = [str(Path(sys.executable).parent / "benchopt"), "run", str(folder / suite), "--no-plot", "--no-html"]
    command += ["--no-cache"]  # all in one run
    command += ["-r", str(options.repeat), "-n", "60", "--timeout", str(options.timeout)]
    for solver in ["discriminant", *solvers]:
        command += ["-s", solver]
    for n, d in sets[:1] if options.quick else sets:
        command += ["-d", f"simulated[n_samples={n},n_features={d}]"]
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL if options.quiet else None)
    return max((folder / suite / "outputs").glob("*.parquet"), key=lambda path: path.stat().st_mtime)


def table(results: pd.DataFrame) -> str:
    """A line for each set and penalty: who came within the gap, the fastest first."""
    lines = ["| set | penalty | first to 1e-6 | the others |", "|---|---|---|---|"]
    for (data, problem), part in results.groupby(["data_name", "objective_name"]):
        lowest = part["objective_value"].min()
        near = part[part["objective_value"] <= lowest + GAP * abs(lowest)]
        times = near.groupby(["solver_name", "idx_rep"])["time"].min().groupby("solver_name").median().sort_values()
        words = [f"{solver} {1e3 * seconds:.3g} ms" for solver, seconds in times.items()]
        words += [f"{solver} –" for solver in sorted(set(part["solver_name"]) - set(times.index))]
        lines.append(f"| {data} | {problem} | {words[0]} | {', '.join(words[1:])} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run both suites and print their tables."""
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("folder", type=Path, help="where the clones l2 and l1 lie")
    parse.add_argument("--suite", action="append", choices=list(SUITES))
    parse.add_argument("--repeat", type=int, default=3)
    parse.add_argument("--timeout", type=int, default=20, help="seconds for one solver on one set")
    parse.add_argument("--quick", action="store_true")
    parse.add_argument("--quiet", action="store_true")
    options = parse.parse_args()
    for suite in options.suite or SUITES:
        print(table(pd.read_parquet(run(options.folder, suite, options))), flush=True)


if __name__ == "__main__":
    main()
