"""The one shape of a collection: documents in fields, queries, judgments, and notes on the data.

Documents and queries are in the order of their ids, whatever the order of the files: a tie broken by row number
is then a tie broken by id, and a shuffled corpus gives the same features.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from qdrank.datasets.origins import sources_of
from qdrank.errors import InputError
from qdrank.layout import IntArray

# The fields of a document; a field in which some document has text gets an index.
FIELDS = ("title", "body", "anchor", "url")
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Note:
    """Something in the data that is legal but worth knowing: what it is, how often it occurs, and examples of where."""

    kind: str
    count: int
    examples: tuple[str, ...]
    file: str

    def __str__(self) -> str:
        shown = ", ".join(self.examples)
        more = ", ..." if self.count > len(self.examples) else ""
        where = f"{self.file}: " if self.file else ""
        return f"{where}{self.kind}: {self.count}" + (f" ({shown}{more})" if self.examples else "")


class Notebook:
    """Counts what was noticed, keeping the first few examples of each kind."""

    def __init__(self, n_examples: int = 3) -> None:
        self._n_examples = n_examples
        self._seen: dict[tuple[str, str], tuple[int, list[str]]] = {}

    def add(self, kind: str, example: str, file: Path | str = "") -> None:
        """Note one more case of ``kind``."""
        key = kind, Path(file).name
        count, examples = self._seen.get(key, (0, []))
        if len(examples) < self._n_examples and example not in examples:
            examples = [*examples, example]
        self._seen[key] = count + 1, examples

    def notes(self) -> tuple[Note, ...]:
        """All notes, in order of kind and file."""
        return tuple(Note(kind, n, tuple(some), file) for (kind, file), (n, some) in sorted(self._seen.items()))


class Judgment(NamedTuple):
    """One line of a qrels file."""

    query_id: str
    doc_id: str
    grade: int
    file: Path
    line: int


@dataclass(frozen=True)
class Document:
    """One document as read: its fields, and the ids of the documents that it links to."""

    doc_id: str
    fields: Mapping[str, str]
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Query:
    """One query: its text, its kind, split and source where they are known, and its place in the file, from 0."""

    query_id: str
    text: str
    type: str | None = None
    split: str | None = None
    source: str | None = None
    place: int = 0


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents in the order of ``doc_id``; ``fields[name][i]`` is the text of document ``i``.

    ``links`` has shape (n_links, 2): from and to, as row numbers, distinct and sorted; None where nothing links.
    """

    doc_id: list[str]
    fields: dict[str, list[str]]
    links: IntArray | None = None

    def __len__(self) -> int:
        return len(self.doc_id)


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """Judgments by row numbers of the query and the document, sorted by both; each shape (n_judgments,)."""

    query: IntArray
    document: IntArray
    grade: IntArray

    def __len__(self) -> int:
        return len(self.grade)


@dataclass(frozen=True, eq=False)
class Collection:
    """Documents, queries, judgments; ``notes`` says what was counted rather than refused."""

    documents: Documents
    queries: list[Query]
    qrels: JudgedPairs
    notes: tuple[Note, ...] = field(default=())


def judged_queries_of(collection: Collection) -> list[Query]:
    """The queries that have judgments."""
    return [collection.queries[row] for row in np.unique(collection.qrels.query)]


def with_sources(collection: Collection, rule: Mapping[str, Any]) -> Collection:
    """The collection with the source of every query, by a rule of `qdrank.datasets.origins.sources_of`."""
    in_order = [query.query_id for query in sorted(collection.queries, key=lambda query: query.place)]
    pairs = zip(*(column.tolist() for column in vars(collection.qrels).values()), strict=True)
    named = [(collection.queries[query].query_id, str(document), grade) for query, document, grade in pairs]
    source = sources_of(rule, in_order, named)
    return replace(collection, queries=[replace(one, source=source[one.query_id]) for one in collection.queries])


#: What publishers count, and what notes call it.
READ = {
    "collection": "documents read",
    "queries": "queries read",
    "judgments": "judgments read, of known queries and documents",
}


def read_counts(collection: Collection) -> tuple[Note, ...]:
    """How much was read, to be held against what the collection is said to have."""
    counts = {
        READ["collection"]: len(collection.documents),
        READ["queries"]: len(collection.queries),
        "queries with judgments": len(set(collection.qrels.query.tolist())),
        READ["judgments"]: len(collection.qrels),
    }
    return tuple(Note(kind, count, (), "") for kind, count in counts.items())


def assemble(
    documents: Iterable[Document],
    queries: Iterable[Query],
    judgments: Iterable[Judgment],
    book: Notebook,
    file: Path,
    queries_in: Path | None = None,
) -> Collection:
    """Put the parts together and check that they fit; readers have checked each part.

    ``file``, ``queries_in``: the files of the documents and, if it is another, of the queries, for the messages. Raises
    `InputError` if there are no documents or queries, or no judgment fits them, or two judgments of one pair differ.
    """
    table = _documents(documents, book, file)
    placed = (replace(query, place=place) for place, query in enumerate(queries))
    asked = sorted(placed, key=lambda query: query.query_id)
    for count, what, place in ((len(table), "documents", file), (len(asked), "queries", queries_in or file)):
        if not count:
            raise InputError(f"no {what}", file=place, fix="check the file: it is empty, or not the one that was meant")
    for query in asked:
        if not query.text.strip():
            book.add("empty query, kept", query.query_id)
    qrels = _qrels(judgments, table, asked, book)
    judged = np.bincount(qrels.query, minlength=len(asked)) > 0
    for row in np.flatnonzero(~judged):
        book.add("query without judgments, left out", asked[row].query_id)
    return Collection(table, asked, qrels, book.notes())


