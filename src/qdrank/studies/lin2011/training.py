"""A Ranking SVM for every cluster, trained together by the block engine.

Clusters of whole queries share one set of preferences. A cluster of relevant documents learns from these and from all
non-relevant documents of their queries. It sees only part of each query, a *partial query*, and the partial queries of
consecutive clusters form one set of preferences. Blocks depend on the data alone, so dividing whole clusterings among
shards changes no bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray, padded
from qdrank.learners.ranksvm.anderson import inverted
from qdrank.learners.ranksvm.estimator import Model, RankSVM, all_pairs, preconditioner, solve, whole_problem
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.learners.ranksvm.local import LocalModels, TrainingBase, prepare_training, train_block
from qdrank.learners.ranksvm.preferences import Preferences, prepare
from qdrank.rankers.documents import FoldDocuments
from qdrank.studies.lin2011.clusters import Clustering

if TYPE_CHECKING:
    from qdrank.studies.lin2011.settings import TrainingSet

#: Most documents of partial queries held in memory at once.
ROWS = 400_000


@dataclass(frozen=True)
class ClusterModels:
    """Models of a clustering at one lambda.

    Attributes
    ----------
    W : (m, n_features) weights on the learner's scale
    pairs : (m,) preference pairs of each cluster
    fallback : (m,) bool; no pair to learn from, so the model is the global one
    gaps : (m,), evaluations : (m,)
    """

    W: FloatArray
    pairs: IntArray
    fallback: np.ndarray
    gaps: FloatArray
    evaluations: IntArray


class Trainer:
    """Trains the clusterings of a fold.

    Parameters
    ----------
    documents : documents of the fold
    singles : global model by lambda, optimal for it
    fallback : (n_features,) weights of the model used for clusters without pairs
    """

    def __init__(
        self, documents: FoldDocuments, singles: Mapping[float, Model], fallback: FloatArray, *, tol: float = 1e-6
    ) -> None:
        self.train, self.tol, self.fallback, self.singles = documents.parts["train"], tol, fallback, singles
        self.X = seen_rows(documents, self.train)
        self.data = documents.preferences()
        matrix = all_pairs(self.data)
        self.grounds = {
            lam: prepare_training(self.data, lam=lam, tol=tol, single=one, all_pairs=matrix)
            for lam, one in singles.items()
        }

    def fit(
        self, clustering: Clustering, training_set: TrainingSet, only: np.ndarray | None = None
    ) -> dict[float, ClusterModels]:
        """Models of all clusters, for every lambda; ``only`` (n_queries,) bool leaves the other queries out."""
        label, items = clustering.label, clustering.items
        if only is not None:
            kept = np.flatnonzero(only[items.query])
            label, items = label[kept], items.take(kept)
        if training_set == "relevant" and (items.row >= 0).all():
            return self._fit_partial(clustering.m, label, items.query, items.row)
        return self._fit_queries(clustering.m, label, items.query)

    def _fit_queries(self, m: int, label: IntArray, query: IntArray) -> dict[float, ClusterModels]:
        members = [np.unique(query[label == i]) for i in range(m)]
        models = {}
        for lam, ground in self.grounds.items():
            models[lam] = self._finished(train_block(ground, padded(members), tol=self.tol))
        return models

    def _fit_partial(self, m: int, label: IntArray, query: IntArray, row: IntArray) -> dict[float, ClusterModels]:
        """Models of clusters of relevant documents; a cluster that holds all of them is the training set itself."""
        whole = np.bincount(label, minlength=m) == (self.train.y > 0).sum()
        if whole.any():
            return self._fit_queries(m, label, query)
        models_of: dict[float, list[LocalModels]] = {lam: [] for lam in self.grounds}
        for clusters in partial_blocks(self.train, m, label, query, row):
            rows, offsets, members = clusters
            data = prepare(self.X[rows], self.train.y[rows], offsets)
            for lam, models in self._partial_models(data, members).items():
                models_of[lam].append(models)
        return {lam: self._finished(_joined(blocks)) for lam, blocks in models_of.items()}

    def _partial_models(self, data: Preferences, members: Sequence[IntArray]) -> dict[float, LocalModels]:
        """Models of partial queries, for every lambda, from one start and one matrix of all pairs."""
        table = padded(members)
        pairs = (
            np.where(table >= 0, data.pairs[table], 0).sum(axis=1)
            if data.n_queries
            else np.zeros(len(table), dtype=np.int64)
        )
        if (pairs > 0).sum() < 2:  # alone in its block, it would look like the global model to the engine
            return {lam: self._lonely(data, pairs, lam) for lam in self.grounds}
        first = next(iter(self.grounds))
        ground = prepare_training(data, lam=first, tol=self.tol, single=self.singles[first])
        return {lam: train_block(_at_lambda(ground, lam), table, tol=self.tol) for lam in self.grounds}

    def _lonely(self, data: Preferences, pairs: IntArray, lam: float) -> LocalModels:
        n, d = len(pairs), self.X.shape[1]
        models = LocalModels(
            np.arange(n), np.zeros((n, d)), np.zeros(n), np.zeros(n, dtype=np.int64), pairs.astype(np.int64)
        )
        for i in np.flatnonzero(pairs):
            alone = RankSVM(lam=lam, tol=self.tol).fit_preferences(data)
            models.W[i], models.gaps[i], models.evaluations[i] = alone.coef_, alone.gap_, alone.n_iter_
        return models

    def _finished(self, models: LocalModels) -> ClusterModels:
        """Give clusters without pairs the global model."""
        none = models.pairs == 0
        W = np.where(none[:, None], self.fallback, models.W)
        return ClusterModels(W, models.pairs, none, models.gaps, models.evaluations)


def seen_rows(documents: FoldDocuments, part: Judged) -> np.ndarray:
    """Features of documents as the learner sees them, (n_documents, n_features) float32."""
    return ((part.X - documents.mean) * documents.inverse).astype(np.float32)


def _at_lambda(ground: TrainingBase, lam: float) -> TrainingBase:
    """The same training base for another lambda: the start stays, the matrix of all pairs is shifted."""
    shift = (lam - ground.lam) * np.eye(len(ground.inverse))
    matrix = np.linalg.inv(ground.inverse) + shift
    noise = float(np.finfo(ground.data.X.dtype).eps * np.sqrt(2 * np.trace(matrix)))
    return replace(ground, lam=lam, inverse=inverted(matrix), noise=noise)


def train_singles(data: Preferences, lambdas: Sequence[float], *, tol: float = 1e-6) -> dict[float, Model]:
    """Global Ranking SVMs, one per lambda; the matrix of all pairs is computed once."""
    models, matrix = {}, all_pairs(data)
    with one_thread():
        for lam in lambdas:
            problem = whole_problem(data, np.ones(data.n_queries), lam)
            inverse = inverted(preconditioner(problem, matrix))
            models[lam] = solve(problem, loss="squared_hinge", tol=tol, limit=100, inverse=inverse)
    return models


PartialBlock = tuple[IntArray, IntArray, list[IntArray]]
"""Rows of documents, bounds of the partial queries, and the partial queries of each cluster of the block."""


def partial_blocks(
    train: Judged, m: int, label: IntArray, query: IntArray, row: IntArray, limit: int = ROWS
) -> Iterator[PartialBlock]:
    """Partial queries of consecutive clusters: as many clusters as fit in ``limit`` documents, at least one.

    A partial query has the relevant documents of one cluster and query, and all non-relevant ones of the query.
    """
    keys, cell = np.unique(label * train.n_queries + query, return_inverse=True)
    cluster, of_query = keys // train.n_queries, keys % train.n_queries
    others = _non_relevant(train)
    partial_queries = [
        np.concatenate([inside, others[q]]) for inside, q in zip(_split_by(row, cell, len(keys)), of_query, strict=True)
    ]
    sizes = np.array([len(rows) for rows in partial_queries], dtype=np.int64)
    documents: FloatArray = np.bincount(cluster, weights=sizes.astype(np.float64), minlength=m).astype(np.float64)
    for first, last in pairwise(_cuts(documents, limit)):
        inside = np.flatnonzero((cluster >= first) & (cluster < last))
        members = [np.flatnonzero(cluster[inside] == i) for i in range(first, last)]
        rows = np.concatenate([partial_queries[i] for i in inside]) if len(inside) else np.zeros(0, dtype=np.int64)
        yield rows, np.concatenate([[0], np.cumsum(sizes[inside])]), members


def _split_by(row: IntArray, cell: IntArray, n: int) -> list[IntArray]:
    order = np.argsort(cell, kind="stable")
    return np.split(row[order], np.cumsum(np.bincount(cell, minlength=n))[:-1]) if n else []


def _non_relevant(train: Judged) -> list[IntArray]:
    """Rows of the non-relevant documents of each query."""
    return [start + np.flatnonzero(train.y[start:end] == 0) for start, end in pairwise(train.offsets)]


def _cuts(sizes: FloatArray, limit: int) -> list[int]:
    """Bounds of runs whose sizes sum to at most ``limit``; a larger item forms its own run."""
    cuts, total = [0], 0.0
    for i, size in enumerate(sizes):
        if total and total + size > limit:
            cuts.append(i)
            total = 0.0
        total += size
    return [*cuts, len(sizes)]


def _joined(blocks: Sequence[LocalModels]) -> LocalModels:
    names = ("W", "gaps", "evaluations", "pairs")
    columns = {name: np.concatenate([getattr(block, name) for block in blocks]) for name in names}
    return LocalModels(rows=np.arange(len(columns["W"])), **columns)
