"""Who measures rankings and who takes the largest of some values, found in the syntax trees of the library.

A chooser needs both: a measure of its candidates, and the best of them. A function measures if it refers to anything of
`qdrank.measures` that takes scores, under whatever name or by whatever text it imports it, to a function or method that does so, in
however many steps, or to a learner's ``score``. `learners/choose.py` ends such a chain: who measures through it follows the
convention. A measure written out by hand is not seen, but then the largest value has to be taken, too; and a comparison in a loop
with a measure written out by hand is not seen at all.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CHOOSER = "qdrank.learners.choose"
SOURCES = "qdrank.measures"
#: What knows names, grades or orders, and gives no value of a ranking.
HARMLESS = (
    *("qdrank.measures.names", "qdrank.evaluation.pairs", "qdrank.measures.definitions.gains"),
    *("qdrank.measures.CONVENTIONS", "qdrank.measures.ranking.MAX_GRADE", "qdrank.measures.ranking.rows_by_score"),
)
#: Methods of the containers of Python, NumPy and Arrow: an attribute of that name says nothing.
COMMON = {name for kind in (dict, list, str, set) for name in dir(kind)}
LARGEST = {"argmax", "nanargmax", "idxmax", "argpartition", "argmin", "nanargmin", "idxmin", "nlargest", "nsmallest"}
#: What sorts: with one place taken from it, it is a largest value.
SORTING = {"sorted", "argsort", "lexsort"}


@dataclass
class Unit:
    """A function, a method, or the rest of a module: what it is called and what it refers to."""

    module: str
    name: str
    refers: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    takes_largest: bool = False

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"


def units(source: Path, package: str = "qdrank") -> list[Unit]:
    """All units of the modules under ``source``, the folder of the package."""
    return [unit for path in sorted(source.rglob("*.py")) for unit in _of_module(path, source, package)]


def _of_module(path: Path, source: Path, package: str) -> Iterator[Unit]:
    parts = path.relative_to(source).with_suffix("").parts
    module = ".".join([package, *(part for part in parts if part != "__init__")])
    tree = ast.parse(path.read_text())
    known = _imports(tree, module if path.stem == "__init__" else module.rpartition(".")[0]) | {
        node.name: f"{module}.{node.name}" for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    rest = Unit(module, "<module>")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield _unit(Unit(module, node.name), node, known)
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                name = f"{node.name}.{inner.name}" if isinstance(inner, ast.FunctionDef) else node.name
                yield _unit(Unit(module, name), inner, known)
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            _unit(rest, node, known)
    yield rest


def _imports(tree: ast.Module, package: str) -> dict[str, str]:
    """What each imported name stands for, wherever in the module it is imported; ``package`` is what a dot means."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                known[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            source = ".".join(filter(None, [above, node.module]))
            known |= {alias.asname or alias.name: f"{source}.{alias.name}" for alias in node.names}
    return known


def _unit(unit: Unit, node: ast.AST, known: dict[str, str]) -> Unit:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in known:
            unit.refers.add(known[inner.id])
        elif isinstance(inner, ast.Attribute):
            unit.attributes.add(inner.attr)
            if (dotted := _dotted(inner)) and dotted.partition(".")[0] in known:
                first, _, rest = dotted.partition(".")
                unit.refers.add(f"{known[first]}.{rest}")
        elif isinstance(inner, ast.Constant) and str(inner.value).startswith(SOURCES):
            unit.refers.add(f"{inner.value}".replace(":", ".") + ".")
        elif isinstance(inner, ast.Call):
            unit.takes_largest |= _largest(inner, known)
            if isinstance(inner.func, ast.Attribute) and inner.func.attr == "score":
                unit.refers.add(f"{SOURCES}.score")
        elif isinstance(inner, ast.Subscript):
            unit.takes_largest |= _first_of_sorted(inner)
        elif isinstance(inner, ast.Compare):
            unit.takes_largest |= _equals_largest(inner)
    return unit


def _dotted(node: ast.AST) -> str:
    """``a.b.c`` as text; empty for an attribute of anything but a name."""
    if isinstance(node, ast.Name):
        return node.id
    inner = _dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{inner}.{node.attr}" if inner and isinstance(node, ast.Attribute) else ""


