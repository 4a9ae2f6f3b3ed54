"""Collections in BEIR form (Thakur et al., NeurIPS 2021): corpus.jsonl, queries.jsonl, qrels/{split}.tsv.

A corpus line has ``_id``, ``text`` and mostly ``title``; a page of the web may add ``url``, ``anchor`` (the text of the
links that point to it, one string or a list) and ``links`` (the ids that it points to). A query line has ``_id``,
``text`` and may add ``type``. So neither a user's collection nor a simulated one needs another reader.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from qdrank.datasets.collections import files
from qdrank.datasets.collections.model import Collection, Document, Judgment, Notebook, Query, assemble, with_splits
from qdrank.errors import InputError

SPLITS = ("train", "dev", "test")


def read_beir(
    folder: Path,
    *,
    corpus: str = "corpus.jsonl",
    queries: str = "queries.jsonl",
    qrels: Mapping[str, str] | None = None,
) -> Collection:
    """Read a collection in BEIR form; each file may be plain, .xz or .gz.

    Parameters
    ----------
    folder : Path
    corpus, queries : names of the files in ``folder``
    qrels : mapping of split to file name, optional; default: those of ``qrels/{train,dev,test}.tsv`` that exist
    """
    folder, book = Path(folder), Notebook()
    names = qrels if qrels is not None else _present(folder)
    asked = list(read_queries(folder / queries))
    judgments: list[Judgment] = []
    for split, name in names.items():
        of_split = list(read_beir_judgments(folder / name))
        asked = with_splits(asked, of_split, split)
        judgments += of_split
    place = folder / corpus
    return assemble(read_corpus(place, book), asked, judgments, book, place, folder / queries)


def refuse_missing_files(folder: Path) -> None:
    """Raise if a collection's folder lacks one of the files of BEIR form."""
    files.existing(folder / "corpus.jsonl")
    files.existing(folder / "queries.jsonl")
    _present(folder)


def _present(folder: Path) -> dict[str, str]:
    names = {split: f"qrels/{split}.tsv" for split in SPLITS}
    present = {split: name for split, name in names.items() if files.find(folder / name)}
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
    for number, columns in files.rows(path, (3,), separator="\t"):
        query_id, doc_id, grade = columns
        if number == 1 and grade == "score":
            continue
        yield Judgment(query_id, doc_id, files.integer(grade, "grade", path, number), path, number)


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each line; an ``_id`` seen twice is an error."""
    seen: dict[str, int] = {}
    for number, line in files.lines(path):
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
