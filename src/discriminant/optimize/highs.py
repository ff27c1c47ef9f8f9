"""The one caller of HiGHS, SciPy's solver of linear and mixed-integer programs; nothing that it prints is seen.

Linear programs, and programs whose unknowns are all yes or no, print nothing.  Where some unknowns are numbers, HiGHS
1.12 (of SciPy 1.17) repairs solutions that rounding left outside their constraints, and prints a line for each which no
option turns off.  Such a program is therefore solved by a process of its own, whose output goes nowhere: no other
thread's output is touched, and Ctrl-C ends it.  There HiGHS can also be asked for finer tolerances than SciPy offers,
without which whole rows pass for an error of 1e-6.  Its start takes half a second.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import warnings
from typing import Any

TOLERANCE = 1e-9  # by which a yes or no, and a constraint, may be missed: HiGHS's own is 1e-6
QUIET = {"disp": False}


def linear_program(cost: Any, *, seconds: float | None = None, **constraints: Any) -> Any:
    """argmin cost·x, with the constraints and the answer of ``scipy.optimize.linprog``."""
    from scipy.optimize import linprog

    options = QUIET if seconds is None else {**QUIET, "time_limit": seconds}
    return linprog(cost, method="highs", options=options, **constraints)


def deepest_point(A: Any, b: Any, bounds: Any) -> Any:
    """(x, r): the centre and radius of the largest ball in {A x ≤ b} whose centre is within bounds; None: empty."""
    import numpy as np

    cost = np.append(np.zeros(A.shape[1]), -1.0)
    found = linear_program(cost, A_ub=np.c_[A, np.linalg.norm(A, axis=1)], b_ub=b, bounds=[*bounds, (0, None)])
    return (found.x[:-1], float(found.x[-1])) if found.status == 0 else None


def binary_program(cost: Any, constraints: Any, seconds: float) -> Any:
    """argmin cost·x of zeros and ones subject to G x ≥ lower, ``constraints = (G, lower)``, as ``milp`` answers."""
    return _milp(cost, constraints, [1] * len(cost), (0, 1), time_limit=seconds)


def mixed_program(cost: Any, constraints: Any, integrality: Any, bounds: Any, seconds: float) -> Any:
    """argmin cost·x subject to G x ≥ lower, some of x whole numbers, as ``scipy.optimize.milp`` answers."""
    options = {"time_limit": seconds, "mip_abs_gap": 0.0, "mip_feasibility_tolerance": TOLERANCE}
    program = (cost, constraints, integrality, bounds), options
    try:
        done = subprocess.run(
            [sys.executable, "-P", __file__, json.dumps(sys.path)],
            input=pickle.dumps(program),
            capture_output=True,
            check=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.SubprocessError):  # no processes here (a browser, say): HiGHS may print its line
        return _solve(program)
    return pickle.loads(done.stdout)  # of our own process


def _solve(program: Any) -> Any:
    parts, options = program
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of options that SciPy hands to HiGHS unseen
        return _milp(*parts, **options)


def _milp(cost: Any, constraints: Any, integrality: Any, bounds: Any, **options: Any) -> Any:
    from scipy.optimize import Bounds, LinearConstraint, milp

    return milp(
        cost,
        constraints=LinearConstraint(*constraints),
        integrality=integrality,
        bounds=Bounds(*bounds),
        options={**QUIET, "mip_rel_gap": 0.0, **options},
    )


def _serve() -> None:
    """Read a program from standard input and write its answer to standard output, which HiGHS does not get."""
    answer = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.path[:] = json.loads(sys.argv[1])  # where to find NumPy and SciPy
    found = _solve(pickle.load(sys.stdin.buffer))
    with os.fdopen(answer, "wb") as out:
        pickle.dump(found, out)


if __name__ == "__main__":
    _serve()
