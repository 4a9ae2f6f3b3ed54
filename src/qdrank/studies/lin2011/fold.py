"""The three algorithms and the oracles on one fold, as functions of the scores of all local models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.choose import fit_seed
from qdrank.measures.matrix_kernels import ap_matrix
from qdrank.rankers.base import other_rows
from qdrank.rankers.documents import FoldDocuments
from qdrank.studies.lin2011.bank import Clustered, FoldBank, Key
from qdrank.studies.lin2011.methods import Readings, Weights
from qdrank.studies.lin2011.training import seen_rows
from qdrank.studies.lin2011.weights import (
    combined,
    distance_weights,
    distributions,
    divergences,
    naive_choices,
    point_scale,
    relevant_choices,
    scaled,
    select_weights,
    transformed,
)


@dataclass(frozen=True)
class Role:
    """Documents of one role.

    Attributes
    ----------
    part : the documents
    X : (n_documents, n_features) float64, as given
    vectors : (n_documents, n_features) float64, on the scale of the clusters
    base, single : (n_documents,) scores of the base model and of the global Ranking SVM
    points : (n_queries, 2) transformed queries
    """

    part: Judged
    X: FloatArray
    vectors: FloatArray
    base: FloatArray
    single: FloatArray
    points: FloatArray

    @property
    def offsets(self) -> IntArray:
        """Bounds of the queries."""
        return self.part.offsets

    @cached_property
    def retrieved_share(self) -> FloatArray:
        """Share of each query's relevant documents that are candidates, shape (n_queries,); 1 if the query has none."""
        unranked = self.part.unranked
        here = np.add.reduceat(self.part.y > 0, self.offsets[:-1], dtype=np.float64)
        missed = np.zeros(len(here)) if unranked is None else np.diff(unranked[1])
        return np.asarray(np.where(here > 0, here / np.maximum(here + missed, 1), 1.0))

    def ap(self, S: FloatArray) -> FloatArray:
        """Average precision (n_rankers, n_queries) of scores (n_rankers, n_documents), missed documents counted."""
        return np.asarray(ap_matrix(np.ascontiguousarray(S), self.part.y > 0, self.offsets)) * self.retrieved_share


def role_of(part: Judged, documents: FoldDocuments, reference: int, single: FloatArray, readings: Readings) -> Role:
    """Documents as the algorithms see them; parameters as for `LinFold`. Only the scale of ``documents`` is used."""
    X = part.X.astype(np.float64)
    base, scores = X[:, reference], model_scores(X, single[None])[0]
    points = transformed(base, scores, part.offsets, readings)
    return Role(part, X, seen_rows(documents, part).astype(np.float64), base, scores, points)


def model_scores(X: FloatArray, W: FloatArray) -> FloatArray:
    """Scores (m, n_documents) of models (m, n_features): the one product on which everything else builds."""
    return W @ X.T


class LinFold:
    """A fold with its clusters and models.

    Parameters
    ----------
    documents : documents of the fold
    reference : column of the base model's score, counted from 0
    single : (n_features,) weights of the chosen global Ranking SVM, for features as given
    bank : clusters and models
    base : seed of all random choices, including the order of tied validation documents
    starts : of K-means, which made the clusters
    """

    def __init__(
        self,
        documents: FoldDocuments,
        reference: int,
        single: FloatArray,
        bank: FoldBank,
        readings: Readings,
        *,
        base: int = 1,
        starts: int = 1,
    ) -> None:
        self.documents, self.bank, self.readings, self.single, self.base = documents, bank, readings, single, base
        self.reference, self.starts = reference, starts
        self.roles = {
            name: role_of(part, documents, reference, single, readings)
            for name, part in documents.parts.items()
            if part.n_queries
        }

    @property
    def validation(self) -> str:
        """Role whose queries choose settings: validation, or training without validation queries."""
        return "vali" if "vali" in self.roles else "train"

    @cached_property
    def point_scale(self) -> tuple[FloatArray, FloatArray]:
        """Mean and inverse deviation of the transformed training queries, (2,) each."""
        return point_scale(self.roles["train"].points)

    def local(self, role: str, key: Key, lam: float) -> ClusterScores:
        """Local models of one clustering on the documents of one role."""
        draw = fit_seed(self.base, key.seed)
        return ClusterScores(self.roles[role], self.bank.models(key, lam), self.readings, self.point_scale, draw)


