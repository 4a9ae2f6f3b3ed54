"""Collections in BEIR form (Thakur et al., NeurIPS 2021): corpus.jsonl, queries.jsonl, qrels/{split}.tsv.

A corpus line has ``_id``, ``text`` and mostly ``title``; a page of the web may add ``url``, ``anchor`` (the text of the
links that point to it, one string or a list) and ``links`` (the ids that it points to). A query line has ``_id``,
``text`` and may add ``type``. So neither a user's collection nor a simulated one needs another reader.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from qdrank.datasets import textfiles
from qdrank.datasets.collections import trec
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
from qdrank.errors import InputError
from qdrank.registry import refuse_unknown


def read_beir(folder: Path) -> Collection:
    """Read a collection in BEIR form; each file may be plain, .xz, .gz or .bz2."""
    folder, book = Path(folder), Notebook()
    corpus, queries = folder / "corpus.jsonl", folder / "queries.jsonl"
    judged: dict[str | None, Iterator[Judgment]] = {
        split: read_beir_judgments(folder / name) for split, name in _present(folder).items()
    }
    asked, judgments = with_splits(read_queries(queries), judged)
    return assemble(read_corpus(corpus, book), asked, judgments, book, corpus, queries)


def refuse_missing_files(folder: Path) -> None:
    """Raise if a collection's folder lacks one of the files of BEIR form."""
    textfiles.existing(folder / "corpus.jsonl")
    textfiles.existing(folder / "queries.jsonl")
    _present(folder)


def _present(folder: Path) -> dict[str, str]:
    names = {split: f"qrels/{split}.tsv" for split in SPLITS}
    present = {split: name for split, name in names.items() if textfiles.find(folder / name)}
    if not present:
        problem = "there are no judgments: none of " + ", ".join(names.values())
        fix = "write them to qrels/test.tsv: query-id, corpus-id and score, separated by tabs"
        raise InputError(problem, file=folder, fix=fix)
    return present


def read_corpus(path: Path, book: Notebook) -> Iterator[Document]:
    """Documents of a corpus.jsonl."""
    for number, record in _records(path):
        doc_id = _string(record, "_id", path, number)
        if "title" not in record:
            book.add("document without a title", doc_id, path)
        fields = {
            "title": _string(record, "title", path, number, default=""),
            "body": _string(record, "text", path, number),
            "anchor": " ".join(_strings(record, "anchor", path, number)),
            "url": _string(record, "url", path, number, default=""),
        }
        yield Document(doc_id, fields, tuple(_strings(record, "links", path, number)))


def read_queries(path: Path) -> Iterator[Query]:
    """Queries of a queries.jsonl."""
    for number, record in _records(path):
        kind = _string(record, "type", path, number, default="")
        yield Query(_string(record, "_id", path, number), _string(record, "text", path, number), kind or None)


def read_beir_judgments(path: Path) -> Iterator[Judgment]:
    """Judgments of a tsv with the columns query-id, corpus-id, score; the header may be missing."""
    for number, columns in textfiles.rows(path, (3,), separator="\t"):
        query_id, doc_id, grade = columns
        if number == 1 and grade == "score":
            continue
        yield Judgment(query_id, doc_id, textfiles.integer(grade, "grade", path, number), path, number)


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each line; an ``_id`` seen twice is an error."""
    seen: dict[str, int] = {}
    for number, line in textfiles.text_lines(path):
        if not line.strip():
            continue
        record = _parsed(line, path, number)
        name = _string(record, "_id", path, number)
        if name in seen:
            problem = f"the id is in line {seen[name]} already"
            raise InputError(problem, file=path, line=number, found=name, fix="give each line its own _id")
        seen[name] = number
        yield number, record


def _parsed(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        problem = f"not a JSON object ({error.__class__.__name__})"
        raise InputError(problem, file=path, line=number, found=line, fix="one object per line") from None
    if not isinstance(record, dict):
        raise InputError("not a JSON object", file=path, line=number, found=line, fix="one object per line")
    return record


def _string(record: dict[str, Any], key: str, path: Path, line: int, default: str | None = None) -> str:
    value = record.get(key, default)
    if key == "_id" and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or (key == "_id" and not value.strip()):
        problem = f"{key} is missing" if value is None else f"{key} is not a text"
        fix = f'write "{key}": "..." in this line'
        raise InputError(problem, file=path, line=line, found=str(record), fix=fix)
    return _whole(value)


def _strings(record: dict[str, Any], key: str, path: Path, line: int) -> list[str]:
    value = record.get(key, [])
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
        raise InputError(f"{key} is not a list of texts", file=path, line=line, found=str(record))
    return [_whole(item) for item in values]


def _whole(text: str) -> str:
    """Text that can be written as UTF-8: JSON may contain half a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8")


_NF_JUDGMENTS = ("3-2-1", "2-1-0", "direct", "beir")
_DIRECT = 3


