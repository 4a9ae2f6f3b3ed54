"""Runs against judgments, as trec_eval takes them: pooled judgments, some documents judged and some ranked."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.trec import Qrels, Run
from qdrank.errors import InputError
from qdrank.groups import FloatArray, IntArray
from qdrank.measures.compute import measure


def measure_run(names: Iterable[str], run: Run, qrels: Qrels) -> tuple[list[str], dict[str, FloatArray]]:
    """Measures of a run for every judged query.

    A document without a judgment, or with a negative one, counts as not relevant; a relevant document that the run
    does not return still counts in average precision and in the ideal order. A judged query that is not in
    the run counts as an empty list (trec_eval's ``-c``); queries without judgments are left out.

    Returns
    -------
    ids of the queries, in the judgments' order, and from each name to its values, shape (n_queries,)
    """
    grades = _by_query(qrels.query, qrels.doc, np.maximum(qrels.grade, 0))
    returned = _by_query(run.query, run.doc, run.score)
    if not grades.keys() & returned.keys():
        raise InputError("the run has none of the judged queries", found=f"query {next(iter(returned), '')}")
    ranked, rest = [], []
    for query, judged in grades.items():
        scored = returned.get(query, {})
        ranked.append([(doc, score, judged.get(doc, 0)) for doc, score in scored.items()])
        rest.append([grade for doc, grade in judged.items() if doc not in scored])
    docs, scores, y = (np.array(column) for column in zip(*chain.from_iterable(ranked), strict=True))
    unranked = np.array([*chain.from_iterable(rest)], dtype=np.int64), _offsets(rest)
    return list(grades), measure(names, y, scores, _offsets(ranked), doc_ids=docs, unranked=unranked)


def _by_query(query: NDArray[Any], doc: NDArray[Any], value: NDArray[Any]) -> dict[str, dict[str, Any]]:
    """The values of each query's documents."""
    values: dict[str, dict[str, Any]] = {}
    for name, document, number in zip(query, doc, value.tolist(), strict=True):
        values.setdefault(name, {})[document] = number
    return values


def _offsets(lists: list[list[Any]]) -> IntArray:
    return np.cumsum([0, *map(len, lists)], dtype=np.int64)
