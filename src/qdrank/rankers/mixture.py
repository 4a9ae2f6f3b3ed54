"""A weighted sum of rankers, with weights for all queries or weights that the query's vector decides (a gate).

The weights are learned on scores of queries that a ranker was not trained on: the training queries are divided into
parts, and each part is scored by rankers trained on the others. Scores are standardised within each query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.bilinear import Bilinear
from qdrank.rankers.one_model import without_choice


@dataclass(kw_only=True, eq=False)
class Mixture(QueryRanker):
    """Mixture of rankers.

    Parameters
    ----------
    bases : rankers
    gate : whether the weights depend on the vector of the query
    lam, interactions, components : as for `Bilinear`; without a gate only ``lam`` matters
    parts : number of parts of the training queries
    seed : decides the parts
    """

    NAME: ClassVar[str] = "mixture"
    SEEDS: ClassVar[tuple[str, ...]] = ("seed",)

    bases: Sequence[QueryRanker]
    gate: bool = False
    lam: float = 0.01
    interactions: float = 10.0
    components: int = 5
    parts: int = 3
    seed: int = 1
    weights_: Bilinear = field(init=False, repr=False)
    """From standardised scores to the score of the mixture."""

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:
        """Fit the rankers, and the weights on scores of queries they have not seen."""
        for base in self.bases:
            base.fit(train, vectors, validation)
        held_out = out_of_fold(self.bases, train, vectors, parts=self.parts, seed=self.seed)
        return self.fit_weights(held_out, train, vectors)

    def fit_weights(self, scores: FloatArray, train: Judged, vectors: FloatArray) -> Self:
        """Learn the weights alone, from scores (n_documents, n_bases) of rankers that have not seen the query."""
        components = self.components if self.gate else 0
        self.weights_ = Bilinear(lam=self.lam, interactions=self.interactions, components=components)
        self.weights_.fit(train.with_features(standardised(scores, train.offsets)), vectors)
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,)."""
        return self.mixed(base_scores(self.bases, documents, vectors), documents, vectors)

    def mixed(self, scores: FloatArray, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores of the mixture from those of its rankers, (n_documents, n_bases)."""
        self.refuse_unfitted()
        return self.weights_.predict(documents.with_features(standardised(scores, documents.offsets)), vectors)


def base_scores(bases: Sequence[QueryRanker], documents: Judged, vectors: FloatArray) -> FloatArray:
    """Scores (n_documents, n_bases) of documents by fitted rankers."""
    return np.stack([base.predict(documents, vectors) for base in bases], axis=1)


def standardised(scores: FloatArray, offsets: IntArray) -> FloatArray:
    """Scores (n_documents, n_bases) with mean 0 and deviation 1 within each query; 0 where they do not differ."""
    query, n = query_index(offsets), np.diff(offsets)[:, None]
    if len(scores) == 0:
        return scores
    centred = scores - (np.add.reduceat(scores, offsets[:-1], axis=0) / n)[query]
    deviation = np.sqrt(np.add.reduceat(centred**2, offsets[:-1], axis=0) / n)
    flat = deviation <= 1e-12 * np.maximum(1.0, np.abs(np.maximum.reduceat(scores, offsets[:-1], axis=0)))
    result: FloatArray = centred * np.where(flat, 0.0, 1 / np.where(flat, 1.0, deviation))[query]
    return result


def out_of_fold(
    bases: Sequence[QueryRanker], train: Judged, vectors: FloatArray, *, parts: int = 3, seed: int = 1
) -> FloatArray:
    """Scores (n_documents, n_bases) of the training documents by rankers trained on other queries.

    The ``bases`` are already fitted, and their numbers of trees are kept. The parts depend on the seed and the number
    of queries.
    """
    n = train.n_queries
    if not 2 <= parts <= n:
        raise InputError(
            f"{n} queries cannot be divided into {parts} parts", fix="ask for 2 or more, up to the queries"
        )
    part = np.random.default_rng(seed).permutation(n) % parts
    scores = np.empty((train.n_documents, len(bases)))
    for number in range(parts):
        held, rest = np.flatnonzero(part == number), np.flatnonzero(part != number)
        rows = np.flatnonzero(np.isin(train.query_index, held))
        for column, base in enumerate(bases):
            ranker = without_choice(base.fresh(), base).fit(train.take(rest), vectors[rest])
            scores[rows, column] = ranker.predict(train.take(held), vectors[held])
    return scores
