"""TIME (articles of 1963): ``*TEXT`` begins a document, ``*FIND n`` a query, ``*STOP`` ends a file.

Judgments have one line per query: its number, then those of its relevant documents. They count documents by position
in the file, not by the number after ``*TEXT``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from qdrank.datasets.collections import files
from qdrank.datasets.collections.model import Collection, Document, Notebook, Query, assemble
from qdrank.datasets.collections.smart import read_rows
from qdrank.errors import InputError


def read_time(folder: Path) -> Collection:
    """Read TIME from ``folder``: TIME.ALL, TIME.QUE and TIME.REL."""
    folder, book = Path(folder), Notebook()
    place = folder / "TIME.ALL"
    texts = (text for _, _, text in _blocks(place, "*TEXT"))
    documents = (Document(str(position), {"body": text}) for position, text in enumerate(texts, start=1))
    return assemble(documents, _queries(folder / "TIME.QUE"), read_rows(folder / "TIME.REL"), book, place)


def _queries(path: Path) -> Iterator[Query]:
    seen = set()
    for line, name, text in _blocks(path, "*FIND"):
        if not name.isdigit() or name in seen:
            problem = "the query's number occurs twice" if name in seen else "the query has no number"
            raise InputError(problem, file=path, line=line, found=name, fix="write *FIND 1")
        seen.add(name)
        yield Query(name, text)


def _blocks(path: Path, marker: str) -> Iterator[tuple[int, str, str]]:
    """First line, what follows the marker, and the text of each block."""
    start, name, text = 0, "", list[str]()
    for number, line in files.lines(path):
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
