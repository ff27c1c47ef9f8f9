"""Contenders that start in a fresh process: the interpreter's start, the imports and the first fit are all timed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import numpy as np

from benchmarks.contract import Answer, Data, Prepared

# All scripts read the same small files with NumPy, so that no contender pays for a data set loader.
READ = "import numpy as np; X, y = np.load({path!r} + '/../X.npy'), np.load({path!r} + '/../y.npy')\n"
FIT = "{imports}\nmodel = Model().fit(X, y)\n"
SHOW = "import json; print(json.dumps(model.predict_proba(X).tolist()))\n"


def python(script: str) -> str:
    """What the script prints, run by this interpreter in a process of its own."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no message").splitlines()[-1])
    return done.stdout


def fresh_process(imports: str) -> Callable[[Data], Prepared]:
    """A builder that times ``imports`` (which must name a ``Model``) and ``Model().fit(X, y)`` in a new interpreter."""

    def build(data: Data) -> Prepared:
        script = READ.format(path=data.path) + FIT.format(imports=imports)

        def answer(_: object) -> Answer:
            return {"posterior": np.array(json.loads(python(script + SHOW)))}

        return Prepared(lambda: python(script), answer)

    return build