class ClusterScores:
    """Local models of one clustering on some documents, and the three algorithms.

    Parameters
    ----------
    points : mean and inverse deviation of the transformed training queries, (2,) each
    draw : seed of the control that gives a query the weights of another one; each run of K-means has its own
    """

    def __init__(
        self, role: Role, models: Clustered, readings: Readings, points: tuple[FloatArray, FloatArray], draw: int
    ) -> None:
        self.role, self.models, self.readings, self.draw = role, models, readings, draw
        self.points = (role.points - points[0]) * points[1]

    @cached_property
    def scores(self) -> FloatArray:
        """Scores (m, n_documents)."""
        return model_scores(self.role.X, self.models.weights)

    @cached_property
    def scaled(self) -> FloatArray:
        """Scores on the scale that eq. 1 sums, (m, n_documents)."""
        return scaled(self.scores, self.role.offsets, self.readings.score_scale)

    def naive(self, ts: Sequence[int]) -> dict[int, IntArray]:
        """Cluster that Naive chooses for every query, for every t (algorithm 1)."""
        role, centres = self.role, self.models.centres
        return naive_choices(role.vectors, role.single, role.offsets, centres, ts, self.readings.representation)

    def relevant_only(self) -> IntArray:
        """Cluster nearest to the relevant documents of every query: an oracle."""
        role = self.role
        return relevant_choices(role.vectors, role.part.y, role.offsets, self.models.centres)

    def scores_of(self, choice: IntArray) -> FloatArray:
        """Scores of the documents, each query's by the model of its cluster, shape (n_documents,)."""
        return picked(self.scores, choice, self.role.offsets)

    def select_weights(self, ks: Sequence[int]) -> dict[int, FloatArray]:
        """Weights of SelectRanker (algorithm 2), (m, n_queries) for every k."""
        readings, role, models = self.readings, self.role, self.models
        P = distributions(self.scores, role.offsets, readings.distribution)
        base = distributions(role.base, role.offsets, readings.distribution)
        delta = divergences(P, base, role.offsets, readings.divergence)
        members = models.member_cluster, models.member_delta, models.member_precision
        return select_weights(delta, *members, ks, readings.confidence)

    def transform_weights(self) -> FloatArray:
        """Weights of Transform (algorithm 3), (m, n_queries)."""
        return distance_weights(self.points, self.models.centres, self.readings.weighting, self.models.width)

    def uniform_weights(self) -> FloatArray:
        """The same weight for every cluster that is not empty, (m, n_queries)."""
        filled = ~np.isnan(self.models.centres[:, :1])
        return np.repeat(filled.astype(np.float64), len(self.role.offsets) - 1, axis=1)

    def aggregated(self, weights: FloatArray) -> FloatArray:
        """Eq. 1 with weights (m, n_queries): scores (n_documents,)."""
        return combined(self.scaled, weights, self.role.offsets)


def picked(S: FloatArray, choice: IntArray, offsets: IntArray) -> FloatArray:
    """Scores (n_documents,) among those of rankers, (n_rankers, n_documents): each query's by the one of its choice."""
    chosen = np.repeat(choice, np.diff(offsets))
    return np.asarray(S[chosen, np.arange(len(chosen))])


def scores_for(
    local: ClusterScores, kind: str, sizes: Sequence[int], weights: Weights = "own"
) -> dict[int, FloatArray]:
    """Scores of the documents (n_documents,) by an algorithm, for every t or k; where it has neither: size 0.

    With the ``weights`` of another query, that of Naive is its cluster; every size has the same pairs of queries.
    """
    if weights == "uniform":
        return {0: local.aggregated(local.uniform_weights())}
    if kind == "naive":
        choices = local.naive(sizes)
        if weights == "other":
            choices = {t: other_rows(choice, local.draw) for t, choice in choices.items()}
        return {t: local.scores_of(choice) for t, choice in choices.items()}
    each = local.select_weights(sizes) if kind == "select" else {0: local.transform_weights()}
    if weights == "other":
        each = {size: other_rows(of_query.T, local.draw).T for size, of_query in each.items()}
    return {size: local.aggregated(of_query) for size, of_query in each.items()}
