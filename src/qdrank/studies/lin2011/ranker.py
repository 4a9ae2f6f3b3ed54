"""Naive, SelectRanker and Transform with the models of their clusters, as a ranker for new queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, ClassVar, Literal, Self

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray
from qdrank.learners.choose import fit_seed
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.documents import FoldDocuments
from qdrank.studies.lin2011.bank import Clustered, FoldBank, Key
from qdrank.studies.lin2011.clusters import RANDOM
from qdrank.studies.lin2011.fold import ClusterScores, LinFold, Role, role_of, scores_for
from qdrank.studies.lin2011.methods import Readings, Weights
from qdrank.studies.lin2011.training import train_singles
from qdrank.studies.lin2011.units import Workshop


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
    points_: tuple[FloatArray, FloatArray] = field(init=False, repr=False)
    local_: Clustered | None = field(init=False, repr=False)

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Divide the training queries into clusters and train a model for each."""
        documents = FoldDocuments({"train": train}, self.mean, self.inverse)
        singles = train_singles(
            documents.preferences(), sorted({self.lam, self.single_lam}, reverse=True), tol=self.tol
        )
        single = singles[self.single_lam].w
        readings = Readings(**self.readings)
        unit, random = self.scheme.removesuffix(RANDOM), self.scheme.endswith(RANDOM)
        drawn: dict[str, Any] = {"base": self.base, "starts": self.starts}
        models = {self.lam: singles[self.lam]}
        shop = Workshop(documents, self.reference, models, single, readings, random=random, tol=self.tol, **drawn)
        bank = FoldBank(shop.run([Key(unit, self.seed, self.m)], only=self.scheme))
        return self.take(LinFold(documents, self.reference, documents.stored(single), bank, readings, **drawn))

    def take(self, fold: LinFold) -> Self:
        """Take the models that a fold has trained."""
        key = Key(self.scheme, self.seed, self.m)
        self.single_, self.points_ = fold.single, fold.point_scale
        self.local_ = None if self.kind == "single" else fold.bank.models(key, self.lam)
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,); as in any matrix product, the last bits depend on what else the call scores."""
        return next(self.predict_each([self], documents, vectors))[1]

    def predict_each(
        self,
        fitted: Iterable[Self],
        documents: Judged,
        vectors: FloatArray,  # noqa: ARG002
    ) -> Iterator[tuple[Self, FloatArray]]:
        """Rankers of one algorithm and training set with their scores; what neighbours with the same models share is done once."""
        self.refuse_unfitted()
        readings, scale = Readings(**self.readings), FoldDocuments({}, self.mean, self.inverse)
        with one_thread():
            role = role_of(documents, scale, self.reference, self.single_, readings)
            for _, alike in groupby(fitted, lambda one: (one.scheme, one.seed, one.m, one.lam)):
                rankers = list(alike)
                scores = rankers[0]._scores(role, readings, [one.size for one in rankers])
                yield from ((one, scores[one.size]) for one in rankers)

    def _scores(self, role: Role, readings: Readings, sizes: Sequence[int]) -> dict[int, FloatArray]:
        """Scores (n_documents,) for every t or k."""
        if self.local_ is None:
            return dict.fromkeys(sizes, role.single)
        draw = fit_seed(self.base, self.seed)
        local = ClusterScores(role, Clustered(*self.local_), readings, self.points_, draw)
        return scores_for(local, self.kind, sizes, self.counted)


def ranker_of(fold: LinFold, **params: Any) -> ClusterRanker:
    """A ranker with the models of a fold."""
    documents = fold.documents
    common: dict[str, Any] = {"reference": fold.reference, "base": fold.base, "starts": fold.starts}
    common |= {"readings": dict(vars(fold.readings)), "mean": documents.mean, "inverse": documents.inverse}
    return ClusterRanker(**common, **params).take(fold)
