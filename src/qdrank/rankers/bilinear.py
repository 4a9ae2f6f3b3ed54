"""Weights that are a linear function of the query: score = w.x + sum over c of z_c M_c.x.

z are the leading principal components of the query vectors, scaled to variance 1 on the training queries. The objective
is that of `RankSVM` with a separate penalty for the interactions::

    lam/2 (|w|^2 + interactions |M|^2) + mean loss of the pairs

A weighted sum of rankers, with weights for all queries or weights that the query's vector decides (a gate).

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
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.learners.ranksvm.preferences import prepare
from qdrank.queries.vectors import principal_axes, row_product
from qdrank.rankers.base import QueryRanker, Validation, refuse_other_vectors
from qdrank.rankers.documents import query_scores
from qdrank.rankers.one_model import without_choice


@dataclass(kw_only=True, eq=False)
class Bilinear(QueryRanker):
    """Features times components of the query vector.

    Parameters
    ----------
    lam, tol : as for `RankSVM`
    interactions : penalty on M relative to that on w
    components : number of components of the query vectors
    """

    NAME: ClassVar[str] = "bilinear"

    lam: float = 0.01
    interactions: float = 10.0
    components: int = 5
    tol: float = 1e-6
    coef_: FloatArray = field(init=False, repr=False)
    """(1 + n_components, n_features): w, and below it M."""
    mean_: FloatArray = field(init=False, repr=False)
    map_: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.interactions > 0 or self.components < 0:
            raise InputError(
                "interactions must be positive, components 0 or more",
                found=f"interactions={self.interactions}, components={self.components}",
            )

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Learn w and M."""
        refuse_other_vectors(train, vectors)
        self.mean_, axes, variances = principal_axes(np.asarray(vectors, dtype=np.float64), self.components)
        self.map_ = axes / np.sqrt(variances[: axes.shape[1]])
        scale = np.sqrt(1 / self.interactions)
        factors = np.hstack([np.ones((train.n_queries, 1)), scale * self._components(vectors)])
        X = np.einsum("nc,nf->ncf", factors[train.query_index].astype(np.float32), train.X)
        data = prepare(X.reshape(len(X), -1), train.y, train.offsets)
        coef = RankSVM(lam=self.lam, tol=self.tol).fit_preferences(data).coef_.reshape(-1, train.X.shape[1])
        self.coef_ = np.vstack([coef[:1], scale * coef[1:]])
        return self

    def models(self, vectors: FloatArray) -> FloatArray:
        """Weights of queries with the given vectors, (n_queries, n_features)."""
        self.refuse_unfitted()
        W: FloatArray = self.coef_[0] + row_product(self._components(vectors), self.coef_[1:])
        return W

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,)."""
        refuse_other_vectors(documents, vectors)
        return query_scores(documents, self.models(vectors))

    def _components(self, vectors: FloatArray) -> FloatArray:
        return row_product(np.asarray(vectors, dtype=np.float64) - self.mean_, self.map_)


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
