"""The one caller of HiGHS, SciPy's solver of linear and mixed-integer programs; nothing that it prints is seen.

Linear programs, and programs whose unknowns are all yes or no, print nothing.  Where some unknowns are numbers, HiGHS
1.12 (of SciPy 1.17) repairs solutions that rounding left outside their constraints, and prints a line for each which no
option turns off.  Such a program is therefore solved by a process of its own, whose output goes nowhere: no other
thread's output is touched, and Ctrl-C ends it.  There HiGHS can also be asked for finer tolerances than SciPy offers,
without which whole rows pass for an error of 1e-6.  Its start takes half a second.
"""

from __future__ import annotations

import io
import json
import os
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
    return _milp(cost, constraints, [1] * len(cost), (0, 1), seconds)


def mixed_program(cost: Any, constraints: Any, integrality: Any, bounds: Any, seconds: float) -> dict[str, Any]:
    """argmin cost·x with G x ≥ lower and some of x whole: "x" (empty: none was found), proved "bound", "solved"."""
    import numpy as np
    from scipy.sparse import csr_array

    rows = csr_array(constraints[0])
    program = {"cost": cost, "data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "lower": constraints[1],
               "integrality": integrality, "least": bounds[0], "most": bounds[1], "seconds": seconds}  # fmt: skip
    sent = io.BytesIO()
    np.savez(sent, **program)
    try:
        done = subprocess.run(
            [sys.executable, "-P", __file__, json.dumps(sys.path)],
            input=sent.getvalue(),
            capture_output=True,
            check=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.SubprocessError):  # no processes here (a browser, say): HiGHS may print its line
        return _solve(**program)
    return dict(np.load(io.BytesIO(done.stdout), allow_pickle=False))


def _solve(
    cost: Any, data: Any, indices: Any, indptr: Any, lower: Any, integrality: Any, least: Any, most: Any, seconds: Any
) -> dict[str, Any]:
    from scipy.sparse import csr_array

    G = csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(cost)))
    options = {"mip_abs_gap": 0.0, "mip_feasibility_tolerance": TOLERANCE}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of options that SciPy hands to HiGHS unseen
        found = _milp(cost, (G, lower), integrality, (least, most), float(seconds), **options)
    bound = -float("inf") if found.mip_dual_bound is None else found.mip_dual_bound
    return {"x": [] if found.x is None else found.x, "bound": bound, "solved": found.status == 0}


def _milp(cost: Any, constraints: Any, integrality: Any, bounds: Any, seconds: float, **options: float) -> Any:
    from scipy.optimize import Bounds, LinearConstraint, milp

    return milp(
        cost,
        constraints=LinearConstraint(*constraints),
        integrality=integrality,
        bounds=Bounds(*bounds),
        options={**QUIET, "time_limit": seconds, "mip_rel_gap": 0.0, **options},
    )


def _serve() -> None:
    """Read a program from standard input and write its answer to standard output, which HiGHS does not get."""
    answer = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.path[:] = json.loads(sys.argv[1])  # where to find NumPy and SciPy
    import numpy as np

    found = _solve(**np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False))
    with os.fdopen(answer, "wb") as out:
        np.savez(out, **found)


if __name__ == "__main__":
    _serve()