def _documents(documents: Iterable[Document], book: Notebook, file: Path) -> Documents:
    ordered = sorted(documents, key=lambda document: document.doc_id)
    for document in ordered:
        if not any(text.strip() for text in document.fields.values()):
            book.add("empty document, kept", document.doc_id, file)
    fields = {name: [document.fields.get(name, "") for document in ordered] for name in FIELDS}
    filled = {name: texts for name, texts in fields.items() if name == "body" or any(texts)}
    return Documents([document.doc_id for document in ordered], filled, _links(ordered, book, file))


def _links(ordered: list[Document], book: Notebook, file: Path) -> IntArray | None:
    row = {document.doc_id: i for i, document in enumerate(ordered)}
    links = set()
    for i, document in enumerate(ordered):
        for target in document.links:
            if target in row:
                links.add((i, row[target]))
            else:
                book.add("link to an unknown document, left out", f"{document.doc_id} -> {target}", file)
    return np.array(sorted(links), dtype=np.int64).reshape(-1, 2) if links else None


def _qrels(judgments: Iterable[Judgment], documents: Documents, queries: list[Query], book: Notebook) -> JudgedPairs:
    query_row = {query.query_id: i for i, query in enumerate(queries)}
    doc_row = {doc_id: i for i, doc_id in enumerate(documents.doc_id)}
    grades: dict[tuple[int, int], int] = {}
    unknown, fitting, swapped = None, 0, 0
    for judgment in judgments:
        swapped += judgment.doc_id in query_row and judgment.query_id in doc_row
        query, document = query_row.get(judgment.query_id), doc_row.get(judgment.doc_id)
        if query is None:
            book.add("judgment of an unknown query, left out", judgment.query_id, judgment.file)
        elif document is None:
            book.add("judgment of an unknown document, left out", judgment.doc_id, judgment.file)
        else:
            _enter(grades, (query, document), judgment, book)
            fitting += 1
            continue
        unknown = unknown or judgment
    if unknown is not None and swapped > fitting:
        raise InputError(
            "the columns of query and document look swapped",
            file=unknown.file,
            line=unknown.line,
            found=f"query {unknown.query_id}, document {unknown.doc_id}",
            fix=f"put the query first: exchanged, {swapped} judgments would fit, as it is {fitting}",
        )
    if unknown is not None and not grades:
        raise InputError(
            "no judgment names a known query and a known document",
            file=unknown.file,
            line=unknown.line,
            found=f"{unknown.query_id} {unknown.doc_id}",
            fix="check that the judgments belong to these documents and queries",
        )
    pairs = np.array(sorted(grades), dtype=np.int64).reshape(-1, 2)
    grade = np.array([grades[query, document] for query, document in pairs.tolist()], dtype=np.int64)
    return JudgedPairs(pairs[:, 0], pairs[:, 1], grade)


def _enter(grades: dict[tuple[int, int], int], pair: tuple[int, int], judgment: Judgment, book: Notebook) -> None:
    example = f"{judgment.query_id} {judgment.doc_id}"
    grade = judgment.grade
    if grade < 0:
        book.add("grade below 0, read as 0", f"{example} {grade}", judgment.file)
        grade = 0
    if grade > 127:
        raise InputError("the grade is above 127", file=judgment.file, line=judgment.line, found=str(grade))
    if grades.setdefault(pair, grade) != grade:
        raise InputError(
            "the pair is judged twice, with different grades",
            file=judgment.file,
            line=judgment.line,
            found=f"{example}: {grades[pair]} and {grade}",
            fix="keep one of the two lines",
        )


def with_splits(
    queries: Iterable[Query], by_split: Mapping[str | None, Iterable[Judgment]]
) -> tuple[list[Query], list[Judgment]]:
    """Queries, each with the split that judges it, and all judgments; None is no split.

    A query in two splits would leak and is refused.
    """
    asked, judgments = list(queries), list[Judgment]()
    for split, of_split in by_split.items():
        first: dict[str, Judgment] = {}
        for judgment in of_split:
            first.setdefault(judgment.query_id, judgment)
            judgments.append(judgment)
        if split is not None:
            asked = [_marked(query, first.get(query.query_id), split) for query in asked]
    return asked, judgments


def _marked(query: Query, judgment: Judgment | None, split: str) -> Query:
    if judgment is None:
        return query
    if query.split not in (None, split):
        raise InputError(
            f"query {query.query_id} is in the splits {query.split} and {split}",
            file=judgment.file,
            line=judgment.line,
            fix="let each query be judged in one split only",
        )
    return replace(query, split=split)
