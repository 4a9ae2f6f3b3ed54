"""What code a job runs, as a digest.

Snakemake compares scripts by their time of change and does not see the library behind them. So each rule carries
the digest of the code it runs: of its script, and of every module of the project that the script imports, directly
or not; what is imported for the type checker alone does not count. The digest is taken of the syntax tree without docstrings: comments, formatting and time stamps do not count.
What a script finds in a registry by name is not an import: its rule names the module (`Registry.module`).
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
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from qdrank import cache_folder

_MODULE = re.compile(r"qdrank(\.\w+)+")
MOST_KEPT = 5000  # files, those of several versions of the project among them
SOURCE = Path(__file__).resolve().parents[2]


def code_digest(script: Path, modules: Iterable[str] = ()) -> str:
    """Digest of a script, the modules it imports, and further ``modules`` that it finds by name at run time."""
    tree, imports = _parsed(script)
    sha256 = hashlib.sha256(tree)
    for module in sorted(_closure({*imports, *modules})):
        sha256.update(module.encode() + _parsed(_file(module))[0])
    return sha256.hexdigest()[:16]


def asset_digest(folder: Path) -> str:
    """Digest of the files in a folder that a job uses besides code."""
    sha256 = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        sha256.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return sha256.hexdigest()[:16]


def commit(project: Path = SOURCE.parent) -> str:
    """The commit of the code in ``project``, with + where files differ from it; empty where there is no repository."""
    git = ("git", "-C", str(project))
    try:
        name = subprocess.run((*git, "rev-parse", "--short=7", "HEAD"), capture_output=True, text=True, check=True)  # noqa: S603
        dirty = subprocess.run((*git, "diff", "--quiet", "HEAD"), capture_output=True, check=False)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return ""
    return name.stdout.strip() + ("+" if dirty.returncode else "")


def imported_modules(script: Path) -> set[str]:
    """Modules of the project that ``script`` imports, directly or not."""
    return _closure(_parsed(script)[1])


def _closure(modules: Iterable[str]) -> set[str]:
    reached: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += _parsed(_file(module))[1]
    return reached


@cache
def _parsed(path: Path) -> tuple[bytes, frozenset[str]]:
    """Digest of one file's syntax tree, and the project's modules that it names in imports."""
    text, kept = path.read_bytes(), _kept()
    key = hashlib.sha256(text).hexdigest()
    if key not in kept.entries:
        kept.add(key, _digest_and_names(text, path))
    digest, names = kept.entries[key]
    return bytes.fromhex(digest), frozenset(filter(_exists, names))


def _digest_and_names(text: bytes, path: Path) -> tuple[str, list[str]]:
    tree = ast.parse(text, filename=str(path))
    names = sorted(set(_imports(_run(tree))))
    for node in ast.walk(tree):
        _drop_docstring(node)
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), names


class _Kept:
    """What was found in a file, by the digest of its bytes, kept between processes: every job reads the Snakefile again.

    Parsing all files takes seconds, looking them up hundredths. A file that cannot be read or written is done without.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.new = path, False
        self.entries: dict[str, tuple[str, list[str]]] = {}
        try:
            self.entries = {key: (digest, names) for key, (digest, names) in json.loads(path.read_text()).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            self.entries = {}

    def add(self, key: str, entry: tuple[str, list[str]]) -> None:
        if not self.new:
            atexit.register(self.save)
        self.entries[key], self.new = entry, True

    def save(self) -> None:
        """Write all entries, completely or not at all."""
        partial = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(dict(list(self.entries.items())[-MOST_KEPT:])))
            partial.replace(self.path)
        except OSError:
            partial.unlink(missing_ok=True)


@cache
def _kept() -> _Kept:
    # The syntax tree depends on the version of Python.
    name = f"imports-{sys.version_info.major}.{sys.version_info.minor}.json"
    return _Kept(Path(cache_folder()) / name)


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
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODULE.fullmatch(node.value):
            names = [node.value]  # import_module("...") in a lazy package
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "qdrank")


def _drop_docstring(node: ast.AST) -> None:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        match node.body:
            case [ast.Expr(ast.Constant(str())), *rest]:
                node.body = rest or [ast.Pass()]


@cache
def _exists(module: str) -> bool:
    base = SOURCE.joinpath(*module.split("."))
    return base.with_suffix(".py").is_file() or (base / "__init__.py").is_file()


def _file(module: str) -> Path:
    base = SOURCE.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
