"""OHSUMED as distributed by TREC-9's filtering track (Hersh et al., SIGIR 1994).

Documents: records of ``.I`` (number), ``.U`` (MEDLINE id, by which judgments name them), ``.S`` source, ``.M`` MeSH,
``.T`` title, ``.P`` type, ``.W`` abstract (missing in about a third), ``.A`` authors. Queries: ``<top>`` blocks with a
patient's description in ``<title>`` and the information need in ``<desc>``. Judgments: query, document, grade, with
or without TREC's 0 between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from qdrank.datasets import textfiles
from qdrank.datasets.collections.model import Collection, Document, Judgment, Notebook, assemble
from qdrank.datasets.collections.smart import read_records
from qdrank.datasets.collections.trec import read_topics
from qdrank.errors import InputError


def read_ohsumed(
    folder: Path,
    *,
    documents: Iterable[str] = ("ohsumed.88-91",),
    queries: str = "query.ohsu.1-63",
    qrels: str = "qrels.ohsu.88-91",
    topic_fields: tuple[str, ...] = ("title", "desc"),
) -> Collection:
    """Read OHSUMED in TREC-9's form.

    Parameters
    ----------
    documents : names of files in ``folder``
    topic_fields : tuple of {"title", "desc"}; the fields that make up the query's text
    """
    folder, book = Path(folder), Notebook()
    places = [folder / name for name in documents]
    records = (document for place in places for document in _documents(place, book))
    asked = list(read_topics(folder / queries, topic_fields))
    return assemble(_distinct(records, places[0]), asked, _judgments(folder / qrels), book, places[0])


def _documents(path: Path, book: Notebook) -> Iterator[Document]:
    for record in read_records(path, book):
        doc_id = record.fields.get("U", "")
        if not doc_id or len(doc_id.split()) > 1:
            fix = "each record has .U and, on the next line, the MEDLINE id"
            raise InputError("no MEDLINE id", file=path, line=record.line, found=f".I {record.name}", fix=fix)
        if "W" not in record.fields:
            book.add("document without .W", doc_id, path)
        yield Document(doc_id, {"title": record.fields.get("T", ""), "body": record.fields.get("W", "")})


def _distinct(documents: Iterable[Document], path: Path) -> Iterator[Document]:
    seen = set()
    for document in documents:
        if document.doc_id in seen:
            raise InputError("the MEDLINE id occurs twice", file=path, found=document.doc_id, fix="keep one of the two")
        seen.add(document.doc_id)
        yield document


def _judgments(path: Path) -> Iterator[Judgment]:
    for number, columns in textfiles.rows(path, (3, 4)):
        grade = textfiles.integer(columns[-1], "grade", path, number)
        yield Judgment(columns[0], columns[-2], grade, path, number)
