"""The commands and their options, with the standard library's parser: it is always there and starts at once."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

DATA = (
    "a CSV or TSV file (also gzipped), JSON, Excel, Parquet, Arrow or libsvm; - for the standard input; "
    "or iris, penguins, breast_cancer"
)
METHODS = (
    "auto", "lda", "lda-shrunk", "qda", "qda-pooled", "logistic", "fisher", "least-squares", "perceptron", "adaline",
    "svm", "sigmoid", "machine", "linear-program", "minimum-error", "exponential-family",
)  # fmt: skip
EXAMPLES = """
first steps:
  discriminant fit penguins                           which method tells the penguins apart, and how well
  discriminant fit data.csv --target label --out model.disc --report report.html
  discriminant predict model.disc new.csv --proba > answers.csv
  discriminant evaluate model.disc test.csv --fail-under accuracy=0.9
  discriminant separable data.csv --target label      can a hyperplane tell the classes apart? with proof
"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, and which knows what was probably meant."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {_friendly(message)} See {self.prog} --help.", file=sys.stderr)
        sys.exit(2)


def _friendly(message: str) -> str:
    """The parser's complaint as a sentence, with the nearest choice where there is one."""
    if "invalid choice" in message:
        given = message.partition("invalid choice: ")[2].partition(" (")[0].strip("'\"")
        listed = message.partition("choose from ")[2].rstrip(")").replace("'", "").split(", ")
        what = "command" if "command" in message.partition(":")[0] else message.partition(":")[0].split("/")[0]
        import difflib

        near = difflib.get_close_matches(given, listed, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"choose among {', '.join(listed)}."
        return f"{given!r} is no {what.removeprefix('argument ').strip()}; {hint}"
    return message[:1].upper() + message[1:] + "."


class _Version(argparse.Action):
    """Print one line and end; the kernels are looked for only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from discriminant.versions import one_line

        print(one_line())
        parser.exit()


@functools.cache
def parser() -> Parser:
    """The whole command line."""
    top = Parser(
        prog="discriminant", description="Linear classifiers from the shell: fit, explain, prove, predict.",
        epilog=EXAMPLES, formatter_class=_formatter,
    )  # fmt: skip
    top.add_argument(
        "--version", action=_Version, nargs=0, help="print the version, and whether the kernels are compiled"
    )
    commands = top.add_subparsers(dest="command", metavar="command", parser_class=Parser)
    _fit(commands)
    _predict(commands)
    _evaluate(commands)
    one = _command(commands, "summary", "what a model file holds: method, columns, weights, errors")
    one.add_argument("model", metavar="MODEL")
    one.add_argument("--all", action="store_true", help="every weight, not the largest only")
    one.add_argument(
        "--data", metavar="DATA", help="the training table: adds standard errors, where the method has them"
    )
    _reading(one)
    _shared(one)
    one = _command(commands, "separable", "can a hyperplane tell the classes apart? the verdict, with its proof")
    _data(one)
    _shared(one)
    _export(commands)
    _figures(commands)
    _play(commands)
    one = _command(commands, "completion", "a script that completes commands and options in your shell")
    one.add_argument("shell", choices=("bash", "zsh", "fish"))
    return top


def _command(commands: argparse._SubParsersAction[Parser], name: str, text: str) -> Parser:
    return commands.add_parser(
        name, help=text, description=text[:1].upper() + text[1:] + ".", formatter_class=_formatter
    )


def _whole(least: int) -> Callable[[str], int]:
    """How an option's whole number is read."""

    def read(text: str) -> int:
        if not text.lstrip("+-").isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return int(text)

    return read


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=30, width=108)


def _shared(one: Parser) -> None:
    one.add_argument("--json", action="store_true", help="the result as JSON on the standard output")
    one.add_argument("--quiet", "-q", action="store_true", help="no notes on the standard error")


def _reading(one: Parser) -> None:
    one.add_argument("--no-header", action="store_true", help="the first line of a CSV file is data")
    one.add_argument("--encoding", metavar="NAME", default="", help="of a text file that is not UTF-8, such as latin1")


def _data(one: Parser) -> None:
    one.add_argument("data", metavar="DATA", help=DATA)
    one.add_argument("--target", "-t", metavar="COL", help="the column that holds the label")
    one.add_argument("--drop", metavar="COLS", default="", help="columns to leave out, separated by commas")
    one.add_argument("--categorical", metavar="COLS", default="", help="columns of numbers that are categories")
    _reading(one)
    one.add_argument(
        "--na", metavar="VALUES", default="", help="values that mean missing: --na=-999,unknown; remembered"
    )
    one.add_argument(
        "--dates", metavar="COLS", default="", help="columns of dates to learn from, as days since 1970; all: every one"
    )
    one.add_argument("--as-classes", action="store_true", help="take the target's values as classes, however many")


