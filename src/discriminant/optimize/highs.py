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
    """argmin cost·x of zeros and ones, as ``scipy.optimize.milp`` answers."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    return milp(
        cost,
        constraints=LinearConstraint(*constraints),
        integrality=np.ones(len(cost)),
        bounds=Bounds(0, 1),
        options={**QUIET, "time_limit": seconds, "mip_rel_gap": 0.0},
    )


def mixed_program(cost: Any, constraints: Any, integrality: Any, bounds: Any, seconds: float) -> dict[str, Any]:
    """argmin cost·x subject to G x ≥ lower, ``constraints = (G, lower)``: "x" (or None), proved "bound", "solved"."""
    program = cost, constraints, integrality, bounds, seconds
    try:
        done = subprocess.run(
            [sys.executable, "-P", __file__, json.dumps(sys.path)],
            input=pickle.dumps(program),
            capture_output=True,
            check=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.SubprocessError):  # no processes here (a browser, say): HiGHS may print its line
        with warnings.catch_warnings():
            return _solve(*program)
    return pickle.loads(done.stdout)  # type: ignore[no-any-return]


def _solve(cost: Any, constraints: Any, integrality: Any, bounds: Any, seconds: float) -> dict[str, Any]:
    from scipy.optimize import Bounds, LinearConstraint, milp

    warnings.simplefilter("ignore")  # of options that SciPy hands to HiGHS unseen
    found = milp(
        cost,
        constraints=LinearConstraint(*constraints),
        integrality=integrality,
        bounds=Bounds(*bounds),
        options={
            **QUIET, "time_limit": seconds, "mip_rel_gap": 0.0, "mip_abs_gap": 0.0,
            "mip_feasibility_tolerance": TOLERANCE,
        },
    )  # fmt: skip
    bound = -float("inf") if found.mip_dual_bound is None else found.mip_dual_bound
    return {"x": found.x, "bound": bound, "solved": found.status == 0}


def _serve() -> None:
    """Read a program from standard input and write its answer to standard output, which HiGHS does not get."""
    answer = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.path[:] = json.loads(sys.argv[1])  # where to find NumPy and SciPy
    found = _solve(*pickle.load(sys.stdin.buffer))
    with os.fdopen(answer, "wb") as out:
        pickle.dump(found, out)


if __name__ == "__main__":
    _serve()
