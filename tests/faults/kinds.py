"""Kinds of faults: what each makes of an expression. A fault is of a function and an expression in it, of no line."""

import ast
import re
from collections.abc import Callable, Iterator

OWN = {"max", "min", "maximum", "minimum", "isinstance", "issubclass", "getattr", "zip"}
ROLE = {"train": "vali", "vali": "test", "test": "train", "validation": "train"}
CHECK = re.compile(r"_?(check|refuse|require|demand)")
TEXTS = (ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.ListComp)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, TEXTS) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _compared(node: ast.expr, others: dict[type, str]) -> Iterator[str]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in others:
            yield f"{ast.unparse(left)} {others[type(op)]} {ast.unparse(right)}"


def sign(node: ast.expr, parent: ast.AST) -> Iterator[str]:
    """Plus for minus, a lost minus, a comparison the other way round."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if not _is_text(left) | _is_text(right):
            yield ast.unparse(ast.BinOp(left, ast.Sub() if isinstance(op, ast.Add) else ast.Add(), right))
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield ast.unparse(operand)
    yield from _compared(node, {ast.Lt: ">", ast.LtE: ">=", ast.Gt: "<", ast.GtE: "<="})


def off_by_one(node: ast.expr, parent: ast.AST) -> Iterator[str]:
    """A strict comparison for the other, a bound of a slice or range, a lost 1."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant(value=1)):
            yield ast.unparse(left)
        case ast.Call(func=ast.Name("range"), args=[end]):
            yield f"range({ast.unparse(end)} - 1)"
        case ast.Call(func=ast.Name("range"), args=[start, end, *step]):
            yield f"range({', '.join([ast.unparse(start), ast.unparse(end) + ' - 1', *map(ast.unparse, step)])})"
        case ast.Subscript(value=value, slice=ast.Slice(lower=ast.Constant(value=int() as n), upper=end, step=None)):
            yield f"{ast.unparse(value)}[{n + 1}:{ast.unparse(end) if end else ''}]"
    yield from _compared(node, {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"})


def swapped_argument(node: ast.expr, parent: ast.AST) -> Iterator[str]:
    """Two neighbouring arguments the other way round."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] not in OWN:
        for i, (a, b) in enumerate(zip(node.args, node.args[1:], strict=False)):
            if all(isinstance(one, ast.Name | ast.Attribute | ast.Subscript) for one in (a, b)):
                args = [*node.args[:i], b, a, *node.args[i + 2 :]]
                yield ast.unparse(ast.Call(node.func, args, node.keywords))


def missing_check(node: ast.expr, parent: ast.AST) -> Iterator[str]:
    """What would be refused is not."""
    match parent:
        case ast.If(test=test, body=[*_, ast.Raise()], orelse=[]) if test is node:
            yield "False"
        case ast.Expr(value=ast.Call(func=func)) if CHECK.match(ast.unparse(func).rpartition(".")[2]):
            yield "None"


def dropped_row(node: ast.expr, parent: ast.AST) -> Iterator[str]:
    """A loop that leaves out what comes first."""
    if isinstance(parent, ast.For | ast.comprehension) and parent.iter is node:
        match node:
            case ast.Call(func=ast.Name("range" | "prange") as func, args=[end]):
                yield f"{func.id}(1, {ast.unparse(end)})"
            case _ if not isinstance(node, ast.Tuple | ast.List):
                yield f"list({ast.unparse(node)})[1:]"


def tie(node: ast.expr, parent: ast.AST) -> Iterator[str]:
    """Of equals the last instead of the first, or by no second key."""
    match node:
        case ast.Call(func=ast.Attribute(attr="argsort" | "argmax" | "argmin"), args=[of], keywords=keywords):
            axis = next((one.value.value for one in keywords if one.arg == "axis"), 0)
            turned = ast.unparse(ast.Call(node.func, [ast.Name(("a[::-1]", "a[:, ::-1]")[axis])], keywords))
            yield f"(lambda a: a.shape[{axis}] - 1 - {turned})({ast.unparse(of)})"
        case ast.Call(func=ast.Attribute(attr="lexsort"), args=[ast.Tuple(elts=[_, second, *rest])]):
            yield ast.unparse(ast.Call(node.func, [ast.Tuple([second, *rest], ast.Load())], node.keywords))
        case ast.Call(func=ast.Name("sorted" | "max" | "min"), args=[of], keywords=[ast.keyword("key"), *_] as key):
            yield ast.unparse(ast.Call(node.func, [ast.Name(f"reversed(list({ast.unparse(of)}))")], key))


def wrong_fold(node: ast.expr, parent: ast.AST) -> Iterator[str]:
    """The part of another role, or every fold but one's own."""
    match node:
        case ast.Constant(value=str() as role) if role in ROLE and not isinstance(parent, ast.Compare | ast.Dict):
            yield repr(ROLE[role])
        case ast.Attribute(value=value, attr=role) if role in ROLE:
            yield f"{ast.unparse(value)}.{ROLE[role]}"
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]) if re.search(r"\bfold\b", ast.unparse(node)):
            yield f"{ast.unparse(left)} != {ast.unparse(right)}"


_ALL = (sign, off_by_one, swapped_argument, missing_check, dropped_row, tie, wrong_fold)
KINDS: dict[str, Callable[[ast.expr, ast.AST], Iterator[str]]] = {f.__name__.replace("_", " "): f for f in _ALL}


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods of a module by their names; a function inside another is part of it."""
    for node in tree.body:
        for one in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(one, ast.FunctionDef):
                yield (f"{node.name}.{one.name}" if isinstance(node, ast.ClassDef) else one.name), one


def expressions(node: ast.AST) -> Iterator[tuple[ast.expr, ast.AST]]:
    """Expressions below a function's body with what they stand in; not those of messages, annotations and f-strings."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(node, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.Raise | ast.JoinedStr):
                if isinstance(child, ast.expr):
                    yield child, node
                yield from expressions(child)