def _fit(commands: argparse._SubParsersAction[Parser]) -> None:
    one = _command(commands, "fit", "learn a classifier from a table, and say how good it is")
    _data(one)
    one.add_argument("--model", "-m", choices=METHODS, default="auto", metavar="NAME",
                     help=f"one of {', '.join(METHODS)} (default: auto, which compares and chooses)")  # fmt: skip
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="parameters",
                     help="a parameter of the method, such as C=0.1; may be repeated")  # fmt: skip
    one.add_argument(
        "--weights", metavar="COL", default="", help="a column of numbers that says how much each row counts"
    )
    one.add_argument(
        "--offset", metavar="COL", default="", help="a column of known parts of the log odds (logistic, two classes)"
    )
    one.add_argument("--models", metavar="NAMES", default="", help="what auto compares, separated by commas")
    one.add_argument("--cv", type=_whole(0), metavar="FOLDS", help="folds of the cross-validation; 0: none")
    one.add_argument("--seed", type=_whole(0), default=0, help="of the shuffle before the folds are cut (default 0)")
    one.add_argument("--out", "-o", metavar="FILE", help="where to write the model")
    one.add_argument(
        "--report", metavar="FILE.html", help="where to write the report, one page that needs nothing else"
    )
    one.add_argument("--script", metavar="FILE.py", help="where to write the Python that does the same")
    _costs(one)
    _shared(one)


def _costs(one: Parser) -> None:
    one.add_argument("--cost", action="append", default=[], metavar="IS:DECIDED=COST", dest="costs",
                     help="the cost of deciding one class where another is (1 if not given); repeatable")  # fmt: skip


def _predict(commands: argparse._SubParsersAction[Parser]) -> None:
    one = _command(commands, "predict", "classes (and probabilities) for the rows of a table")
    one.add_argument("model", metavar="MODEL")
    one.add_argument("data", metavar="DATA", nargs="?", default="-", help=f"{DATA} (default: -)")
    one.add_argument("--out", "-o", metavar="FILE", default="-", help="CSV, also .gz, or .parquet (default: -)")
    one.add_argument("--proba", "-p", action="store_true", help="a column with the probability of each class")
    one.add_argument("--keep", metavar="COLS", default="", help="columns of DATA to write too; all: every one")
    _reading(one)
    _costs(one)
    _shared(one)


def _evaluate(commands: argparse._SubParsersAction[Parser]) -> None:
    one = _command(commands, "evaluate", "how good a model is on a table with labels")
    one.add_argument("model", metavar="MODEL")
    one.add_argument("data", metavar="DATA", help=DATA)
    one.add_argument("--target", "-t", metavar="COL", help="the label's column, where it is not called as at the fit")
    one.add_argument("--fail-under", action="append", default=[], metavar="NAME=VALUE",
                     help="exit status 1 if not reached: accuracy=0.9, recall:CLASS=0.8, log_loss=0.3")  # fmt: skip
    one.add_argument("--report", metavar="FILE.html", help="where to write the report")
    _reading(one)
    _costs(one)
    _shared(one)


def _export(commands: argparse._SubParsersAction[Parser]) -> None:
    one = _command(commands, "export", "a model as SQL, C, ONNX or JSON, tried in the real engine first")
    one.add_argument("model", metavar="MODEL")
    one.add_argument("--to", required=True, choices=("sql", "c", "onnx", "json"), help="the form")
    one.add_argument("--out", "-o", metavar="FILE", default="-", help="where to (default: -)")
    one.add_argument("--dialect", default="duckdb", choices=("duckdb", "sqlite", "postgresql", "bigquery", "tsql"))
    one.add_argument("--table", default="data", help="the table that the SQL reads (default: data)")
    _shared(one)


def _figures(commands: argparse._SubParsersAction[Parser]) -> None:
    one = _command(commands, "figures", "the books' figures as files, drawn from the library's own fits")
    one.add_argument("names", metavar="NAME", nargs="*", help="which, by name or number such as 4.7 (default: all)")
    one.add_argument("--list", "-l", action="store_true", help="the names, and what each figure claims")
    one.add_argument("--out", "-o", metavar="DIR", default="figures", help="the folder to write to (default: figures)")
    one.add_argument("--format", "-f", choices=("png", "svg", "pdf"), default="png", help="default: png")
    one.add_argument("--dpi", type=_whole(1), default=130, help="points per inch of a PNG (default 130)")
    _shared(one)


def _play(commands: argparse._SubParsersAction[Parser]) -> None:
    one = _command(commands, "play", "a page in the browser: draw points, watch the methods learn, see the proof")
    one.add_argument("--port", type=_whole(0), default=0, help="the port on 127.0.0.1 (default 0: any that is free)")
    one.add_argument("--no-browser", action="store_true", help="print the address and open nothing")
    one.add_argument("--link", default="", metavar="ADDRESS", help="open the drawing of an address that was shared")
    one.add_argument("--data", default="pair", metavar="NAME", help="the first set of points, such as xor, star, rings")
    one.add_argument("--quiet", "-q", action="store_true", help="nothing but the address")


def options() -> dict[str, list[str]]:
    """The options of each command, for completion."""
    found: dict[str, list[str]] = {}
    for action in parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            found = {name: sorted(_strings(one)) for name, one in action.choices.items()}
    return found


def _strings(one: argparse.ArgumentParser) -> Iterable[str]:
    return (text for action in one._actions for text in action.option_strings if text.startswith("--"))
