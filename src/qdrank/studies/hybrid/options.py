"""The part of section ``hybrid`` that the computation needs, and the rankers it defines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qdrank.learners.atvt.estimator import ATVT
from qdrank.learners.ensemble.ser import SER
from qdrank.learners.regularised import most_regularised_first
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.bilinear import Bilinear
from qdrank.rankers.evidence import DocumentPrior, NeighbourEvidence
from qdrank.rankers.learned import LearnerRanker, WithQueryVectors
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.plain import LinearRanker, TreeRanker, WithEvidence
from qdrank.rankers.reference import OneFeature
from qdrank.rankers.run_scores import FusedRuns, Norm, OnRunScores
from qdrank.rankers.run_weights import FixedWeights, MarginWeights, NeighbourWeights, PredictedWeights
from qdrank.studies.hybrid.methods import MEASURE

if TYPE_CHECKING:
    from qdrank.studies.hybrid.settings import Hybrid as _Keys
else:
    from qdrank.studies.keys import Keys as _Keys


class Options(_Keys):
    """Keys of section ``hybrid``, under the same names; ``seed`` and ``tol`` are shared by all studies."""

    seed: int
    tol: float

    def alone(self, n_runs: int) -> list[QueryRanker]:
        """Each run alone, by the reciprocal of its rank."""
        return [OneFeature(column=5 * run + 3) for run in range(n_runs)]

    def fused(self, method: str) -> list[QueryRanker]:
        """CombSUM or CombMNZ in each norm that it allows."""
        return [
            FusedRuns(method=method, norm=norm)  # type: ignore[arg-type]
            for norm in self.norms
            if (method, norm) != ("combmnz", "z-score")
        ]

    def fixed(self, norm: Norm) -> FixedWeights:
        """Tuned fixed weights."""
        return FixedWeights(norm=norm, measure=MEASURE, seed=self.seed)

    def neighbours(self, norm: Norm, random: int | None = None) -> list[NeighbourWeights]:
        """Weights of the most similar judged queries, or of random ones."""
        kinds = [NeighbourWeights(norm=norm, measure=MEASURE, k=k, random=random) for k in self.counts()]
        if random is not None:
            return kinds
        vectors = [NeighbourWeights(norm=norm, measure=MEASURE, k=k, similarity="vectors") for k in self.counts()]
        return [*kinds, *vectors]

    def counts(self) -> list[float]:
        """``ks`` in the order tried."""
        return [
            *(k for k in sorted(self.ks, reverse=True) if k <= 1),
            *(k for k in sorted(self.ks, reverse=True) if k > 1),
        ]

    def ridge(self, norm: Norm, *, single: bool = False) -> list[PredictedWeights]:
        """Weights by ridge regression; ``single``: one run alone for each query."""
        penalties = most_regularised_first("lam", self.lambdas)
        return [PredictedWeights(norm=norm, measure=MEASURE, lam=lam, single=single) for lam in penalties]

    def trees(self, norm: Norm) -> list[PredictedWeights]:
        """Weights by boosted trees."""
        leaves = most_regularised_first("leaves", self.leaves)
        shared = {"norm": norm, "measure": MEASURE, "model": "trees", "rounds": self.rounds, "seed": self.seed}
        return [PredictedWeights(leaves=n, **shared) for n in leaves]  # type: ignore[arg-type]

    def margin(self, norm: Norm, others: int | None = None) -> list[MarginWeights]:
        """The margin rule."""
        powers = sorted(self.powers)
        return [MarginWeights(norm=norm, measure=MEASURE, power=power, others=others) for power in powers]

    def linear(self) -> list[QueryRanker]:
        """Ranking SVM on all columns."""
        return [LinearRanker(lam=lam, tol=self.tol) for lam in self.penalties]

    @property
    def penalties(self) -> list[float]:
        """``linear_lambdas`` in the order tried."""
        return most_regularised_first("lam", self.linear_lambdas)

    def lambdamart(self, *, queries: bool = False) -> list[QueryRanker]:
        """LambdaMART, with or without columns of the query."""
        leaves = most_regularised_first("leaves", self.leaves)
        grown: list[QueryRanker] = [TreeRanker(rounds=self.rounds, leaves=n, seed=self.seed) for n in leaves]
        return [WithQueryVectors(base=ranker) for ranker in grown] if queries else grown

    def evidence(self, reference: int, *, prior: bool = False) -> list[QueryRanker]:
        """Ranking SVM with judgments of similar queries, or of all queries."""
        kind = DocumentPrior if prior else NeighbourEvidence
        return [WithEvidence(base=base, evidence=kind(reference=reference)) for base in self.linear()]

    def paper_methods(self, norm: Norm) -> dict[str, Sequence[QueryRanker]]:
        """The papers' methods on the runs' scores, by name."""
        lams = self.penalties
        bases: dict[str, list[QueryRanker]] = {
            "hybrid-local": [LocalRanker(k=self.local, lam=lam, tol=self.tol) for lam in lams],
            "hybrid-ser": [LearnerRanker(learner=SER(C=1 / lam)) for lam in lams],
            "hybrid-atvt": [LearnerRanker(learner=ATVT(lam_h=lam)) for lam in lams],
            "hybrid-gate": [Bilinear(lam=lam, tol=self.tol) for lam in lams],
        }
        return {name: [OnRunScores(base=base, norm=norm) for base in tried] for name, tried in bases.items()}

    def random_local(self, norm: Norm) -> list[QueryRanker]:
        """Control of the local Ranking SVM: random training queries."""
        bases = [LocalRanker(k=self.local, lam=lam, tol=self.tol, random=self.seed) for lam in self.penalties]
        return [OnRunScores(base=base, norm=norm) for base in bases]
