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
    import numpy as np
    from scipy.sparse import csr_array

    matrix, lower = constraints
    rows = csr_array(matrix)
    sent = io.BytesIO()
    np.savez(
        sent,
        cost=cost,
        data=rows.data,
        indices=rows.indices,
        indptr=rows.indptr,
        lower=np.broadcast_to(lower, rows.shape[:1]),
        integrality=integrality,
        least=np.broadcast_to(bounds[0], len(cost)),
        most=np.broadcast_to(bounds[1], len(cost)),
        seconds=seconds,
    )
    try:
        done = subprocess.run(
            [sys.executable, "-P", __file__, json.dumps(sys.path)],
            input=sent.getvalue(),
            capture_output=True,
            check=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.SubprocessError):  # no processes here (a browser, say): HiGHS may print its line
        with warnings.catch_warnings():
            return _solve(cost, constraints, integrality, bounds, seconds)
    with np.load(io.BytesIO(done.stdout), allow_pickle=False) as answer:
        x = answer["x"]
        return {"x": x if len(x) else None, "bound": float(answer["bound"]), "solved": bool(answer["solved"])}


def _solve(cost: Any, constraints: Any, integrality: Any, bounds: Any, seconds: float) -> dict[str, Any]:
    from scipy.optimize import Bounds, LinearConstraint, milp

    warnings.simplefilter("ignore")  # of options that SciPy hands to HiGHS unseen
    found = milp(
        cost,
        constraints=LinearConstraint(*constraints),
        integrality=integrality,
        bounds=Bounds(*bounds),
        options={
            **QUIET,
            "time_limit": seconds,
            "mip_rel_gap": 0.0,
            "mip_abs_gap": 0.0,
            "mip_feasibility_tolerance": TOLERANCE,
        },
    )
    bound = -float("inf") if found.mip_dual_bound is None else found.mip_dual_bound
    return {"x": found.x, "bound": bound, "solved": found.status == 0}


def _serve() -> None:
    """Read a program from standard input and write its answer to standard output, which HiGHS does not get."""
    answer = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.path[:] = json.loads(sys.argv[1])  # where to find NumPy and SciPy
    import numpy as np
    from scipy.sparse import csr_array

    with np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False) as sent:
        shape = (len(sent["lower"]), len(sent["cost"]))
        matrix = csr_array((sent["data"], sent["indices"], sent["indptr"]), shape=shape)
        found = _solve(
            sent["cost"],
            (matrix, sent["lower"]),
            sent["integrality"],
            (sent["least"], sent["most"]),
            float(sent["seconds"]),
        )
    x = [] if found["x"] is None else found["x"]
    with os.fdopen(answer, "wb") as out:
        np.savez(out, x=x, bound=found["bound"], solved=found["solved"])


if __name__ == "__main__":
    _serve()
