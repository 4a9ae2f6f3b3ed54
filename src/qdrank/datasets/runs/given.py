"""Runs and judgments as Python has them: paths, dictionaries, DataFrames."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from qdrank.datasets.runs.contents import of_content
from qdrank.datasets.runs.model import Qrels, Run
from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.datasets.runs.rows import Rows
from qdrank.datasets.runs.tables import of_frame
from qdrank.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    Given = str | os.PathLike[str] | Mapping[str, Any] | list[Any] | pd.DataFrame | Run | Qrels


def run_of(given: Given, name: str = "run") -> Run:
    """A run from a file, from a frame with columns such as qid, docno, score, or from content of one of `FORMS`."""
    if isinstance(given, Run):
        return given
    if isinstance(given, str | os.PathLike):
        return read_run(given)
    rows = _rows(given, "score")
    return Run(*rows.lists(rows.numbers("score")), name, "in Python")


def qrels_of(given: Given) -> Qrels:
    """Judgments from a file, from a frame with columns such as qid, docno, label, or from content of one of `FORMS`."""
    if isinstance(given, Qrels):
        return given
    if isinstance(given, str | os.PathLike):
        return read_qrels(given)
    rows = _rows(given, "grade")
    return Qrels(*rows.lists(rows.numbers("grade").astype(np.int64)), "judgments in Python")


def _rows(given: Any, what: str) -> Rows:
    if hasattr(given, "columns"):
        return of_frame(given, what)
    if not isinstance(given, Mapping | list):
        given = getattr(given, "body", given)  # of an answer of Elasticsearch's client
    (rows, _, _), *others = of_content(given, what)
    if others:
        raise InputError(f"{len(others) + 1} runs in one object", fix="give one run at a time")
    return rows
