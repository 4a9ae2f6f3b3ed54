"""What a job's digest needs to know about one source file, kept between processes: every job rereads the Snakefile."""

from __future__ import annotations

import ast
import atexit
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from qdrank import cache_folder

MOST_KEPT = 3000  # files, those of several versions of the project among them
_MODULE = re.compile(r"qdrank(\.\w+)+")
_NAME = re.compile(r"[\w@/+()=,.-]{1,60}")
_REGISTRY, _LAZY, _SHAPES = "Registry", "_PUBLIC", "_SHARED"
#: Of what is kept between processes; another number where the same file would be described otherwise.
_FORMAT = 2


class Parsed(NamedTuple):
    """A source file.

    Attributes
    ----------
    digest : of its syntax tree, without docstrings and without the entries of registries and of shared shapes
    imports : modules of the project, and names in them, that it imports, not for the type checker alone; modules that it
        names in a string
    words, patterns : strings that may be names of entries of registries, and strings with holes, as regular expressions
    registered : names of the registries that it defines, each with its ``"module:attribute"``; those that are written out.
        Names of shared shapes (the list ``_SHARED``), each with the digest of its declaration
    computed : whether a registry has more entries than are written out
    lazy : names that it imports on first use (the dictionary ``_PUBLIC`` of a package), with their modules
    """

    digest: str
    imports: list[str]
    words: list[str]
    patterns: list[str]
    registered: dict[str, str]
    computed: bool
    lazy: dict[str, str]


def entry_name(word: str) -> str:
    """The entry of a registry that a name refers to: ``ndcg@10/exp`` and ``ndcg(rel=2)@5/exp`` are ``ndcg@k/exp``."""
    return re.sub(r"\([^()]*\)", "", re.sub(r"@[0-9]+", "@k", word))


@cache
def parsed_file(path: Path) -> Parsed:
    """What is known of a file; it is parsed only if no process has seen the same bytes before."""
    text, kept = path.read_bytes(), _kept()
    key = hashlib.sha256(text).hexdigest()
    if key not in kept.entries:
        kept.add(key, _parse(text, path))
    return kept.entries[key]


def _parse(text: bytes, path: Path) -> Parsed:
    tree = ast.parse(text, filename=str(path))
    nodes = list(ast.walk(tree))
    for node in nodes:
        _drop_docstring(node)
    registered, computed, lazy = _emptied(nodes)
    nodes = list(ast.walk(tree))
    keys = {id(key) for node in nodes if isinstance(node, ast.Dict) for key in node.keys}
    pieces = {id(piece) for node in nodes if isinstance(node, ast.JoinedStr) for piece in node.values}
    constants = {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in keys | pieces
    }
    return Parsed(
        digest=_digest(tree),
        imports=sorted({*_imports(_run(tree)), *filter(_MODULE.fullmatch, constants)}),
        words=sorted(map(entry_name, filter(_NAME.fullmatch, constants))),
        patterns=sorted(set(_patterns(nodes))),
        registered=registered,
        computed=computed,
        lazy=lazy,
    )


def _drop_docstring(node: ast.AST) -> None:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        match node.body:
            case [ast.Expr(ast.Constant(str())), *rest]:
                node.body = rest or [ast.Pass()]


def _emptied(nodes: Iterable[ast.AST]) -> tuple[dict[str, str], bool, dict[str, str]]:
    """Entries of registries, shared shapes and ``_PUBLIC``, which are taken out of the tree: each counts where it is used."""
    registered: dict[str, str] = {}
    computed, lazy = False, {}
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[_, ast.Dict() as entries]) if name == _REGISTRY:
                written = _written(entries)
                computed |= len(written) < len(entries.keys)
                registered |= written
                entries.keys, entries.values = [], []
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() as shapes) if name == _SHAPES:
                registered |= {_first(shape): _digest(shape) for shape in shapes.elts}
                shapes.elts = []
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() as entries) if name == _LAZY:
                lazy = _written(entries)
                entries.keys, entries.values = [], []
    return registered, computed, lazy


def _first(call: ast.expr) -> str:
    """The first argument of a call, a string."""
    match call:
        case ast.Call(args=[ast.Constant(str() as name), *_]):
            return name
    raise ValueError(f"{ast.unparse(call)}: a shared shape is declared by a call whose first argument is its name")


def _digest(tree: ast.AST) -> str:
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _written(entries: ast.Dict) -> dict[str, str]:
    """Pairs of strings of a dictionary."""
    return {
        str(key.value): str(value.value)
        for key, value in zip(entries.keys, entries.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
    }


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below ``node`` but those that only a type checker sees."""
    yield node
    only_types = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    for child in node.orelse if isinstance(node, ast.If) and only_types else ast.iter_child_nodes(node):
        yield from _run(child)


def _imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "qdrank")


def _patterns(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Strings with holes, ``f"dcg@5/{gains}"``; one with nothing but holes and signs is left out."""
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            pieces = [piece.value if isinstance(piece, ast.Constant) else None for piece in node.values]
            fixed = "".join(str(piece) for piece in pieces if piece is not None)
            if _NAME.fullmatch(fixed) and re.search(r"[a-z]{2}", fixed):
                text = "".join(".+" if piece is None else re.escape(entry_name(str(piece))) for piece in pieces)
                yield text.replace(".+.+", ".+")


class _Kept:
    """Entries by the digest of the bytes of a file.

    Parsing all files takes seconds, looking them up hundredths of a second. If the file of entries cannot be read or
    written, nothing is kept.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.new = path, False
        self.entries: dict[str, Parsed] = {}
        try:
            self.entries = {key: Parsed(**entry) for key, entry in json.loads(path.read_text()).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            self.entries = {}

    def add(self, key: str, entry: Parsed) -> None:
        if not self.new:
            atexit.register(self.save)
        self.entries[key], self.new = entry, True

    def save(self) -> None:
        """Write all entries, completely or not at all."""
        partial = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        entries: dict[str, Any] = {key: entry._asdict() for key, entry in list(self.entries.items())[-MOST_KEPT:]}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(entries))
            partial.replace(self.path)
        except OSError:
            partial.unlink(missing_ok=True)


@cache
def _kept() -> _Kept:
    # The syntax tree depends on the version of Python.
    name = f"parsed{_FORMAT}-{sys.version_info.major}.{sys.version_info.minor}.json"
    return _Kept(Path(cache_folder()) / name)
