"""Collections of ir_datasets (MacAvaney et al., SIGIR 2021) by id. The library finds, downloads and checks the files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qdrank.datasets.collections.model import (
    SPLITS,
    Collection,
    Document,
    Judgment,
    Notebook,
    Query,
    assemble,
    with_splits,
)
from qdrank.errors import InputError, QdrankError
from qdrank.registry import did_you_mean, needed

#: Fields of documents that hold the text, the first that a document has.
_BODIES = ("text", "body", "contents", "abstract")


def read_irds(folder: Path, *, id: str) -> Collection:  # noqa: A002
    """Read the collection ``id``, such as ``beir/nfcorpus``; with splits, if there are ``id/train``, ``id/dev`` or ``id/test``.

    ``folder`` is the library's home. Raises `InputError` if the id is unknown or unjudged, or its files cannot be had.
    """
    whole, parts = parts_of(folder, id)
    book, place = Notebook(), Path(id)
    asking = [whole] if whole.has_queries() else parts.values()
    try:
        asked = [Query(query.query_id, query.default_text()) for part in asking for query in part.queries_iter()]
        asked, judgments = with_splits(asked, {split: _judgments(part, place) for split, part in parts.items()})
        return assemble(map(_document, whole.docs_iter()), asked, _upright(judgments, id, book), book, place)
    except QdrankError:
        raise
    except Exception as error:  # the library raises what its many sources raise
        fix = f"see https://ir-datasets.com, and put the files below {folder} where it looks for them"
        raise InputError(f"ir_datasets cannot read {id}", file=folder, found=str(error)[:300], fix=fix) from error


def parts_of(folder: Path, id_: str) -> tuple[Any, dict[str | None, Any]]:
    """The data set, and those with its judgments, by split."""
    home = str(Path(folder).absolute())
    if "ir_datasets" in sys.modules and os.environ.get("IR_DATASETS_HOME") != home:  # it keeps the first for good
        raise InputError("ir_datasets is in use with another folder", file=folder, fix="read them in two processes")
    os.environ["IR_DATASETS_HOME"] = home
    library = needed("ir_datasets", "irds")
    known = list(library.registry)
    if id_ not in known:
        raise InputError(f"ir_datasets has no data set {id_!r}", fix=did_you_mean(id_, known))
    whole = library.load(id_)
    if whole.has_qrels():
        return whole, {None: whole}
    parts = {split: library.load(f"{id_}/{split}") for split in SPLITS if f"{id_}/{split}" in known}
    if not parts or not whole.has_docs():
        below = [name for name in known if name.startswith(f"{id_}/") and library.load(name).has_qrels()]
        fix = f"name one that has: {', '.join(below) or 'see its documentation'}"
        raise InputError(f"{id_} has no judgments", fix=fix)
    return whole, {split: part for split, part in parts.items() if part.has_qrels()}


def _judgments(part: Any, place: Path) -> Iterator[Judgment]:
    for number, row in enumerate(part.qrels_iter(), 1):
        yield Judgment(row.query_id, row.doc_id, int(row.relevance), place, number)


def _document(document: Any) -> Document:
    body = next((getattr(document, name) for name in _BODIES if hasattr(document, name)), None)
    title = getattr(document, "title", None) or ""
    return Document(document.doc_id, {"title": title, "body": document.default_text() if body is None else body})


def _upright(judgments: list[Judgment], id_: str, book: Notebook) -> Iterator[Judgment]:
    """Judgments with grades that grow with relevance: Cranfield's codes run backwards, so the grade is 5 - code, and -1 is left out."""
    for judgment in judgments:
        if id_ != "cranfield":
            yield judgment
        elif judgment.grade == -1:
            book.add("code -1: left out", f"{judgment.query_id} {judgment.doc_id}", judgment.file)
        else:
            book.add("code of Cranfield, 1 is best: the grade is 5 - code", str(judgment.grade), judgment.file)
            yield judgment._replace(grade=5 - judgment.grade)
