"""SciFact (Wadden et al., EMNLP 2020): queries and judgments in BEIR form, abstracts as a table of the publisher's corpus.

``corpus_train.csv`` has the columns doc_id, title, abstract and structured. An abstract is a printed array of its
sentences, ``['First.' "Second's."]``; BEIR's text is these sentences joined.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path

from qdrank.datasets.collections import beir, files
from qdrank.datasets.collections.model import Collection, Document, Judgment, Notebook, assemble, with_splits
from qdrank.errors import InputError

SENTENCE = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)


def read_scifact(folder: Path) -> Collection:
    """Read SciFact from ``folder``: corpus_train.csv, and beir with queries.jsonl, train.tsv and test.tsv."""
    folder, book = Path(folder), Notebook()
    asked, judgments = list(beir.read_queries(folder / "beir" / "queries.jsonl")), list[Judgment]()
    for split in ("train", "test"):
        of_split = list(beir.read_beir_judgments(folder / "beir" / f"{split}.tsv"))
        asked = with_splits(asked, of_split, split)
        judgments += of_split
    corpus = folder / "corpus_train.csv"
    return assemble(_abstracts(corpus), asked, judgments, book, corpus)


def _abstracts(path: Path) -> Iterator[Document]:
    table = csv.DictReader(f"{line}\n" for _, line in files.lines(path))
    seen: set[str] = set()
    try:
        for row in table:
            if not {"doc_id", "title", "abstract"} <= {name for name, value in row.items() if value is not None}:
                fix = "the columns are doc_id, title, abstract, structured"
                raise InputError("a column is missing", file=path, line=table.line_num, found=str(row)[:80], fix=fix)
            if row["doc_id"] in seen:
                raise InputError("the id occurs twice", file=path, line=table.line_num, found=row["doc_id"])
            seen.add(row["doc_id"])
            yield Document(row["doc_id"], {"title": row["title"], "body": _joined(row["abstract"], path, table)})
    except csv.Error as error:
        raise InputError(f"not a table: {error}", file=path, line=table.line_num, fix="fetch it again") from None


def _joined(array: str, path: Path, table: csv.DictReader[str]) -> str:
    """Sentences of a printed array, joined by blanks."""
    try:
        sentences = [ast.literal_eval(sentence.replace("\n", "\\n")) for sentence in SENTENCE.findall(array)]
        if SENTENCE.sub("", array).strip("[] \n"):
            raise ValueError
    except (ValueError, SyntaxError):
        fix = "an abstract is written as ['First sentence.' 'Second sentence.']"
        found = array[:80]
        raise InputError("not sentences in quotes", file=path, line=table.line_num, found=found, fix=fix) from None
    return " ".join(" ".join(sentences).split())
