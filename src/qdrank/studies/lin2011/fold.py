"""The three algorithms and the oracles on one fold, as functions of the scores of all local models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray, rows_of_queries
from qdrank.learners.choose import ValidationQueries
from qdrank.learners.refits import fit_seed
from qdrank.measures.matrix_kernels import ap_matrix
from qdrank.queries.others import other_rows
from qdrank.rankers.documents import FoldDocuments
from qdrank.studies.lin2011.bank import HALVES, Clusters, FoldBank, Key
from qdrank.studies.lin2011.methods import Weights
from qdrank.studies.lin2011.options import Readings
from qdrank.studies.lin2011.representations import naive_choices, relevant_choices, standardised_rows, transformed
from qdrank.studies.lin2011.scores import combined, distributions, divergences, scaled
from qdrank.studies.lin2011.training import seen_rows
from qdrank.studies.lin2011.units import halves
from qdrank.studies.lin2011.weights import distance_weights, median_distance, select_weights


class ClusterSetting(NamedTuple):
    """Number of clusters, lambda of the local models, and t of Naive or k of SelectRanker (0 for Transform)."""

    m: int
    lam: float
    size: int


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
        self.roles = {name: self._role(part) for name, part in documents.parts.items() if part.n_queries}

    def _role(self, part: Judged) -> Role:
        return role_of(part, self.documents, self.reference, self.single, self.readings)

    @property
    def validation(self) -> str:
        """Role whose queries choose settings: validation, or training without validation queries."""
        return "vali" if "vali" in self.roles else "train"

    @cached_property
    def validation_queries(self) -> ValidationQueries:
        """The queries of that role, used to compare settings."""
        return ValidationQueries.of(self.roles[self.validation].part, measure="ap", seed=self.base)

    def points(self, role: str) -> FloatArray:
        """Transformed queries of a role on the scale of the training queries, (n_queries, 2)."""
        return standardised_rows(self.roles["train"].points, self.roles[role].points)[1]

    def local(self, role: str, key: Key, lam: float) -> LocalScores:
        """Local models of one clustering on the documents of one role."""
        return LocalScores(self, role, key, lam)

    @cached_property
    def first_half(self) -> NDArray[np.bool_]:
        """Training queries of the first half, shape (n_queries,)."""
        return halves(self.roles["train"].part.n_queries, self.base)


@dataclass(frozen=True)
class Members:
    """Cluster of each member query, and divergence and precision of the cluster's model on it, (n_members,) each."""

    cluster: IntArray
    delta: FloatArray
    precision: FloatArray


class ClusterScores:
    """Local models of one clustering on some documents, and the three algorithms; each result is computed once."""

    def __init__(self, role: Role, readings: Readings) -> None:
        self.role, self.readings = role, readings
        self._selected: dict[tuple[int, ...], dict[int, FloatArray]] = {}

    @property
    def weights(self) -> FloatArray:
        """Weights of the models, (m, n_features)."""
        raise NotImplementedError

    @property
    def centres(self) -> FloatArray:
        """Centres of the clusters, (m, n_columns), NaN where one is empty."""
        raise NotImplementedError

    @property
    def members(self) -> Members:
        """Training queries of the clusters."""
        raise NotImplementedError

    @property
    def points(self) -> FloatArray:
        """Transformed queries on the scale of the training queries, (n_queries, 2)."""
        raise NotImplementedError

    @property
    def width(self) -> float:
        """Median distance of the training queries from the centre of their cluster."""
        raise NotImplementedError

    @property
    def draw(self) -> int:
        """Seed of the control that gives a query the weights of another one; each run of K-means has its own."""
        raise NotImplementedError

    @cached_property
    def scores(self) -> FloatArray:
        """Scores (m, n_documents)."""
        return model_scores(self.role.X, self.weights)

    @cached_property
    def scaled(self) -> FloatArray:
        """Scores on the scale that eq. 1 sums, (m, n_documents)."""
        return scaled(self.scores, self.role.offsets, self.readings.score_scale)

    def naive(self, ts: Sequence[int]) -> dict[int, IntArray]:
        """Cluster that Naive chooses for every query, for every t (algorithm 1)."""
        role = self.role
        return naive_choices(role.vectors, role.single, role.offsets, self.centres, ts, self.readings.representation)

    def scores_of(self, choice: IntArray) -> FloatArray:
        """Scores of the documents, each query's by the model of its cluster, shape (n_documents,)."""
        chosen = np.repeat(choice, np.diff(self.role.offsets))
        return np.asarray(self.scores[chosen, np.arange(len(chosen))])

    def select_weights(self, ks: Sequence[int]) -> dict[int, FloatArray]:
        """Weights of SelectRanker (algorithm 2), (m, n_queries) for every k."""
        if (*ks,) not in self._selected:
            self._selected[*ks,] = self._select_weights(ks)
        return self._selected[*ks,]

    def _select_weights(self, ks: Sequence[int]) -> dict[int, FloatArray]:
        readings, role, members = self.readings, self.role, self.members
        P = distributions(self.scores, role.offsets, readings.distribution)
        base = distributions(role.base, role.offsets, readings.distribution)
        delta = divergences(P, base, role.offsets, readings.divergence)
        return select_weights(delta, members.cluster, members.delta, members.precision, ks, readings.confidence)

    def transform_weights(self) -> FloatArray:
        """Weights of Transform (algorithm 3), (m, n_queries)."""
        return distance_weights(self.points, self.centres, self.readings.weighting, self.width)

    def uniform_weights(self) -> FloatArray:
        """The same weight for every cluster that is not empty, (m, n_queries)."""
        filled = ~np.isnan(self.centres[:, :1])
        return np.repeat(filled.astype(np.float64), len(self.role.offsets) - 1, axis=1)

    def aggregated(self, weights: FloatArray) -> FloatArray:
        """Eq. 1 with weights (m, n_queries): scores (n_documents,)."""
        return combined(self.scaled, weights, self.role.offsets)


