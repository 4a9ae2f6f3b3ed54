"""What code a job runs, as a digest.

Snakemake compares scripts by their time of change and does not see the library behind them. So each job carries the digest of
the code it runs: of its script, of every module of the project that the script imports, directly or not, and of what it
finds by name; what is imported for the type checker alone does not count. The digest is taken of the syntax tree without docstrings: comments, formatting and time stamps do not count.

Names need no declaration. Code that imports a registry's module may look up any name in the job's params or in a string
of the imported code; the module behind each such name counts, the other entries do not: a new learner reruns only what
uses it. So it is with the shapes that several stages share: a job knows those that its code names. A "module:attribute" in the params counts too. What would be missed, such as a name that was read from a file,
stops the job that looks it up (`qdrank.registry.restricted`), so no result can be silently stale.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from qdrank.measures.names import entry_of as measure_entry
from qdrank.project import CHECKOUT, SOURCE
from qdrank.registry import Registry
from qdrank.workflow.parsed import Parsed, entry_name, parsed_file

#: Code that surrounds the work of every job and does not affect its results.
_AROUND = frozenset({"qdrank.workflow.script"})
_WORD = re.compile(r"[\w@/.:+()=,-]{1,80}")


def code_digest(script: Path, params: Mapping[str, Any] | None = None) -> str:
    """Digest of all code that ``script`` runs with ``params``."""
    return _code(script, frozenset(_words(params or {})))[1]


def code_modules(script: Path, params: Mapping[str, Any] | None = None) -> frozenset[str]:
    """Modules of the project that ``script`` uses with ``params``: imported, directly or not, or found by name."""
    return _code(script, frozenset(_words(params or {})))[0]


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


@cache
def _code(script: Path, words: frozenset[str]) -> tuple[frozenset[str], str]:
    """Modules and digest of a script, with the names in its params."""
    first = parsed_file(script)
    modules: dict[str, Parsed] = {}
    looked_up: dict[str, str] = {}
    named = {word.partition(":")[0] for word in words if ":" in word}
    waiting = {*_followed(first), *filter(_exists, named)}
    while waiting:
        for module in _closure(waiting, modules):
            modules[module] = parsed_file(_file(module))
        looked_up = _looked_up(first, modules, words)
        targets = (target.partition(":") for target in looked_up.values())
        waiting = {module for module, colon, _ in targets if colon} - modules.keys()
    sha256 = hashlib.sha256(bytes.fromhex(first.digest))
    for module in sorted(modules):
        sha256.update(module.encode() + bytes.fromhex(modules[module].digest))
    for name in sorted(looked_up):
        sha256.update(f"{name}={looked_up[name]}".encode())
    return frozenset(modules), sha256.hexdigest()[:16]


def _closure(modules: Iterable[str], known: Iterable[str]) -> set[str]:
    """``modules`` and all that they import, directly or not, without those that are ``known``."""
    closure: set[str] = set()
    waiting, done = list(modules), set(known)
    while waiting:
        module = waiting.pop()
        if module not in closure and module not in done:
            closure.add(module)
            waiting += _imported(module)
    return closure


@cache
def _imported(module: str) -> tuple[str, ...]:
    """Modules that a module imports itself."""
    return tuple(_followed(parsed_file(_file(module))))


def _followed(code: Parsed) -> Iterator[str]:
    """Modules that code imports; a name that a package imports on first use is followed to its module."""
    for name in code.imports:
        package, _, attribute = name.rpartition(".")
        if _exists(name):
            if name not in _AROUND:
                yield name
        elif _exists(package) and (target := parsed_file(_file(package)).lazy.get(attribute)):
            yield target.partition(":")[0]


def _looked_up(script: Parsed, modules: Mapping[str, Parsed], words: Iterable[str]) -> dict[str, str]:
    """Entries of registries that the names in params and code refer to, by registry and name."""
    entries: dict[str, str] = {}
    for home, code in modules.items():
        registered = _registered(home, code)
        if registered:
            # The home of a registry lists all its names.
            texts = [script, *(other for module, other in modules.items() if module != home)]
            asked = {*map(entry_name, words)}.union(*(text.words for text in texts))
            patterns = frozenset[str]().union(*(text.patterns for text in texts))
            names = [name for name in registered if name in asked or _fits(name, patterns)]
            entries |= {f"{home}:{name}": registered[name] for name in names}
    return entries


def _registered(module: str, code: Parsed) -> Mapping[str, str]:
    """Entries of the registries that a module defines; one that computes some is imported, which is light."""
    if not code.computed:
        return code.registered
    values = vars(import_module(module)).values()
    return {name: target for value in values if isinstance(value, Registry) for name, target in value.targets.items()}


@cache
def _fits(name: str, patterns: frozenset[str]) -> bool:
    return any(_pattern(pattern).fullmatch(name) for pattern in patterns)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


def _words(value: Any) -> Iterator[str]:
    """Strings in params that may be names."""
    if isinstance(value, str):
        yield from _spellings(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _words(key)
            yield from _words(item)
    elif isinstance(value, Iterable):
        for item in value:
            yield from _words(item)


@cache
def _spellings(text: str) -> tuple[str, ...]:
    """A string that may be a name, and the entry of a measure that is spelt so; nothing of other strings."""
    if not _WORD.fullmatch(text):
        return ()
    return (text, entry) if (entry := measure_entry(text)) else (text,)


@cache
def _exists(module: str) -> bool:
    base = SOURCE.joinpath(*module.split("."))
    return module.split(".", maxsplit=1)[0] == "qdrank" and (
        base.with_suffix(".py").is_file() or (base / "__init__.py").is_file()
    )


@cache
def _file(module: str) -> Path:
    base = SOURCE.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