def read_nfcorpus(folder: Path, *, qrels: Literal["3-2-1", "2-1-0", "direct", "beir"] = "3-2-1") -> Collection:
    """Read NFCorpus (Boteva et al., ECIR 2016) from ``folder`` with its subfolders ``beir`` and ``original``.

    Texts are as BEIR has them, judgments those of the original archive: 3 direct link, 2 indirect link, 1 marginal (shared
    topic). BEIR's own are flattened to 1 in training; they are read for comparison with published figures only. Seven
    queries that BEIR lost come from the original titles. Kinds of queries, by the pages of NutritionFacts.org that they
    title: ``topic``, ``video``, ``page`` (blog posts, questions).

    ``qrels``: which judgments; ``"direct"`` are the direct links alone, ``"beir"`` has also exactly BEIR's queries.
    """
    folder, book = Path(folder), Notebook()
    refuse_unknown("judgments", qrels, _NF_JUDGMENTS)
    asked = list(read_queries(folder / "beir" / "queries.jsonl"))
    if qrels != "beir":
        asked += _missing_queries(folder, {query.query_id for query in asked}, book)
    judged: dict[str | None, Iterator[Judgment]] = {split: _nf_judgments(folder, split, qrels) for split in SPLITS}
    asked, judgments = with_splits(_typed(asked, folder), judged)
    corpus = _corpus(folder / "beir")
    return assemble(read_corpus(corpus, book), asked, judgments, book, corpus)


def _corpus(folder: Path) -> Path:
    """BEIR's corpus.jsonl; one public copy calls it human.jsonl."""
    other = folder / "human.jsonl"
    return other if textfiles.find(other) else folder / "corpus.jsonl"


def _nf_judgments(folder: Path, split: str, qrels: str) -> Iterator[Judgment]:
    if qrels == "beir":
        flat = folder / "beir" / f"{split}.tsv"
        return read_beir_judgments(flat if textfiles.find(flat) else folder / "beir" / "qrels" / f"{split}.tsv")
    if qrels == "direct":
        every = trec.read_judgments(folder / "original" / f"{split}.3-2-1.qrel")
        return (judgment for judgment in every if judgment.grade == _DIRECT)
    return trec.read_judgments(folder / "original" / f"{split}.{qrels}.qrel")


def _missing_queries(folder: Path, known: set[str], book: Notebook) -> list[Query]:
    """Queries of the original archive that BEIR does not have, by their (lowercased) titles."""
    lost = []
    for split in SPLITS:
        path = folder / "original" / f"{split}.titles.queries"
        for number, line in textfiles.text_lines(path):
            query_id, tab, text = line.partition("\t")
            if not tab:
                raise InputError("no tab after the query's id", file=path, line=number, found=line)
            if query_id not in known:
                book.add("query missing in BEIR, text from the original titles", query_id, path)
                lost.append(Query(query_id, text))
    return lost


def _typed(queries: list[Query], folder: Path) -> list[Query]:
    videos = {columns[0] for _, columns in textfiles.rows(folder / "original" / "all_videos.ids", (1,))}
    pages = {columns[0] for _, columns in textfiles.rows(folder / "original" / "nontopics.ids", (1,))}

    def kind(query_id: str) -> str:
        if query_id in videos:
            return "video"
        return "page" if query_id in pages else "topic"

    return [Query(query.query_id, query.text, kind(query.query_id)) for query in queries]


SENTENCE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)


def read_scifact(folder: Path) -> Collection:
    """Read SciFact (Wadden et al., EMNLP 2020): queries and judgments in BEIR form, abstracts as the publisher's table.

    ``folder`` has corpus_train.csv, with the columns doc_id, title, abstract and structured, and beir with queries.jsonl,
    train.tsv and test.tsv. An abstract is a printed array of its sentences, ``['First.' "Second's."]``; BEIR's text is these
    sentences joined.
    """
    folder, book = Path(folder), Notebook()
    judged: dict[str | None, Iterator[Judgment]] = {
        split: read_beir_judgments(folder / "beir" / f"{split}.tsv") for split in ("train", "test")
    }
    asked, judgments = with_splits(read_queries(folder / "beir" / "queries.jsonl"), judged)
    corpus = folder / "corpus_train.csv"
    return assemble(_abstracts(corpus), asked, judgments, book, corpus)


def _abstracts(path: Path) -> Iterator[Document]:
    table = csv.DictReader(f"{line}\n" for _, line in textfiles.text_lines(path))
    seen: set[str] = set()
    try:
        for row in table:
            if not {"doc_id", "title", "abstract"} <= {name for name, value in row.items() if value is not None}:
                fix = "the columns are doc_id, title, abstract, structured"
                raise InputError("a column is missing", file=path, line=table.line_num, found=str(row)[:80], fix=fix)
            if row["doc_id"] in seen:
                raise InputError("the id occurs twice", file=path, line=table.line_num, found=row["doc_id"])
            seen.add(row["doc_id"])
            yield Document(row["doc_id"], {"title": row["title"], "body": _sentences(row["abstract"], path, table)})
    except csv.Error as error:
        raise InputError(f"not a table: {error}", file=path, line=table.line_num, fix="fetch it again") from None


def _sentences(array: str, path: Path, table: csv.DictReader[str]) -> str:
    """Sentences of a printed array, joined by blanks."""
    try:
        sentences = [ast.literal_eval(sentence.replace("\n", "\\n")) for sentence in SENTENCE.findall(array)]
        if SENTENCE.sub("", array).strip("[] \n"):
            raise ValueError
    except (ValueError, SyntaxError):
        fix = "an abstract is written as ['First sentence.' 'Second sentence.']"
        raise InputError("not sentences in quotes", file=path, line=table.line_num, found=array[:80], fix=fix) from None
    return " ".join(" ".join(sentences).split())
