"""Naive, SelectRanker and Transform with the models of their clusters, as a ranker for new queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.learners.refits import fit_seed
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.documents import FoldDocuments
from qdrank.studies.lin2011.bank import FoldBank, Key
from qdrank.studies.lin2011.clusters import RANDOM
from qdrank.studies.lin2011.fold import (
    ClusterScores,
    ClusterSetting,
    LinFold,
    LocalScores,
    Members,
    Role,
    role_of,
    scores_for,
)
from qdrank.studies.lin2011.methods import Algorithm, Weights
from qdrank.studies.lin2011.options import Readings
from qdrank.studies.lin2011.representations import point_scale
from qdrank.studies.lin2011.training import train_singles
from qdrank.studies.lin2011.units import ClusterPlan, Workshop


@dataclass(kw_only=True, eq=False)
class ClusterRanker(QueryRanker):
    """Local models of clusters, one chosen or several aggregated; or the global Ranking SVM, their baseline.

    Parameters
    ----------
    kind : algorithm 1, 2 or 3, or the global model
    counted : the weights of the clusters: the query's own or, in the controls, equal ones or those of another query of the call
    reference : column of the base model's score, counted from 0
    scheme : clusterings whose models are used
    m, size : number of clusters; t of Naive or k of SelectRanker
    lam, single_lam : lambda of the local models and of the global one
    seed, base, starts : of the clusters, of the study, and of K-means
    tol : as for `RankSVM`
    readings : the inferred choices, keys of `Readings`
    mean, inverse : (n_features,) clusters and learners see ``(x - mean) * inverse``
    """

    NAME: ClassVar[str] = "clusters"

    SEEDS: ClassVar[tuple[str, ...]] = ("seed",)

    kind: Literal["single", "naive", "select", "transform"]
    reference: int
    counted: Weights = "own"
    scheme: str = "pairs"
    m: int = 10
    size: int = 1
    lam: float = 0.01
    single_lam: float = 0.01
    seed: int = 1
    base: int = 1
    starts: int = 1
    tol: float = 1e-6
    readings: Mapping[str, Any]
    mean: FloatArray
    inverse: FloatArray
    single_: FloatArray = field(init=False, repr=False)
    weights_: FloatArray = field(init=False, repr=False)
    centres_: FloatArray = field(init=False, repr=False)
    member_cluster_: IntArray = field(init=False, repr=False)
    member_delta_: FloatArray = field(init=False, repr=False)
    member_ap_: FloatArray = field(init=False, repr=False)
    point_mean_: FloatArray = field(init=False, repr=False)
    point_inverse_: FloatArray = field(init=False, repr=False)
    width_: float = field(init=False, repr=False)

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Divide the training queries into clusters and train a model for each."""
        documents = FoldDocuments({"train": train}, self.mean, self.inverse)
        singles = train_singles(
            documents.preferences(), sorted({self.lam, self.single_lam}, reverse=True), tol=self.tol
        )
        single = singles[self.single_lam].w
        readings = Readings(**self.readings)
        unit, random = self.scheme.removesuffix(RANDOM), self.scheme.endswith(RANDOM)
        plan = ClusterPlan(
            ms=[self.m], seeds=[self.seed], base=self.base, random=random, starts=self.starts, readings=readings
        )
        shop = Workshop(documents, self.reference, {self.lam: singles[self.lam]}, single, plan, tol=self.tol)
        bank = FoldBank(*shop.run([Key(unit, self.seed, self.m)], only=self.scheme), train.query_id)
        fold = LinFold(
            documents, self.reference, documents.stored(single), bank, readings, base=self.base, starts=self.starts
        )
        return self.take(fold, Key(self.scheme, self.seed, self.m), self.lam)

    def take(self, fold: LinFold, key: Key | None = None, lam: float = 0.0) -> Self:
        """Take the models that a fold has trained; without a clustering only the global model."""
        none = np.zeros(0)
        self.single_ = fold.single
        self.weights_ = self.centres_ = np.zeros((0, 0))
        self.member_cluster_, self.member_delta_, self.member_ap_ = np.zeros(0, dtype=np.int64), none, none
        self.point_mean_, self.point_inverse_ = point_scale(fold.roles["train"].points)
        self.width_ = 0.0
        if key is None:
            return self
        local = LocalScores(fold, "train", key, lam)
        self.weights_, self.centres_ = local.weights, local.centres
        if self.kind == "select" and self.counted != "uniform":
            members = local.members
            self.member_cluster_, self.member_delta_, self.member_ap_ = (
                members.cluster,
                members.delta,
                members.precision,
            )
        if self.kind == "transform":
            self.width_ = local.width
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,); as in any matrix product, the last bits depend on what else the call scores."""
        self.refuse_unfitted()
        readings = Readings(**self.readings)
        with one_thread():
            scale = FoldDocuments({}, self.mean, self.inverse)
            role = role_of(documents, scale, self.reference, self.single_, readings)
            if self.kind == "single":
                return role.single
            return scores_for(_Stored(self, role, readings), self.kind, [self.size], self.counted)[self.size]


class _Stored(ClusterScores):
    """The models of a ranker on new documents."""

    def __init__(self, ranker: ClusterRanker, role: Role, readings: Readings) -> None:
        super().__init__(role, readings)
        self._ranker = ranker

    @property
    def weights(self) -> FloatArray:
        """Weights of the models."""
        return self._ranker.weights_

    @property
    def centres(self) -> FloatArray:
        """Centres of the clusters."""
        return self._ranker.centres_

    @property
    def draw(self) -> int:
        """Seed of the control."""
        return fit_seed(self._ranker.base, self._ranker.seed)

    @property
    def members(self) -> Members:
        """Training queries of the clusters."""
        ranker = self._ranker
        return Members(ranker.member_cluster_, ranker.member_delta_, ranker.member_ap_)

    @property
    def points(self) -> FloatArray:
        """Transformed queries."""
        return (self.role.points - self._ranker.point_mean_) * self._ranker.point_inverse_

    @property
    def width(self) -> float:
        """Median distance of the training queries from their centres."""
        return self._ranker.width_


def cluster_ranker(
    fold: LinFold, algorithm: Algorithm | None = None, seed: int = 1, setting: ClusterSetting | None = None
) -> ClusterRanker:
    """A method of a fold with one seed and setting; without an algorithm, the global Ranking SVM."""
    documents = fold.documents
    common: dict[str, Any] = {"reference": fold.reference, "base": fold.base, "starts": fold.starts}
    common |= {"readings": dict(vars(fold.readings)), "mean": documents.mean, "inverse": documents.inverse}
    if algorithm is None or setting is None:
        return ClusterRanker(kind="single", **common).take(fold)
    ranker = ClusterRanker(
        kind=algorithm.kind,
        counted=algorithm.weights,
        scheme=algorithm.scheme,
        m=setting.m,
        size=setting.size,
        lam=setting.lam,
        seed=seed,
        **common,
    )
    return ranker.take(fold, Key(algorithm.scheme, seed, setting.m), setting.lam)
