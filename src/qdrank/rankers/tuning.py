"""Measure rankers, and choose one of several on validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray
from qdrank.learners.choose import Choice, ValidationQueries, choose
from qdrank.measures.compute import measure
from qdrank.rankers.base import QueryRanker, Validation


def query_values_of(name: str, documents: Judged, scores: FloatArray) -> FloatArray:
    """Measure ``name`` of every query, (n_queries,); relevant documents that are not among the candidates count."""
    return measure([name], documents.y, scores, documents.offsets, unranked=documents.unranked)[name]


def tune_rankers(
    tried: Sequence[QueryRanker], train: Validation, validation: Validation, *, name: str = "ap", seed: int = 1
) -> Choice[QueryRanker]:
    """Fit every ranker on ``train``, and choose among them by measure ``name`` on ``validation``.

    Rankers of one kind share what they can (`QueryRanker.fit_each`). Without validation queries the training queries decide.
    """
    watched = validation if validation[0].n_queries else train
    queries = ValidationQueries.of(watched[0], measure=name, seed=seed)

    def values() -> Iterator[tuple[QueryRanker, FloatArray]]:
        for first in tried[:1]:
            fitted = first.fit_each(tried, *train, validation=watched)
            for ranker, scores in first.predict_each(fitted, *watched):
                yield ranker, queries.values(scores)

    return choose(values())
