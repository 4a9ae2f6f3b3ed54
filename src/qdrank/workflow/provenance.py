"""What code a job runs, as a digest.

Snakemake does not see the library behind a script. So each job carries the digest of the code it runs: of the module behind each
"module:attribute" in its params, and of every module of the project that these import, directly or not; what is imported for
the type checker alone does not count. The digest is taken of the syntax tree without docstrings: comments, formatting and time stamps do not count.

Of a registry that is imported, the modules behind those names count that stand in the params: a new learner reruns only what
uses it. Of a registry whose entries are used together, such as measures, all count. What would be missed, such as a name that was
read from a file, stops the job that looks it up (`qdrank.registry.restricted`), so no result can be silently stale.
"""

from __future__ import annotations

import ast
import atexit
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from qdrank import cache_folder
from qdrank.project import CHECKOUT, SOURCE
from qdrank.registry import Registry

_MODULE = re.compile(r"qdrank(\.\w+)+(:\w+)?")
_PUBLIC = "_PUBLIC"
"""The dictionary of a package that says where names are which it imports on first use."""
_FORMAT = 3
"""Of what is kept between processes; another number where the same file would be described otherwise."""
_MOST_KEPT = 3000  # files, those of several versions of the project among them


class Parsed(NamedTuple):
    """A source file: the digest of its syntax tree, names that it imports or has as strings, and whether it makes a registry."""

    digest: str
    imports: list[str]
    registry: bool


def code_digest(params: Mapping[str, Any]) -> str:
    """Digest of all code that a job with these params runs."""
    sha256 = hashlib.sha256()
    for module in sorted(code_modules(params)):
        sha256.update(module.encode() + bytes.fromhex(_parsed(module).digest))
    return sha256.hexdigest()[:16]


def code_modules(params: Mapping[str, Any]) -> frozenset[str]:
    """Modules of the project that a job with these params runs."""
    return _modules(frozenset(_strings(params)))


@cache
def _modules(named: frozenset[str]) -> frozenset[str]:
    found: set[str] = set()
    waiting = [module for module in map(_module_of, named) if module]
    while waiting:
        module = waiting.pop()
        if module in found:
            continue
        found.add(module)
        waiting += _imported(module)
        for registry in _registries(module):
            waiting += [registry.module(name) for name in registry if registry.together or name in named]
    return frozenset(found)


@cache
def _imported(module: str) -> tuple[str, ...]:
    """Modules that a module imports itself, or names in a string."""
    return tuple(found for name in _parsed(module).imports if (found := _module_of(name)))


def _module_of(name: str) -> str:
    """The module of the project that ``name`` stands for, or in which it is; empty if there is none."""
    name = name.partition(":")[0]
    if not name.startswith("qdrank"):
        return ""
    if _file(name):
        return name
    package, _, attribute = name.rpartition(".")
    if package and (file := _file(package)) and file.name == "__init__.py":
        return str(getattr(import_module(package), _PUBLIC, {}).get(attribute, "")).partition(":")[0]
    return ""


def _registries(module: str) -> list[Registry]:
    """Registries that a module defines; such modules are light."""
    if not _parsed(module).registry:
        return []
    return [value for value in vars(import_module(module)).values() if isinstance(value, Registry)]


@cache
def _file(module: str) -> Path | None:
    base = SOURCE.joinpath(*module.split("."))
    return next((path for path in (base / "__init__.py", base.with_suffix(".py")) if path.is_file()), None)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _strings(list(value) + list(value.values()))
    elif isinstance(value, Iterable):
        for item in value:
            yield from _strings(item)


# ---- source files ------------------------------------------------------------------------------------------------


@cache
def _parsed(module: str) -> Parsed:
    """What is known of a module; its file is parsed only if no process has seen the same bytes before."""
    path = _file(module)
    assert path
    text, kept = path.read_bytes(), _kept()
    key = hashlib.sha256(text).hexdigest()
    if key not in kept.entries:
        kept.add(key, _parse(ast.parse(text, filename=str(path))))
    return kept.entries[key]


def _parse(tree: ast.Module) -> Parsed:
    registry = _emptied(tree)
    names = list(_named(tree))
    return Parsed(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), sorted({*names}), registry)


def _emptied(tree: ast.Module) -> bool:
    """Take docstrings out of a tree, and what counts where it is used: entries of registries (True if there is one) and `_PUBLIC`."""
    registry = False
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="Registry"), args=[_, ast.Dict() as entries]):
                registry, entries.keys, entries.values = True, [], []
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as entries) if name == _PUBLIC:
                entries.keys, entries.values = [], []
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return registry


def _named(node: ast.AST) -> Iterator[str]:
    """Names of what code imports, but for the type checker alone, and of modules in strings."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            node = ast.Module(node.orelse, [])
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom(module=str() as module, level=0):
            yield from (module, *(f"{module}.{alias.name}" for alias in node.names))
        case ast.Constant(str() as text) if _MODULE.fullmatch(text):
            yield text
    for child in ast.iter_child_nodes(node):
        yield from _named(child)


def described_file(path: Path) -> list[str]:
    """Digest of a file of the user's, and what of the project it imports; for params, so that the job's digest covers both."""
    parsed = _parse(ast.parse(path.read_bytes(), filename=str(path)))
    return [parsed.digest, *(name for name in parsed.imports if _module_of(name))]


class _Kept:
    """What is known of files by the digest of their bytes: parsing all takes seconds. What cannot be read or written is not kept."""

    def __init__(self, path: Path) -> None:
        self.path, self.new = path, False
        try:
            self.entries = {key: Parsed(*entry) for key, entry in json.loads(path.read_text()).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            self.entries = {}

    def add(self, key: str, entry: Parsed) -> None:
        if not self.new:
            atexit.register(self.save)
        self.entries[key], self.new = entry, True

    def save(self) -> None:
        """Write all entries, completely or not at all."""
        partial = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(dict(list(self.entries.items())[-_MOST_KEPT:])))
            partial.replace(self.path)
        except OSError:
            partial.unlink(missing_ok=True)


@cache
def _kept() -> _Kept:
    # The syntax tree depends on the version of Python.
    return _Kept(Path(cache_folder()) / f"parsed{_FORMAT}-{sys.version_info.major}.{sys.version_info.minor}.json")


# ---- other things that a run carries -----------------------------------------------------------------------------


def asset_digest(folder: Path) -> str:
    """Digest of the files in a folder that a job uses besides code."""
    sha256 = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        sha256.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return sha256.hexdigest()[:16]


def commit(project: Path | None = CHECKOUT) -> str:
    """The commit of the code in ``project``, with + where files differ from it; empty where there is no repository."""
    if project is None:
        return ""
    git = ("git", "-C", str(project))
    try:
        name = subprocess.run((*git, "rev-parse", "--short=7", "HEAD"), capture_output=True, text=True, check=True)  # noqa: S603
        dirty = subprocess.run((*git, "diff", "--quiet", "HEAD"), capture_output=True, check=False)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return ""
    return name.stdout.strip() + ("+" if dirty.returncode else "")