class LocalScores(ClusterScores):
    """The models of a clustering of a fold on the documents of one of its roles."""

    def __init__(self, fold: LinFold, role: str, key: Key, lam: float) -> None:
        super().__init__(fold.roles[role], fold.readings)
        self.fold, self.name, self.key, self.lam = fold, role, key, lam

    @cached_property
    def weights(self) -> FloatArray:
        """Weights (m, n_features)."""
        return self.fold.bank.weights(self.key, self.lam)

    @cached_property
    def clusters(self) -> Clusters:
        """The clusters."""
        return self.fold.bank.clusters(self.key)

    @property
    def centres(self) -> FloatArray:
        """Centres of the clusters."""
        return self.clusters.centres

    @property
    def draw(self) -> int:
        """Seed of the control, from that of the study and of the clusters."""
        return fit_seed(self.fold.base, self.key.seed)

    @property
    def points(self) -> FloatArray:
        """Transformed queries of the role."""
        return self.fold.points(self.name)

    @cached_property
    def ap(self) -> FloatArray:
        """Average precisions (m, n_queries)."""
        return self.role.ap(self.scores)

    def relevant_only(self) -> IntArray:
        """Cluster nearest to the relevant documents of every query: an oracle."""
        role = self.role
        return relevant_choices(role.vectors, role.part.y, role.offsets, self.centres)

    def ap_of(self, choice: IntArray) -> FloatArray:
        """Average precision of every query with the model of its cluster, shape (n_queries,)."""
        return np.asarray(self.ap[choice, np.arange(len(choice))])

    @cached_property
    def members(self) -> Members:
        """Training queries of the clusters."""
        readings, train = self.readings, self.fold.roles["train"]
        query, cluster = self.clusters.members(readings.membership)
        rows, bounds = rows_of_queries(train.offsets, query)
        member = np.repeat(np.arange(len(query)), np.diff(bounds))
        scores = np.einsum("nf,nf->n", train.X[rows], self.weights[cluster][member])
        P, base = (distributions(s, bounds, readings.distribution) for s in (scores, train.base[rows]))
        delta = divergences(P[None], base, bounds, readings.divergence)[0]
        if readings.confidence_from == "inner":
            W = np.stack([self.fold.bank.weights(self.key, self.lam, half) for half in HALVES])
            left_out = np.where(self.fold.first_half[query], 0, 1)
            scores = np.einsum("nf,nf->n", train.X[rows], W[left_out, cluster][member])
        ap = ap_matrix(np.ascontiguousarray(scores[None]), train.part.y[rows] > 0, bounds)[0]
        return Members(cluster, delta, ap * train.retrieved_share[query])

    @cached_property
    def width(self) -> float:
        """Median distance of the training queries from the centre of their cluster."""
        label = np.zeros(self.fold.roles["train"].part.n_queries, dtype=np.int64)
        label[self.clusters.query] = self.clusters.cluster
        return median_distance(self.fold.points("train"), self.centres, label)


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