def _largest(call: ast.Call, known: dict[str, str]) -> bool:
    """Whether it finds the place of a largest value: argmax of any kind, or ``max`` by a key."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr in LARGEST
    if not isinstance(function, ast.Name):
        return False
    if known.get(function.id, "").rpartition(".")[2] in LARGEST:
        return True
    keyed = any(keyword.arg == "key" for keyword in call.keywords)
    pairs = any(isinstance(one, ast.GeneratorExp) and isinstance(one.elt, ast.Tuple) for one in call.args)
    return function.id in ("max", "min") and (keyed or pairs)


def _first_of_sorted(subscript: ast.Subscript) -> bool:
    """``sorted(...)[-1]``, ``np.argsort(...)[0]`` and the like: one place, no slice."""
    call, place = subscript.value, subscript.slice
    if isinstance(place, ast.UnaryOp):
        place = place.operand
    if not (isinstance(call, ast.Call) and isinstance(place, ast.Constant) and isinstance(place.value, int)):
        return False
    function = call.func
    return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) in SORTING


def _equals_largest(compared: ast.Compare) -> bool:
    """``v == v.max()`` and ``v == max(v)``."""
    sides = [compared.left, *compared.comparators]
    if not any(isinstance(one, ast.Eq) for one in compared.ops):
        return False
    calls = [side.func for side in sides if isinstance(side, ast.Call)]
    return any(
        (one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "")) in ("max", "min") for one in calls
    )


def measuring(every: Iterable[Unit], ends: Collection[str] = ()) -> set[str]:
    """Paths of all units that measure other than through `qdrank.learners.choose`.

    Those in ``ends`` measure documents that they name themselves; who calls them does not measure by that.
    """
    everything = [unit for unit in every if unit.module != CHOOSER and _harmful(unit.path, other=True)]
    found = {unit.path for unit in everything if _harmful(unit.path)}
    while True:
        known = found - set(ends)
        methods = _methods(known)
        more = {unit.path for unit in everything if unit.path not in found and _measures(unit, known, methods)}
        if not more:
            return {path for path in found if not path.startswith(SOURCES)}
        found |= more


def _harmful(path: str, *, other: bool = False) -> bool:
    """Whether it is a part of `qdrank.measures` that measures; with ``other``, what is no part of it counts as well."""
    return not path.startswith(HARMLESS) and (other or path.startswith(SOURCES))


def _methods(found: set[str]) -> dict[str, set[str]]:
    """Measuring methods outside the sources, by the folder of their module."""
    by_folder: dict[str, set[str]] = {}
    for path in found:
        module, _, name = path.rpartition(".")
        owner = module.rpartition(".")[2]
        if owner.lstrip("_")[:1].isupper():
            by_folder.setdefault(module.rpartition(".")[0].rpartition(".")[0], set()).add(name)
    return by_folder


def _measures(unit: Unit, found: set[str], methods: dict[str, set[str]]) -> bool:
    if any(_harmful(name) or name in found for name in unit.refers):
        return True
    near = methods.get(unit.module.rpartition(".")[0], set()) - COMMON
    return bool(unit.attributes & near)


def callers(every: Iterable[Unit], ends: Collection[str]) -> set[tuple[str, str]]:
    """Units that refer to one of ``ends`` from another module, with what they refer to."""
    return {
        (unit.path, end)
        for unit in every
        for end in ends
        if unit.module != end.rpartition(".")[0] and any(name == end for name in unit.refers)
    }


def measuring_without_choice(every: Iterable[Unit]) -> set[str]:
    """Modules that make `ValidationQueries` and refer to nothing that chooses."""
    by_module: dict[str, set[str]] = {}
    for unit in every:
        by_module.setdefault(unit.module, set()).update(unit.refers)
    makes = {module for module, refers in by_module.items() if any("ValidationQueries" in name for name in refers)}
    return {
        module for module in makes - {CHOOSER} if not by_module[module] & {f"{CHOOSER}.choose", f"{CHOOSER}.Choice"}
    }


def taking_largest(every: Iterable[Unit]) -> set[str]:
    """Paths of all units that take the largest of some values other than through `qdrank.learners.choose`."""
    return {unit.path for unit in every if unit.takes_largest and unit.module != CHOOSER}
