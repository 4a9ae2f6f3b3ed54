"""Judgments in TREC form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from qdrank.datasets.collections import files
from qdrank.datasets.collections.model import Judgment
from qdrank.errors import InputError


def read_qrels(path: Path) -> Iterator[Judgment]:
    """Judgments in TREC form: query, 0, document, grade."""
    for number, (query_id, iteration, doc_id, grade) in files.rows(path, (4,)):
        if iteration not in ("0", "Q0"):
            fix = "TREC form is: query 0 document grade"
            raise InputError("the second column is not 0", file=path, line=number, found=iteration, fix=fix)
        yield Judgment(query_id, doc_id, files.integer(grade, "grade", path, number), path, number)
