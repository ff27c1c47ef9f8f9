"""The commands and their options, with the standard library's parser: it is always there and starts at once."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
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


def _whole(least: int) -> Callable[[str], int]:
    """How an option's whole number is read."""

    def read(text: str) -> int:
        if not text.lstrip("+-").isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} on")
        return int(text)

    return read


Option = tuple[tuple[str, ...], dict[str, Any]]


def _option(*flags: str, **settings: Any) -> Option:
    return flags, settings


MODEL = _option("model", metavar="MODEL")
ROWS = _option("data", metavar="DATA", help=DATA)
SHARED = [
    _option("--json", action="store_true", help="the result as JSON on the standard output"),
    _option("--quiet", "-q", action="store_true", help="no notes on the standard error"),
]
READING = [
    _option("--no-header", action="store_true", help="the first line of a CSV file is data"),
    _option("--encoding", metavar="NAME", default="", help="of a text file that is not UTF-8, such as latin1"),
]
TRAINING = [
    ROWS,
    _option("--target", "-t", metavar="COL", help="the column that holds the label"),
    _option("--drop", metavar="COLS", default="", help="columns to leave out, separated by commas"),
    _option("--categorical", metavar="COLS", default="", help="columns of numbers that are categories"),
    *READING,
    _option("--na", metavar="VALUES", default="", help="values that mean missing: --na=-999,unknown; remembered"),
    _option("--dates", metavar="COLS", default="",
            help="columns of dates to learn from, as days since 1970; all: every one"),
    _option("--as-classes", action="store_true", help="take the target's values as classes, however many"),
]  # fmt: skip
COSTS = _option("--cost", action="append", default=[], metavar="IS:DECIDED=COST", dest="costs",
                help="the cost of deciding one class where another is (1 if not given); repeatable")  # fmt: skip
REPORT = {"metavar": "FILE.html", "help": "where to write the report"}
COMMANDS: dict[str, tuple[str, list[Option]]] = {
    "fit": ("learn a classifier from a table, and say how good it is", [
        *TRAINING,
        _option("--model", "-m", choices=METHODS, default="auto", metavar="NAME",
                help=f"one of {', '.join(METHODS)} (default: auto, which compares and chooses)"),
        _option("--set", action="append", default=[], metavar="NAME=VALUE", dest="parameters",
                help="a parameter of the method, such as C=0.1; may be repeated"),
        _option("--weights", metavar="COL", default="", help="a column of numbers that says how much each row counts"),
        _option("--offset", metavar="COL", default="",
                help="a column of known parts of the log odds (logistic, two classes)"),
        _option("--models", metavar="NAMES", default="", help="what auto compares, separated by commas"),
        _option("--cv", type=_whole(0), metavar="FOLDS", help="folds of the cross-validation; 0: none"),
        _option("--seed", type=_whole(0), default=0, help="of the shuffle before the folds are cut (default 0)"),
        _option("--out", "-o", metavar="FILE", help="where to write the model"),
        _option("--report", **REPORT | {"help": f"{REPORT['help']}, one page that needs nothing else"}),
        _option("--script", metavar="FILE.py", help="where to write the Python that does the same"),
        COSTS, *SHARED,
    ]),
    "predict": ("classes (and probabilities) for the rows of a table", [
        MODEL,
        _option("data", metavar="DATA", nargs="?", default="-", help=f"{DATA} (default: -)"),
        _option("--out", "-o", metavar="FILE", default="-", help="CSV, also .gz, or .parquet (default: -)"),
        _option("--proba", "-p", action="store_true", help="a column with the probability of each class"),
        _option("--keep", metavar="COLS", default="", help="columns of DATA to write too; all: every one"),
        *READING, COSTS, *SHARED,
    ]),
    "evaluate": ("how good a model is on a table with labels", [
        MODEL, ROWS,
        _option("--target", "-t", metavar="COL", help="the label's column, where it is not called as at the fit"),
        _option("--fail-under", action="append", default=[], metavar="NAME=VALUE",
                help="exit status 1 if not reached: accuracy=0.9, recall:CLASS=0.8, log_loss=0.3"),
        _option("--report", **REPORT),
        *READING, COSTS, *SHARED,
    ]),
    "summary": ("what a model file holds: method, columns, weights, errors", [
        MODEL,
        _option("--all", action="store_true", help="every weight, not the largest only"),
        _option("--data", metavar="DATA", help="the training table: adds standard errors, where the method has them"),
        *READING, *SHARED,
    ]),
    "separable": ("can a hyperplane tell the classes apart? the verdict, with its proof", [*TRAINING, *SHARED]),
    "export": ("a model as SQL, C, ONNX or JSON, tried in the real engine first", [
        MODEL,
        _option("--to", required=True, choices=("sql", "c", "onnx", "json"), help="the form"),
        _option("--out", "-o", metavar="FILE", default="-", help="where to (default: -)"),
        _option("--dialect", default="duckdb", choices=("duckdb", "sqlite", "postgresql", "bigquery", "tsql")),
        _option("--table", default="data", help="the table that the SQL reads (default: data)"),
        *SHARED,
    ]),
    "figures": ("the books' figures as files, drawn from the library's own fits", [
        _option("names", metavar="NAME", nargs="*", help="which, by name or number such as 4.7 (default: all)"),
        _option("--list", "-l", action="store_true", help="the names, and what each figure claims"),
        _option("--out", "-o", metavar="DIR", default="figures", help="the folder to write to (default: figures)"),
        _option("--format", "-f", choices=("png", "svg", "pdf"), default="png", help="default: png"),
        _option("--dpi", type=_whole(1), default=130, help="points per inch of a PNG (default 130)"),
        *SHARED,
    ]),
    "play": ("a page in the browser: draw points, watch the methods learn, see the proof", [
        _option("--port", type=_whole(0), default=0, help="the port on 127.0.0.1 (default 0: any that is free)"),
        _option("--no-browser", action="store_true", help="print the address and open nothing"),
        _option("--link", default="", metavar="ADDRESS", help="open the drawing of an address that was shared"),
        _option("--data", default="pair", metavar="NAME", help="the first set of points, such as xor, star, rings"),
        _option("--quiet", "-q", action="store_true", help="nothing but the address"),
    ]),
    "completion": ("a script that completes commands and options in your shell", [
        _option("shell", choices=("bash", "zsh", "fish")),
    ]),
}  # fmt: skip


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=30, width=108)


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
    for name, (text, settings) in COMMANDS.items():
        sentence = text[:1].upper() + text[1:] + "."
        one = commands.add_parser(name, help=text, description=sentence, formatter_class=_formatter)
        for flags, settled in settings:
            one.add_argument(*flags, **settled)
    return top


def options() -> dict[str, list[str]]:
    """The options of each command, for completion."""
    return {
        name: sorted(["--help", *(flag for flags, _ in settings for flag in flags if flag.startswith("--"))])
        for name, (_, settings) in COMMANDS.items()
    }
