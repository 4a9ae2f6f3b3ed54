"""Collections in TREC form: documents in ``<DOC>`` elements, queries in ``<top>`` elements, judgments (qrels).

A document has its id in ``<DOCNO>``. Its body is the text of its ``<TEXT>`` elements, or all its text if there are none;
its title is the text of ``<TITLE>``, ``<HEADLINE>`` and similar elements. A query has its number in ``<num>`` and its words in
``<title>``, ``<desc>`` and ``<narr>``, with or without closing tags.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from qdrank.datasets import textfiles
from qdrank.datasets.collections.model import Collection, Document, Judgment, Notebook, Query, assemble, with_splits
from qdrank.errors import InputError

_TITLES = ("TITLE", "HEADLINE", "HEAD", "HL", "TI", "TTL", "H3")
_ELEMENT = r"<({names})\b[^>]*>(.*?)</\1\s*>"
_TITLE = re.compile(_ELEMENT.format(names="|".join(_TITLES)), re.DOTALL | re.IGNORECASE)
_TEXT = re.compile(_ELEMENT.format(names="TEXT"), re.DOTALL | re.IGNORECASE)
_OPENED = re.compile(r"<DOCNO\b[^>]*>", re.IGNORECASE)
_DOCNO = re.compile(_ELEMENT.format(names="DOCNO"), re.DOTALL | re.IGNORECASE)
# Elements of a document that are not part of its text.
_ASIDE = re.compile(_ELEMENT.format(names="DOCNO|DOCID|DOCHDR|DATE|PROFILE"), re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<!--.*?-->|</?[A-Za-z][^>]*>", re.DOTALL)
# Fields of topics of all years. A field ends where the next one begins; closing tags are optional.
_NEXT = r"<(?:num|title|desc|narr|head|dom|smry|con|fac|def|nat|time|un)\b[^>]*>"
_FIELD = re.compile(rf"<(num|title|desc|narr)\b[^>]*>(.*?)(?={_NEXT}|\Z)", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(r"^\s*(?:Number|Topic|Description|Narrative)\s*:", re.IGNORECASE)


def read_trec(
    documents: Sequence[str | Path],
    topics: str | Path,
    qrels: str | Path | Mapping[str, str | Path],
    *,
    topic_fields: Sequence[str] = ("title",),
    encoding: str = "utf-8",
) -> Collection:
    """Read a collection in TREC form; each file may be plain, .gz or .xz.

    Parameters
    ----------
    documents : files of ``<DOC>`` elements
    topics : file of ``<top>`` elements
    qrels : file of judgments, or one for each of train, dev and test
    topic_fields : {"title", "desc", "narr"}; the fields that make up the text of a query
    encoding : of documents and topics
    """
    places, book = list(map(Path, documents)), Notebook()
    judged: dict[str | None, Iterator[Judgment]]
    if isinstance(qrels, Mapping):
        judged = {split: _numbered(Path(path)) for split, path in qrels.items()}
    else:
        judged = {None: _numbered(Path(qrels))}
    asked, judgments = with_splits(read_topics(Path(topics), topic_fields, encoding=encoding), judged)
    seen: dict[str, str] = {}  # shared by all files: no id may occur twice
    texts = (one for place in places for one in read_documents(place, book, seen, encoding=encoding))
    return assemble(texts, asked, judgments, book, places[0], Path(topics))


def read_documents(
    path: Path, book: Notebook, seen: dict[str, str] | None = None, *, encoding: str = "utf-8"
) -> Iterator[Document]:
    """Documents of one file; ``seen`` are the places of those before it, by id."""
    seen = {} if seen is None else seen
    for line, block in _blocks(path, "DOC", encoding):
        _refuse_second_id(block, path, line)
        name = _DOCNO.search(block)
        doc_id = name[2].strip() if name else ""
        if not doc_id or len(doc_id.split()) > 1:
            fix = "each <DOC> needs <DOCNO> ID </DOCNO>"
            raise InputError("the document has no id", file=path, line=line, found=block.strip(), fix=fix)
        if doc_id in seen:
            problem, fix = f"the id is in {seen[doc_id]} already", "keep one of the two documents"
            raise InputError(problem, file=path, line=line, found=doc_id, fix=fix)
        seen[doc_id] = f"line {line} of {path.name}"
        title = " ".join(_without_markup(match[2]) for match in _TITLE.finditer(block))
        texts = [match[2] for match in _TEXT.finditer(block)] or [_TITLE.sub(" ", _ASIDE.sub(" ", block))]
        body = " ".join(map(_without_markup, texts)).strip()
        if not title:
            book.add("document without a title", doc_id, path)
        yield Document(doc_id, {"title": title, "body": body})


def _refuse_second_id(block: str, path: Path, line: int) -> None:
    """Raise if a document that begins in ``line`` has two ids: where one ends and the next begins is missing."""
    second = [match.start() for match in _OPENED.finditer(block)][1:2]
    if second:
        here, shown = line + block.count("\n", 0, second[0]), block[second[0] :].partition("\n")[0]
        fix = "add </DOC> and <DOC> above this line"
        problem = f"a second <DOCNO> in the document that begins in line {line}"
        raise InputError(problem, file=path, line=here, found=shown, fix=fix)


def read_topics(path: Path, topic_fields: Sequence[str] = ("title",), *, encoding: str = "utf-8") -> Iterator[Query]:
    """Queries of a file of ``<top>`` elements; leading zeros of a number do not count."""
    seen: dict[str, int] = {}
    for line, block in _blocks(path, "top", encoding):
        fields = {match[1].lower(): _without_markup(_LABEL.sub("", match[2])) for match in _FIELD.finditer(block)}
        query_id = number_of(fields.get("num", ""))
        if not query_id or len(query_id.split()) > 1 or query_id in seen:
            again = f"the number of the query is used in line {seen.get(query_id)} already"
            problem = again if query_id in seen else "the query has no number"
            fix = "give each query a number of its own" if query_id in seen else "write <num> Number: 301"
            raise InputError(problem, file=path, line=line, found=query_id or block.strip(), fix=fix)
        missing = [field for field in topic_fields if not fields.get(field)]
        if missing:
            raise InputError(f"query {query_id} has no <{missing[0]}>", file=path, line=line, found=block.strip())
        seen[query_id] = line
        yield Query(query_id, " ".join(fields[field] for field in topic_fields))


def read_judgments(path: Path) -> Iterator[Judgment]:
    """Judgments in TREC form: query, 0, document, grade."""
    for number, (query_id, iteration, doc_id, grade) in textfiles.rows(path, (4,)):
        if iteration not in ("0", "Q0"):
            fix = "TREC form is: query 0 document grade"
            raise InputError("the second column is not 0", file=path, line=number, found=iteration, fix=fix)
        yield Judgment(query_id, doc_id, textfiles.integer(grade, "grade", path, number), path, number)


def _blocks(path: Path, tag: str, encoding: str) -> Iterator[tuple[int, str]]:
    """First line and content of each element called ``tag``; text between elements must be blank."""
    opening, closing = (re.compile(p, re.IGNORECASE) for p in (rf"<{tag}(?:\s[^>]*)?>", rf"</{tag}\s*>"))
    rows: list[str] | None = None
    start = 0
    for number, line in textfiles.text_lines(path, encoding=encoding):
        rest = line
        while rest.strip() or rows is not None:
            if rows is None:
                opened = opening.search(rest)
                if opened is None or rest[: opened.start()].strip():
                    fix = f"the file consists of <{tag}> ... </{tag}> elements"
                    raise InputError(f"text outside <{tag}>", file=path, line=number, found=line, fix=fix)
                rows, start, rest = [], number, rest[opened.end() :]
            end = closing.search(rest)
            if opening.search(rest if end is None else rest[: end.start()]):
                problem = f"a second <{tag}> before the <{tag}> of line {start} is closed"
                raise InputError(problem, file=path, line=number, found=line, fix=f"add </{tag}> above this line")
            if end is None:
                rows.append(rest)
                break
            yield start, "\n".join([*rows, rest[: end.start()]])
            rows, rest = None, rest[end.end() :]
    if rows is not None:
        raise InputError(f"the last <{tag}> is not closed", file=path, line=start, fix=f"add </{tag}>")


def _without_markup(text: str) -> str:
    """Text without tags, entities and line ends."""
    return " ".join(html.unescape(_TAG.sub(" ", text)).split())


def _numbered(path: Path) -> Iterator[Judgment]:
    return (judgment._replace(query_id=number_of(judgment.query_id)) for judgment in read_judgments(path))


def number_of(name: str) -> str:
    """A number as it is compared: 01 is 1."""
    return name.lstrip("0") or name
