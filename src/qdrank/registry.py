"""Names that stand for code, resolved only when used.

A learner, ranker, measure or figure is known by a name in the configuration. Its registry maps the name to
``"module:attribute"``, so that listing the names imports nothing: the Snakefile checks a configuration without
loading the libraries that only the jobs need.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from qdrank.errors import InputError


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """``did you mean X?`` where a known name is close, else the names that are allowed."""
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else "allowed: " + ", ".join(names)


def refuse_unknown(kind: str, name: str, known: Collection[str]) -> None:
    """Raise `InputError`, with the nearest of the names or all, unless ``name`` is among those ``known``."""
    if name not in known:
        raise InputError(f"unknown {kind} {name!r}", fix=did_you_mean(name, list(known)))


_ALLOWED: ContextVar[Callable[[], Container[str]] | None] = ContextVar("allowed", default=None)


@contextmanager
def restricted(modules: Callable[[], Container[str]]) -> Iterator[None]:
    """Allow only these modules to be found by name: a job may use only code that its digest covers."""
    token = _ALLOWED.set(modules)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def loaded(target: str) -> Any:
    """The object that ``"module:attribute"`` stands for."""
    module, _, attribute = target.partition(":")
    allowed = _ALLOWED.get()
    if allowed is not None and module not in allowed():
        fix = "name it in the params of the rule, or import its module where it is used"
        raise InputError("a job looked up code that its digest does not know of", found=target, fix=fix)
    return getattr(import_module(module), attribute)


#: Entry points under which installed packages bring learners.
LEARNERS_GROUP = "qdrank.learners"


def own_target(named: str) -> str:
    """``"FILE.py:CLASS"`` or ``"MODULE:CLASS"`` as it is; of the name of an entry point, what it stands for."""
    from importlib.metadata import entry_points  # 40 ms

    if ":" in named:
        return named
    points = {point.name: point.value for point in entry_points(group=LEARNERS_GROUP)}
    if named not in points:
        fix = f"give FILE.py:CLASS, or install what brings it; entry points of {LEARNERS_GROUP}: {', '.join(points) or 'none'}"
        raise InputError(f"no installed package brings the learner {named!r}", fix=fix)
    return points[named]


def own_source(target: str) -> tuple[Path, str]:
    """The file and the name of the class that ``"FILE.py:CLASS"`` or ``"MODULE:CLASS"`` stands for; nothing is run."""
    module, _, name = target.rpartition(":")
    if module.endswith(".py"):
        file = Path(module)
        if not file.is_file():
            raise InputError(f"there is no file {module}", found=target, fix="correct the path: FILE.py:CLASS")
    else:
        top = find_spec(module.partition(".")[0])
        spec = top and find_spec(module)
        if not spec or not spec.origin:
            raise InputError(f"no module {module} is installed", found=target, fix="install it, or give FILE.py:CLASS")
        file = Path(spec.origin)
    tree = ast.parse(file.read_text(encoding="utf-8"), str(file)) if file.suffix == ".py" else None
    if tree and name not in (known := _defined(tree)):
        raise InputError(f"there is no class {name}", file=file, fix=did_you_mean(name, known))
    return file, name


def _defined(tree: ast.Module) -> list[str]:
    """Names that a module gives to classes, or imports."""
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return classes + [alias.asname or alias.name for node in imports for alias in node.names]


def needed(module: str, extra: str) -> Any:
    """A library that only an extra of this package installs.

    Raises `InputError` if it is not installed; the message names the extra.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise InputError(f"{module} is not installed", fix=f"pip install 'qdrank[{extra}]'") from None


class Registry(Mapping[str, Any]):
    """A mapping from names to lazily imported objects.

    Those of a registry that is used ``together`` count in the digest of every job that imports it.
    """

    def __init__(self, kind: str, entries: Mapping[str, str], *, together: bool = False) -> None:
        self.kind, self.together = kind, together
        self._entries = dict(entries)

    def add(self, name: str, target: str) -> None:
        """Add ``name``, standing for ``target`` = ``"module:attribute"``."""
        if name in self._entries:
            raise InputError(f"there is a {self.kind} called {name} already")
        self._entries[name] = target

    @property
    def targets(self) -> dict[str, str]:
        """Names, each with its ``"module:attribute"``."""
        return dict(self._entries)

    def module(self, name: str) -> str:
        """Module that holds ``name``; nothing is imported."""
        return self._target(name).partition(":")[0]

    def _target(self, name: str) -> str:
        try:
            return self._entries[name]
        except KeyError:
            raise InputError(f"unknown {self.kind} {name!r}", fix=did_you_mean(name, sorted(self._entries))) from None

    def __getitem__(self, name: str) -> Any:
        return loaded(self._target(name))

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
