"""Collections of ir_datasets (MacAvaney et al., SIGIR 2021) by id, from files that lie in its folder layout.

Nothing is downloaded: what is not here is named, with its address, its place and its md5. The library takes a file that is in its
place without a look, so every file is checked here. It works in a private home, thrown away at the end: pickled stores of
documents, which it would load from the user's home, are never read.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from qdrank.datasets.collections.model import Collection, Document, Judgment, Notebook, Query, assemble, with_splits
from qdrank.errors import InputError
from qdrank.registry import did_you_mean, needed

SPLITS = ("train", "dev", "test")
_HOME = "IR_DATASETS_HOME"
#: Fields of documents that hold the text, the first that a document has.
_BODIES = ("text", "body", "contents", "abstract")


class _MissingFile(Exception):
    """A file that is not in its place."""


def read_irds(folder: Path, *, id: str, md5: Mapping[str, str] | None = None) -> Collection:  # noqa: A002
    """Read the collection ``id``; with splits, if there are ``id/train``, ``id/dev`` or ``id/test``.

    Raises `InputError` if the id is unknown or has no judgments, a file is missing, or has another digest.

    Parameters
    ----------
    folder : home of ir_datasets, with the files
    id : such as ``cranfield`` or ``beir/nfcorpus``
    md5 : digests of files that are not the publisher's, by their path below ``folder``
    """
    refuse_missing(folder, id=id, md5=md5)
    book, place = Notebook(), Path(id)
    with _reading(folder, md5 or {}) as library:
        whole, parts = _parts(library, id)
        asked = [Query(query.query_id, query.default_text()) for query in _queries(whole, parts)]
        asked, judgments = with_splits(asked, {split: _judgments(part, place) for split, part in parts.items()})
        return assemble(map(_document, _documents(whole)), asked, _upright(judgments, id, book), book, place)


def refuse_missing(folder: Path, *, id: str, md5: Mapping[str, str] | None = None) -> None:  # noqa: A002
    """Raise if a file of the collection is missing, with all that are, and where they go."""
    missing: list[str] = []
    with _reading(folder, md5 or {}) as library:
        whole, parts = _parts(library, id)
        for first in (_documents(whole), _queries(whole, parts), *(part.qrels_iter() for part in parts.values())):
            try:
                next(iter(first), None)
            except _MissingFile as error:
                missing += [str(error)] if str(error) not in missing else []
    if missing:
        fix = "put there:\n         " + "\n         ".join(missing)
        raise InputError(f"files of {id} are missing", file=folder, fix=fix)


def _parts(library: Any, id_: str) -> tuple[Any, dict[str | None, Any]]:
    """The data set, and those with its judgments, by split."""
    known = list(library.registry)
    if id_ not in known:
        raise InputError(f"ir_datasets has no data set {id_!r}", fix=did_you_mean(id_, known))
    whole = library.load(id_)
    if whole.has_qrels():
        return whole, {None: whole}
    parts = {split: library.load(f"{id_}/{split}") for split in SPLITS if f"{id_}/{split}" in known}
    if not parts or not whole.has_docs():
        below = [name for name in known if name.startswith(f"{id_}/") and library.load(name).has_qrels()]
        raise InputError(
            f"{id_} has no judgments", fix=f"name one that has: {', '.join(below) or 'see its documentation'}"
        )
    return whole, {split: part for split, part in parts.items() if part.has_qrels()}


def _documents(whole: Any) -> Iterator[Any]:
    """Documents, once; where the library would read them from a pickled store, from the files themselves."""
    handler = whole.docs_handler()
    yield from getattr(handler, "_docs_iter", handler.docs_iter)()


def _queries(whole: Any, parts: Mapping[str | None, Any]) -> Iterator[Any]:
    """Queries of the data set, or of all its splits."""
    if whole.has_queries():
        yield from whole.queries_iter()
        return
    for part in parts.values():
        yield from part.queries_iter()


def _judgments(part: Any, place: Path) -> Iterator[Judgment]:
    for number, row in enumerate(part.qrels_iter(), 1):
        yield Judgment(row.query_id, row.doc_id, int(row.relevance), place, number)


def _document(document: Any) -> Document:
    body = next((getattr(document, name) for name in _BODIES if hasattr(document, name)), None)
    title = getattr(document, "title", None) or ""
    return Document(document.doc_id, {"title": title, "body": document.default_text() if body is None else body})


def _upright(judgments: list[Judgment], id_: str, book: Notebook) -> Iterator[Judgment]:
    """Judgments with grades that grow with relevance: Cranfield's codes run backwards, and the library keeps them.

    As in `qdrank.datasets.collections.smart`, the grade is 5 - code, and -1, which nobody explains, is left out.
    """
    for judgment in judgments:
        if id_ != "cranfield":
            yield judgment
        elif judgment.grade == -1:
            book.add("code -1: left out", f"{judgment.query_id} {judgment.doc_id}", judgment.file)
        else:
            book.add("code of Cranfield, 1 is best: the grade is 5 - code", str(judgment.grade), judgment.file)
            yield judgment._replace(grade=5 - judgment.grade)


# ---- the library and its files ---------------------------------------------------------------------------------------


@cache
def _library() -> tuple[Any, Path]:
    """ir_datasets and its private home, which it fixes when it is imported."""
    if "ir_datasets" in sys.modules:
        raise InputError("ir_datasets was imported before, with another home", fix="read the collection first")
    home = Path(tempfile.mkdtemp(prefix="qdrank-irds-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ[_HOME] = str(home)
    os.environ["IR_DATASETS_TMP"] = str(home / "tmp")
    return needed("ir_datasets", "irds"), home


@contextmanager
def _reading(folder: Path, md5: Mapping[str, str]) -> Iterator[Any]:
    """The library, for which every file that it asks for is taken from ``folder``, checked, and none is downloaded."""
    library, home = _library()
    kind = library.util.Download
    usual = kind.path, kind.stream

    def path(download: Any, force: bool = True) -> str:  # noqa: ARG001
        return str(_checked(download, folder, home, md5))

    @contextmanager
    def stream(download: Any) -> Iterator[Any]:
        with open(path(download), "rb") as file:
            yield file

    kind.path, kind.stream = path, stream
    try:
        yield library
    finally:
        kind.path, kind.stream = usual


def _checked(download: Any, folder: Path, home: Path, md5: Mapping[str, str]) -> Path:
    """Path of a downloaded file in the private home."""
    cached = download._cache_path
    place = Path(cached).relative_to(home) if cached else Path("downloads", str(download.expected_md5))
    wanted = md5.get(str(place), download.expected_md5)
    source = Path(folder, place).absolute()
    if not source.is_file():
        address = next((mirror.url for mirror in download.mirrors if hasattr(mirror, "url")), "see its documentation")
        raise _MissingFile(f"{folder / place} (md5 {wanted}) from {address}")
    if (home / place).exists():
        return home / place
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "md5").hexdigest()
    if digest != wanted:
        fix = f"get the publisher's file, md5 {wanted}; or state that this one is meant: md5: {{{place}: {digest}}}"
        raise InputError("not the file that ir_datasets describes", file=source, found=f"md5 {digest}", fix=fix)
    (home / place).parent.mkdir(parents=True, exist_ok=True)
    (home / place).symlink_to(source)
    return home / place
