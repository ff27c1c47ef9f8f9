"""The command ``discriminant``: fit, predict, evaluate, summary, separable, export, figures, play.

Everything is loaded when it is needed: ``--help`` loads nothing but the standard library, and a linear discriminant or
a logistic regression is fitted through the core, without scikit-learn.  Results go to the standard output, words to
the standard error; an error is one sentence.  Exit status: 0 done, 1 a required quality was not reached, 2 the command
or the data cannot be used, 70 a fault of this program, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
from argparse import Namespace
from collections.abc import Sequence

FAULTS = (ArithmeticError, AttributeError, LookupError, NotImplementedError, RuntimeError, TypeError, ValueError)
DONE, NOT_REACHED, REFUSED, FAULT, INTERRUPTED = 0, 1, 2, 70, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, with the program's own arguments where none are given; its exit status."""
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


def _run(given: Namespace) -> int:
    from discriminant.errors import DiscriminantError

    command = str(given.command)
    try:
        status: int = importlib.import_module(f"discriminant.cli.{command}").run(given)
    except BrokenPipeError:
        raise
    except (DiscriminantError, OSError, ImportError) as error:
        return _fail(_sentence(error), REFUSED)
    except MemoryError:
        return _fail("There is not enough memory for this table.", REFUSED)
    except FAULTS as e:
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
