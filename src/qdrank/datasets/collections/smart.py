"""Collections in SMART form (Cranfield, CISI, MED, ADI): records that begin with ``.I n``, fields ``.T .A .W ...``.

Several forms of judgments go with them: ``query document code`` (Cranfield), ``query document grade``, ``query document
0 0.0`` (listed means relevant: CISI, ADI, CACM), TREC's ``query 0 document grade`` (MED), and one line per query with all
its relevant documents (TIME). `FORMS` holds the settings of the known collections.

OHSUMED is as distributed by TREC-9's filtering track (Hersh et al., SIGIR 1994). Documents: records of ``.I`` (number),
``.U`` (MEDLINE id, by which judgments name them), ``.S`` source, ``.M`` MeSH, ``.T`` title, ``.P`` type, ``.W`` abstract
(missing in about a third), ``.A`` authors. Queries: ``<top>`` blocks with a patient's description in ``<title>`` and the
information need in ``<desc>``. Judgments: query, document, grade, with or without TREC's 0 between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from qdrank.datasets import textfiles
from qdrank.datasets.collections import trec
from qdrank.datasets.collections.model import Collection, Document, Judgment, Notebook, Query, assemble
from qdrank.datasets.collections.trec import number_of, read_topics
from qdrank.errors import InputError
from qdrank.registry import refuse_unknown

START = re.compile(r"\.I(?:\s+(\S.*?))?\s*$")
# A marker is alone on its line, so a sentence that begins with a full stop is not mistaken for one.
MARKER = re.compile(r"\.([A-Z])\s*$")
# CACM's queries end with an empty record of this number.
END = re.compile(r"\.I\s+0+\s*$")
LOOKS = 'SMART form is ".I 1", ".T", a title, ".W", the text, ".I 2", ..., each marker on a line of its own'

Judgments = Literal["auto", "listed", "graded", "rows", "trec", "cranfield"]


@dataclass(frozen=True)
class SmartForm:
    """Where the parts of a collection are and how its judgments are written.

    Attributes
    ----------
    documents : str, or several; names of files, below the folder or absolute; so are ``queries`` and ``qrels``
    judgments : {"auto", "listed", "graded", "rows", "trec", "cranfield"}
        ``"auto"`` tells them apart by their columns; three columns may hold grades or Cranfield's codes, so you must
        say which.
    queries_by : {"id", "position"}
        Whether the judgments name a query by its ``.I`` or by its position in the file (Cranfield).
    title_in_text : whether ``.W`` opens with the title, which is then taken off
    encoding : of documents and queries
    """

    documents: str | tuple[str, ...]
    queries: str
    qrels: str
    judgments: Judgments = "listed"
    queries_by: Literal["id", "position"] = "id"
    title_in_text: bool = False
    encoding: str = "utf-8"


FORMS = {
    "cranfield": SmartForm(
        "cran.all.1400", "cran.qry", "cranqrel", judgments="cranfield", queries_by="position", title_in_text=True
    ),
    "cisi": SmartForm("CISI.ALL", "CISI.QRY", "CISI.REL"),
    "medline": SmartForm("MED.ALL", "MED.QRY", "MED.REL", judgments="trec"),
    "adi": SmartForm("ADI.ALL", "ADI.QRY", "ADI.REL"),
}


class Record(NamedTuple):
    """One record: its number, the texts of its fields by letter, the line it begins in."""

    name: str
    fields: dict[str, str]
    line: int


def read_smart(folder: Path, form: SmartForm | str) -> Collection:
    """Read a collection in SMART form; ``form`` is a name of `FORMS` or the settings themselves."""
    if isinstance(form, str):
        refuse_unknown("SMART collection", form, FORMS)
        form = FORMS[form]
    folder, book = Path(folder), Notebook()
    places = [folder / name for name in ([form.documents] if isinstance(form.documents, str) else form.documents)]
    seen: dict[str, int] = {}  # shared by all files: no number may occur twice
    records = ((place, one) for place in places for one in read_records(place, book, seen, encoding=form.encoding))
    documents = (_document(record, form, book, place) for place, record in records)
    asked, judged = folder / form.queries, folder / form.qrels
    queries = _queries(asked, form, book)
    return assemble(documents, queries, _judgments(judged, form, book), book, places[0], asked)


def read_records(
    path: Path, book: Notebook, seen: dict[str, int] | None = None, *, encoding: str = "utf-8"
) -> Iterator[Record]:
    """Records of a SMART file; a second field of one letter (more authors) is joined, an empty last ``.I 0`` dropped."""
    seen = {} if seen is None else seen
    fields: dict[str, list[str]] = {}
    name, start, letter, end = "", 0, "", 0
    for number, line in textfiles.text_lines(path, encoding=encoding):
        if end and line.strip():
            fix = "give the record a number of its own, from 1 on; only an empty last record may be .I 0"
            raise InputError("record 0 is not an empty last record", file=path, line=end, found=line, fix=fix)
        if END.match(line):
            end = number
        elif opening := START.match(line):
            if start:
                yield _record(name, fields, start)
            name, start, fields, letter = _name(opening, seen, path, number), number, {}, ""
        elif not start and line.strip():
            problem = "this is not SMART form: text before the first .I"
            fix = f"{LOOKS}; bring the file into this form, or into BEIR's or TREC's"
            raise InputError(problem, file=path, line=number, found=line, fix=fix)
        elif marker := MARKER.match(line):
            letter = marker[1]
            if letter in fields and letter in "TW":
                book.add(f"second .{letter} in one record, joined", name, path)
            fields.setdefault(letter, [])
        elif letter:
            fields[letter].append(line)
        elif line.strip():
            raise InputError("text before the first field", file=path, line=number, found=line, fix="add .W above")
    if start:
        yield _record(name, fields, start)
    if end:
        book.add("empty last record .I 0, dropped", f"line {end}", path)


def _name(opening: re.Match[str], seen: dict[str, int], path: Path, line: int) -> str:
    name = (opening[1] or "").lstrip("0")
    if not name or len(name.split()) != 1:
        raise InputError(".I is not followed by one number", file=path, line=line, found=opening[0], fix="write .I 1")
    if name in seen:
        problem = f"record {name} is in line {seen[name]} already"
        raise InputError(problem, file=path, line=line, found=opening[0], fix="give each record its own number")
    seen[name] = line
    return name


def _record(name: str, fields: dict[str, list[str]], line: int) -> Record:
    return Record(name, {letter: " ".join(" ".join(texts).split()) for letter, texts in fields.items()}, line)


def _document(record: Record, form: SmartForm, book: Notebook, path: Path) -> Document:
    title, body = record.fields.get("T", ""), record.fields.get("W", "")
    if "W" not in record.fields:
        book.add("document without .W", record.name, path)
    if form.title_in_text and title:
        if body.startswith(title):
            body = body.removeprefix(title).lstrip()
        elif body:
            book.add("text does not begin with the title", record.name, path)
    return Document(record.name, {"title": title, "body": body})


def _queries(path: Path, form: SmartForm, book: Notebook) -> Iterator[Query]:
    for position, record in enumerate(read_records(path, book, encoding=form.encoding), start=1):
        if "W" not in record.fields:
            raise InputError("the query has no .W", file=path, line=record.line, found=f".I {record.name}")
        yield Query(str(position) if form.queries_by == "position" else record.name, record.fields["W"])


def read_smart_queries(path: Path) -> Iterator[Query]:
    """Queries of a SMART file by their own numbers, without a collection around them."""
    return _queries(path, SmartForm("", "", ""), Notebook())


def _judgments(path: Path, form: SmartForm, book: Notebook) -> Iterator[Judgment]:
    how = _told_apart(path) if form.judgments == "auto" else form.judgments
    if how == "trec":
        judgments = trec.read_judgments(path)
    elif how == "rows":
        judgments = read_rows(path)
    else:
        judgments = _columns(path, how, book)
    # Judgments write 01 where records write 1.
    return (
        judgment._replace(query_id=number_of(judgment.query_id), doc_id=number_of(judgment.doc_id))
        for judgment in judgments
    )


def _columns(path: Path, how: str, book: Notebook) -> Iterator[Judgment]:
    """Judgments with one document per line."""
    for number, columns in textfiles.rows(path, (2, 4, 5) if how == "listed" else (3,)):
        grade: int | None = 1
        if how == "cranfield":
            grade = _cranfield_grade(columns, path, number, book)
        elif how == "graded":
            grade = textfiles.integer(columns[2], "grade", path, number)
        if grade is not None:
            yield Judgment(columns[0], columns[1], grade, path, number)


def read_rows(path: Path) -> Iterator[Judgment]:
    """Judgments with one query per line: its number, then those of its relevant documents (-1 ends the list)."""
    for number, line in textfiles.text_lines(path):
        query, *documents = line.split() or [""]
        for document in documents:
            if document != "-1":
                yield Judgment(query, document, 1, path, number)


def _told_apart(path: Path) -> Judgments:
    """Form of judgments, from the columns of the file."""
    lines = [line.split() for _, line in textfiles.text_lines(path) if line.strip()]
    widths = {len(columns) for columns in lines}
    if widths == {4} and {columns[1] for columns in lines} <= {"0", "Q0"}:
        return "trec"
    if widths <= {4, 5} or widths == {2}:
        # A fourth column of TREC's kind would be a grade; in SMART's it is 0 or 0.000000.
        return "listed"
    if widths == {3}:
        fix = "say which: judgments: graded (higher is better), or judgments: cranfield (codes 1 to 5, 1 is best)"
        raise InputError("three columns may end in a grade or in one of Cranfield's codes", file=path, fix=fix)
    # One broken line must not turn columns into rows: no document is 0, and a row has all documents of its query.
    zeros = sum(not columns[-1].strip("0.") for columns in lines)
    if 2 * zeros > len(lines) or (widths == {1, 2} and len({columns[0] for columns in lines}) < len(lines)):
        return "listed"
    return "rows"


def _cranfield_grade(columns: list[str], path: Path, line: int, book: Notebook) -> int | None:
    """Cranfield's codes run backwards: 1 a complete answer ... 4 minimal interest, 5 none; the grade is 5 - code.

    What -1, one per query, means is not explained: the pair stays unjudged.
    """
    code = textfiles.integer(columns[2], "code", path, line)
    if code == -1:
        book.add("code -1: drop", " ".join(columns[:2]), path)
        return None
    if not 1 <= code <= 5:
        raise InputError("the code is not 1 to 5 or -1", file=path, line=line, found=columns[2])
    return 5 - code


def read_time(folder: Path) -> Collection:
    """Read TIME (articles of 1963) from ``folder``: TIME.ALL, TIME.QUE and TIME.REL.

    ``*TEXT`` begins a document, ``*FIND n`` a query, ``*STOP`` ends a file. Judgments have one line per query: its number, then
    those of its relevant documents. They count documents by position in the file, not by the number after ``*TEXT``.
    """
    folder, book = Path(folder), Notebook()
    place = folder / "TIME.ALL"
    texts = (text for _, _, text in _time_blocks(place, "*TEXT"))
    documents = (Document(str(position), {"body": text}) for position, text in enumerate(texts, start=1))
    return assemble(documents, _time_queries(folder / "TIME.QUE"), read_rows(folder / "TIME.REL"), book, place)


def _time_queries(path: Path) -> Iterator[Query]:
    seen = set()
    for line, name, text in _time_blocks(path, "*FIND"):
        if not name.isdigit() or name in seen:
            problem = "the query's number occurs twice" if name in seen else "the query has no number"
            raise InputError(problem, file=path, line=line, found=name, fix="write *FIND 1")
        seen.add(name)
        yield Query(name, text)


def _time_blocks(path: Path, marker: str) -> Iterator[tuple[int, str, str]]:
    """First line, what follows the marker, and the text of each block."""
    start, name, text = 0, "", list[str]()
    for number, line in textfiles.text_lines(path):
        if line.startswith((marker, "*STOP")):
            if start:
                yield start, name, " ".join(" ".join(text).split())
            if line.startswith("*STOP"):
                return
            start, name, text = number, line.removeprefix(marker).strip(), []
        elif start:
            text.append(line)
        elif line.strip():
            raise InputError(f"text before the first {marker}", file=path, line=number, found=line)
    if start:
        yield start, name, " ".join(" ".join(text).split())


def read_ohsumed(folder: Path) -> Collection:
    """Read OHSUMED in TREC-9's form; a query's text is its title and its description."""
    folder, book = Path(folder), Notebook()
    place = folder / "ohsumed.88-91"
    asked = read_topics(folder / "query.ohsu.1-63", ("title", "desc"))
    judgments = _ohsumed_judgments(folder / "qrels.ohsu.88-91")
    return assemble(_distinct(_documents(place, book), place), asked, judgments, book, place)


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


def _ohsumed_judgments(path: Path) -> Iterator[Judgment]:
    for number, columns in textfiles.rows(path, (3, 4)):
        grade = textfiles.integer(columns[-1], "grade", path, number)
        yield Judgment(columns[0], columns[-2], grade, path, number)
