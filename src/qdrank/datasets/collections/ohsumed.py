"""OHSUMED as distributed by TREC-9's filtering track (Hersh et al., SIGIR 1994).

Documents: records of ``.I`` (number), ``.U`` (MEDLINE id, by which judgments name them), ``.S`` source, ``.M`` MeSH,
``.T`` title, ``.P`` type, ``.W`` abstract (missing in about a third), ``.A`` authors. Queries: ``<top>`` blocks with a
patient's description in ``<title>`` and the information need in ``<desc>``. Judgments: query, document, grade, with
or without TREC's 0 between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from qdrank.datasets.collections import files
from qdrank.datasets.collections.model import Collection, Document, Judgment, Notebook, Query, assemble
from qdrank.datasets.collections.smart import read_records
from qdrank.errors import InputError

TAG = re.compile(r"\s*<(/?\w+)>\s*(?:(?:Number|Description|Narrative|Topic):)?\s*(.*)$")


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
    asked = list(_read_topics(folder / queries, topic_fields))
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


def _read_topics(path: Path, topic_fields: tuple[str, ...]) -> Iterator[Query]:
    """Queries of a file of ``<top>`` blocks."""
    seen = set()
    for line, topic in _topics(path):
        query_id = topic.get("num", "")
        if not query_id or query_id in seen:
            problem = "the query's number occurs twice" if query_id else "the query has no <num>"
            raise InputError(problem, file=path, line=line, found=query_id, fix="write <num> Number: OHSU1")
        missing = [field for field in topic_fields if field not in topic]
        if missing:
            raise InputError(f"the query has no <{missing[0]}>", file=path, line=line, found=query_id)
        seen.add(query_id)
        yield Query(query_id, " ".join(topic[field] for field in topic_fields))


def _topics(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """First line and tagged texts of each block."""
    topic: dict[str, str] | None = None
    start, tag = 0, ""
    for number, line in files.lines(path):
        tagged = TAG.match(line)
        if tagged and tagged[1] == "top":
            topic, start, tag = {}, number, ""
        elif tagged and tagged[1] == "/top" and topic is not None:
            yield start, topic
            topic = None
        elif topic is not None and tagged:
            tag = tagged[1]
            topic[tag] = tagged[2].strip()
        elif topic is not None and tag:
            topic[tag] = f"{topic[tag]} {line.strip()}".strip()
        elif line.strip():
            raise InputError("text outside <top> ... </top>", file=path, line=number, found=line)
    if topic is not None:
        raise InputError("the last <top> is not closed", file=path, line=start, fix="add </top>")


def _judgments(path: Path) -> Iterator[Judgment]:
    for number, columns in files.rows(path, (3, 4)):
        grade = files.integer(columns[-1], "grade", path, number)
        yield Judgment(columns[0], columns[-2], grade, path, number)
