"""Small wrong changes to a module: another comparison, sign, constant, connective, condition or return value.

A mutant is a place in the syntax tree and a change there.  Texts (messages, docstrings), annotations and decorators are
left as they are: what they say is for other tests.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
Change = Callable[[ast.AST], None]


@dataclass(frozen=True)
class Mutant:
    """One change: where it is (the node's number in ``walk``), what it was and what it becomes."""

    number: int  # of the node
    which: int  # of the changes of that node
    line: int
    first: int  # lines of the statement around it, by which tests are chosen
    last: int
    function: str  # dotted name of the function or class around it; "" is the module
    level: str  # "body" of a function, its "default" values, or an "assignment" of a class or module
    before: str
    after: str

    @property
    def text(self) -> str:
        return f"{self.before} → {self.after}"


def changes(node: ast.AST) -> list[Change]:
    """What may be wrong at a node."""
    if isinstance(node, ast.Compare):
        return [
            lambda n, i=i, other=other: n.ops.__setitem__(i, other())  # type: ignore[attr-defined]
            for i, op in enumerate(node.ops)
            for other in COMPARE[type(op)]
        ]
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC:
        if isinstance(node.op, ast.Mod) and isinstance(
            node.left if isinstance(node, ast.BinOp) else None, ast.Constant
        ):
            return []
        return [lambda n: setattr(n, "op", ARITHMETIC[type(n.op)]())]  # type: ignore[attr-defined]
    if isinstance(node, ast.BoolOp):
        return [lambda n: setattr(n, "op", ast.Or() if isinstance(n.op, ast.And) else ast.And())]  # type: ignore[attr-defined]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [lambda n: setattr(n, "op", ast.UAdd())]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [lambda n: setattr(n, "operand", _not(n.operand))]  # type: ignore[attr-defined]
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return [lambda n: setattr(n, "value", not n.value)]  # type: ignore[attr-defined]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return [lambda n: setattr(n, "value", n.value + 1)]  # type: ignore[attr-defined]
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        # The names in the value stay in the code, since closures must keep their free variables.
        return [lambda n: setattr(n, "value", _nothing(n.value))]  # type: ignore[attr-defined]
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(
        node.test, ast.Compare | ast.BoolOp | ast.Constant
    ):
        return [] if isinstance(node.test, ast.UnaryOp) else [lambda n: setattr(n, "test", _not(n.test))]  # type: ignore[attr-defined]
    return []


def _not(value: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), value), value)


def _nothing(value: ast.expr) -> ast.expr:
    pair = ast.Tuple([value, ast.Constant(None)], ast.Load())
    return ast.copy_location(ast.Subscript(pair, ast.Constant(1), ast.Load()), value)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


Place = tuple[ast.AST, ast.stmt | None, str, str]


def walk(tree: ast.Module) -> Iterator[Place]:
    """Nodes that may change, in a fixed order: (node, statement, function, level)."""
    for statement in tree.body:
        yield from _walk(statement, None, "", "assignment")


def _walk(node: ast.AST, statement: ast.stmt | None, name: str, level: str) -> Iterator[Place]:
    if isinstance(node, ast.stmt):
        statement = node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        inner = f"{name}.{node.name}".lstrip(".")
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                # The default of a function inside another is made anew by the outer one's code.
                yield from _walk(default, statement, inner if level == "assignment" else name,
                                 "default" if level == "assignment" else level)  # fmt: skip
        for child in node.body:
            yield from _walk(child, statement, inner if level == "assignment" else name, "body")
        return
    if isinstance(node, ast.ClassDef):
        for child in node.body:
            yield from _walk(child, statement, f"{name}.{node.name}".lstrip("."), level)
        return
    if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr):
        return
    if level == "assignment" and isinstance(node, ast.stmt):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None or _target(node) == "__all__":
            return
        yield from _walk(node.value, statement, name, level)
        return
    if isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield from _walk(node.value, statement, name, level)
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.Call) and _called(node) in ("warn", "Field", "metadata", "cast"):
        return
    yield node, statement, name, level
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, statement, name, level)


def _called(node: ast.Call) -> str:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _target(node: ast.Assign | ast.AnnAssign) -> str:
    target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
    return getattr(target, "id", "")


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a module."""
    found = []
    for number, (node, statement, name, level) in enumerate(walk(ast.parse(source))):
        for which, change in enumerate(changes(node)):
            other = copy.deepcopy(node)
            change(other)
            first, last = _lines(statement, node)
            found.append(
                Mutant(
                    number, which, getattr(node, "lineno", first), first, last, name, level, _show(node), _show(other)
                )
            )
    return found


def _lines(statement: ast.stmt | None, node: ast.AST) -> tuple[int, int]:
    """Those of a statement, of its head only where it has a body."""
    assert statement is not None
    last = statement.end_lineno or statement.lineno
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body:
        last = max(getattr(node, "end_lineno", statement.lineno), statement.lineno)
    return statement.lineno, last


def _show(node: ast.AST) -> str:
    if isinstance(node, ast.If | ast.While):
        return f"{'if' if isinstance(node, ast.If) else 'while'} {ast.unparse(node.test)}"
    text = " ".join(ast.unparse(node).split())
    return "return None" if text.startswith("return (") and text.endswith(", None)[1]") else text


def mutated(source: str, mutant: Mutant) -> tuple[ast.Module, ast.stmt]:
    """The tree with the change, and the statement that holds it."""
    tree = ast.parse(source)
    for number, (node, statement, _, _) in enumerate(walk(tree)):
        if number == mutant.number:
            changes(node)[mutant.which](node)
            assert statement is not None
            return ast.fix_missing_locations(tree), statement
    raise LookupError(mutant)
