"""Measures by name: each ranking is sorted once, and all measures are taken from it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from qdrank.errors import InputError
from qdrank.groups import FloatArray
from qdrank.measures import MEASURES
from qdrank.measures.names import Measure, parse
from qdrank.measures.ranking import Definition, Judgements, Ranking, TieOrder

_NO_CUTOFF = np.iinfo(np.int64).max


def measure(
    names: Iterable[str],
    y: ArrayLike,
    scores: ArrayLike,
    offsets: ArrayLike,
    *,
    doc_ids: ArrayLike | None = None,
    unranked: tuple[ArrayLike, ArrayLike] | None = None,
) -> dict[str, FloatArray]:
    """Measures of one ranker or of many, per query.

    Parameters
    ----------
    names : names of measures, such as ``ndcg@10/letor4``
    y : (n_documents,) integer grades
    scores : (n_documents,) scores of one ranker, or (n_documents, n_rankers) of many; the highest comes first
    offsets : (n_queries + 1,) bounds of the queries, as `qdrank.groups.query_offsets` gives them
    doc_ids : (n_documents,) document ids, for the ``trec`` convention's ties
    unranked : grades and offsets of judged documents that no ranker returned, see `Judgements`

    Returns
    -------
    dict from each name, in the order given, to its values, shape (n_queries,) or (n_queries, n_rankers)

    Raises
    ------
    InputError
        If a name is unknown, shapes do not agree, a score is NaN or a grade is not a small whole number.
    """
    return measure_ranked(names, Judgements(y, offsets, doc_ids, unranked), scores)


def measure_ranked(names: Iterable[str], judgements: Judgements, scores: ArrayLike) -> dict[str, FloatArray]:
    """The same for judgements that many scores are measured by, one after the other."""
    measures = [parse(name) for name in dict.fromkeys(names)]
    matrix = np.asarray(scores)
    if matrix.ndim == 1:
        return _one_ranker(measures, judgements, matrix)
    if matrix.ndim != 2:
        raise InputError(f"scores must have one or two dimensions, not {matrix.ndim}")
    values = {m.name: np.empty((len(judgements.n_documents), matrix.shape[1])) for m in measures}
    for ranker in range(matrix.shape[1]):
        for name, column in _one_ranker(measures, judgements, matrix[:, ranker]).items():
            values[name][:, ranker] = column
    return values


def _one_ranker(measures: list[Measure], judgements: Judgements, scores: ArrayLike) -> dict[str, FloatArray]:
    """Each measure's values, shape (n_queries,): one sort per rule for ties, one pass per definition."""
    values: dict[str, FloatArray] = {}
    rankings: dict[TieOrder, Ranking] = {}
    for name in dict.fromkeys(m.definition for m in measures):
        definition: Definition = MEASURES[name]
        if definition.ties not in rankings:
            rankings[definition.ties] = judgements.ranked(scores, definition.ties)
        wanted = sorted((m.cutoff or _NO_CUTOFF, m.name) for m in measures if m.definition == name)
        columns = definition.values(rankings[definition.ties], np.array([cutoff for cutoff, _ in wanted]))
        values.update({m: columns[:, i] for i, (_, m) in enumerate(wanted)})
    return {m.name: values[m.name] for m in measures}


def average_precision(y: ArrayLike, scores: ArrayLike, offsets: ArrayLike) -> FloatArray:
    """Average precision of each query, shape (n_queries,), or (n_queries, n_rankers) for a matrix of scores."""
    return measure(["ap"], y, scores, offsets)["ap"]


def ndcg(y: ArrayLike, scores: ArrayLike, offsets: ArrayLike, k: int = 10, convention: str = "exp") -> FloatArray:
    """NDCG@k of each query, shape (n_queries,), or (n_queries, n_rankers) for a matrix of scores."""
    name = f"ndcg@{k}/{convention}"
    return measure([name], y, scores, offsets)[name]
