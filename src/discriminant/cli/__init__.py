"""The command ``discriminant``: fit, predict, evaluate, summary, separable, export, figures, play.

Everything is loaded when it is needed: ``--help`` loads nothing but the standard library, and a linear discriminant or
a logistic regression is fitted through the core, without scikit-learn.  Results go to the standard output, words to
the standard error; an error is one sentence.  Exit status: 0 done, 1 a required quality was not reached, 2 the command
or the data cannot be used, 70 a fault of this program, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
DONE, NOT_REACHED, REFUSED, FAULT, INTERRUPTED = 0, 1, 2, 70, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and hand back its exit status; as the program itself (no arguments given), end with it."""
    if arguments is None:
        _hold_blas()
        _hurry()
    status = _main(sys.argv[1:] if arguments is None else list(arguments))
    if arguments is None and not os.environ.get("DISCRIMINANT_TRACEBACK"):
        # The system frees a table at once, the interpreter piece by piece: a tenth of the time of a large fit.
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    return status


def _hold_blas() -> None:
    """Leave the cores to our own threads, which hold BLAS to one each: its own take a tenth of a second to start."""
    if not any(name in os.environ for name in (*BLAS_THREADS, "OMP_NUM_THREADS", "DISCRIMINANT_NUM_THREADS")):
        os.environ.update(dict.fromkeys((*BLAS_THREADS, "DISCRIMINANT_HOLDS_BLAS"), "1"))


def _hurry() -> None:
    """Settings for a process that loads much, computes once and ends."""
    gc.set_threshold(100_000, 20, 100)  # modules are no garbage; to walk over them while they load takes a while
    sys.setswitchinterval(0.0005)  # a thread that reads needs the interpreter often, and for a moment only


def _main(arguments: Sequence[str]) -> int:
    from discriminant.cli.arguments import parser

    given = parser().parse_args(arguments)
    if not given.command:
        parser().print_help()
        return REFUSED
    try:
        return _run(given)
    except KeyboardInterrupt:
        return _fail("Interrupted; nothing was written.", INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away, as in "| head"; that is its right.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


def _run(given: Any) -> int:
    from discriminant.cli.ahead import read_ahead

    read_ahead(given)
    from discriminant.errors import DiscriminantError  # after the file, since it loads NumPy

    command = str(given.command)
    try:
        status: int = importlib.import_module(f"discriminant.cli.{command}").run(given)
    except BrokenPipeError:
        raise
    except (DiscriminantError, OSError, ImportError) as error:
        return _fail(_sentence(error), REFUSED)
    except MemoryError:
        return _fail("There is not enough memory for this table.", REFUSED)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        NotImplementedError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as e:
        if os.environ.get("DISCRIMINANT_TRACEBACK"):
            raise
        said = f"{type(e).__name__}: {_sentence(e)}"
        return _fail(f"A fault of this program: {said} (DISCRIMINANT_TRACEBACK=1 shows where).", FAULT)
    sys.stdout.flush()
    return status


def _sentence(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _fail(sentence: str, status: int) -> int:
    from discriminant.errors import printable

    print(f"discriminant: {printable(sentence)}", file=sys.stderr)
    return status
