"""The part of section ``beyond`` that the computation needs, and the rankers it defines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Literal

from qdrank.learners.parameters import most_regularised_first
from qdrank.rankers.base import OfOthers, QueryRanker
from qdrank.rankers.bilinear import Bilinear
from qdrank.rankers.evidence import DocumentPrior, NeighbourEvidence
from qdrank.rankers.learned import WithQueryVectors
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.one_model import LinearRanker, TreeRanker, WithEvidence

if TYPE_CHECKING:
    from qdrank.studies.beyond.settings import Beyond as _Keys
else:
    from qdrank.studies.study import Keys as _Keys


class Options(_Keys):
    """Keys of section ``beyond``, under the same names; ``rounds``, ``tol`` and ``seed`` are shared by all studies.

    ``reference`` is the column of the reference feature.
    """

    rounds: int
    tol: float
    seed: int
    reference: int

    @property
    def penalties(self) -> list[float]:
        """``lambdas`` in the order tried."""
        return most_regularised_first("lam", self.lambdas)

    @property
    def local_penalties(self) -> list[float]:
        """``local_lambdas`` in the order tried."""
        return most_regularised_first("lam", self.local_lambdas)

    @property
    def neighbours(self) -> list[float]:
        """``ks`` in the order tried."""
        return most_regularised_first("k", self.ks)

    @property
    def gates(self) -> list[tuple[float, float]]:
        """Lambdas and penalties on interactions, of bilinear weights and of the gate."""
        return list(product(self.local_penalties, most_regularised_first("interactions", self.interactions)))

    def linear(self) -> list[QueryRanker]:
        """One linear model for all queries."""
        return [LinearRanker(lam=lam, tol=self.tol) for lam in self.penalties]

    def trees(self, monotone: tuple[int, ...] = ()) -> list[QueryRanker]:
        """LambdaMART; ``monotone`` as for `qdrank.learners.trees.LambdaMART`."""
        return [
            TreeRanker(
                rounds=self.rounds,
                learning_rate=self.learning_rate,
                leaves=leaves,
                min_leaf=min_leaf,
                seed=self.seed,
                monotone=monotone,
            )
            for leaves, min_leaf in product(
                most_regularised_first("leaves", self.leaves), most_regularised_first("min_leaf", self.min_leaf)
            )
        ]

    def trees_with_vectors(self) -> list[QueryRanker]:
        """LambdaMART that sees the query vector."""
        return [WithQueryVectors(base=ranker) for ranker in self.trees()]

    def nearest(self, random: int | None = None) -> list[QueryRanker]:
        """Models of the nearest queries, or of random ones."""
        return [
            LocalRanker(k=k, lam=lam, tol=self.tol, random=random)
            for k, lam in product(self.neighbours, self.local_penalties)
        ]

    def proximal(self, lam: float, random: int | None = None) -> list[QueryRanker]:
        """The same, pulled towards Single with its ``lam``."""
        return [
            LocalRanker(k=k, lam=lam, proximity=proximity, tol=self.tol, random=random)
            for k, proximity in product(self.neighbours, most_regularised_first("proximity", self.proximities))
        ]

    def kernel(self, lam: float) -> list[QueryRanker]:
        """Kernel weights, mixed with Single."""
        return [
            LocalRanker(k=k, weights="kernel", lam=lam, mix=mix, tol=self.tol)
            for k, mix in product(self.neighbours, most_regularised_first("mix", self.mixes))
        ]

    def bilinear(self) -> list[QueryRanker]:
        """Weights that are linear in the query vector."""
        return [
            Bilinear(lam=lam, interactions=penalty, components=self.components, tol=self.tol)
            for lam, penalty in self.gates
        ]

    def evidence(self) -> NeighbourEvidence:
        """Judgments of similar queries."""
        return NeighbourEvidence(similarity=self.similarity, reference=self.reference, gammas=tuple(self.gammas))

    def prior(self) -> DocumentPrior:
        """Judgments of all queries."""
        return DocumentPrior(similarity=self.similarity, reference=self.reference)

    def with_evidence(self, tried: list[QueryRanker]) -> list[QueryRanker]:
        """Rankers that see judgments of similar queries."""
        evidence = self.evidence()
        return [WithEvidence(base=ranker, evidence=evidence) for ranker in tried]

    def with_prior(self, tried: list[QueryRanker]) -> list[QueryRanker]:
        """Rankers that see judgments of all queries."""
        prior = self.prior()
        return [WithEvidence(base=ranker, evidence=prior) for ranker in tried]

    def of_others(
        self, tried: Sequence[QueryRanker], given: Literal["vectors", "models"] = "vectors"
    ) -> list[QueryRanker]:
        """Rankers that know another query in place of the query itself."""
        return [OfOthers(base=ranker, seed=self.seed, given=given) for ranker in tried]
