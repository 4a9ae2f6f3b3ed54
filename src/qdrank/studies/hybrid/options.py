"""The part of section ``hybrid`` that the computation needs, and the rankers it defines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qdrank.learners.atvt.estimator import ATVT
from qdrank.learners.ensemble.ser import SER
from qdrank.learners.ensemble.sser import SSER
from qdrank.learners.regularised import most_regularised_first
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.bilinear import Bilinear
from qdrank.rankers.evidence import DocumentPrior, NeighbourEvidence
from qdrank.rankers.learned import LearnerRanker, WithQueryVectors
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.one_model import LinearRanker, TreeRanker, WithEvidence
from qdrank.rankers.others import OfOthers
from qdrank.rankers.run_scores import FusedRuns, Norm, OneRun, OnRunScores
from qdrank.rankers.run_weights import FixedWeights, MarginWeights, NeighbourWeights, PredictedWeights
from qdrank.registry import loaded
from qdrank.studies.hybrid.methods import MEASURE

if TYPE_CHECKING:
    from qdrank.studies.hybrid.settings import Hybrid as _Keys
else:
    from qdrank.studies.keys import Keys as _Keys


#: Shrinkage of the trees from predictors to curves.
_RATE = 0.1
#: Weight of a query's own documents in the semi-supervised ensemble, and similar queries that choose a cluster's model.
_GAMMA, _SIMILAR = 0.5, 5


class Options(_Keys):
    """Keys of section ``hybrid``, under the same names; ``seed``, ``tol`` and ``refits`` are shared by all studies.

    ``readings`` are the choices of the clusters' methods, as the section of their own study has them; ``kinds`` says where
    the classes of other studies' rankers are, by name: the digest of a job knows the code that its params name.
    """

    seed: int
    tol: float
    refits: int
    readings: Mapping[str, Any]
    kinds: Mapping[str, str]

    def alone(self, n_runs: int) -> list[QueryRanker]:
        """Each run alone."""
        return [OneRun(run=run) for run in range(n_runs)]

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
        shared |= {"learning_rate": _RATE}
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
        leaves = most_regularised_first("leaves", self.lambdamart_leaves)
        shared = {"rounds": self.lambdamart_rounds, "seed": self.seed, "measure": MEASURE}
        grown: list[QueryRanker] = [TreeRanker(leaves=n, **shared) for n in leaves]  # type: ignore[arg-type]
        return [WithQueryVectors(base=ranker) for ranker in grown] if queries else grown

    def evidence(self, reference: int, *, prior: bool = False) -> WithEvidence:
        """Ranking SVM with judgments of similar queries, or of all queries."""
        kind = DocumentPrior if prior else NeighbourEvidence
        return WithEvidence(base=LinearRanker(tol=self.tol), evidence=kind(reference=reference))

    def paper_methods(self, norm: Norm, shape: tuple[int, int]) -> dict[str, Sequence[QueryRanker]]:
        """The papers' methods on the runs' scores, by name; ``shape``: the number of runs, and the reference among them."""
        lams = self.penalties
        bases: dict[str, list[QueryRanker]] = {
            "hybrid-local": [LocalRanker(k=self.local, lam=lam, tol=self.tol) for lam in lams],
            "hybrid-ser": [LearnerRanker(learner=SER(C=1 / lam)) for lam in lams],
            "hybrid-sser": [self._semi_supervised(lam) for lam in lams],
            "hybrid-atvt": [LearnerRanker(learner=ATVT(lam_h=lam)) for lam in lams],
            "hybrid-gate": [Bilinear(lam=lam, tol=self.tol) for lam in lams],
            "hybrid-selectranker": [self._clusters("select", "pairs", lam, shape) for lam in lams],
            "hybrid-transform": [self._clusters("transform", "transformed", lam, shape) for lam in lams],
        }
        return {name: self._on_scores(tried, norm) for name, tried in bases.items()}

    def paper_controls(self, norm: Norm, shape: tuple[int, int], seed: int) -> dict[str, Sequence[QueryRanker]]:
        """Controls of the papers' methods that draw something at random, by the name of the method."""
        lams = self.penalties
        bases: dict[str, list[QueryRanker]] = {
            "hybrid-local": [LocalRanker(k=self.local, lam=lam, tol=self.tol, random=seed) for lam in lams],
            "hybrid-sser": [OfOthers(base=self._semi_supervised(lam), seed=seed, given="models") for lam in lams],
            "hybrid-selectranker": [self._clusters("select", "pairs-random", lam, shape, seed) for lam in lams],
            "hybrid-transform": [self._clusters("transform", "transformed-random", lam, shape, seed) for lam in lams],
        }
        return {name: self._on_scores(tried, norm) for name, tried in bases.items()}

    @staticmethod
    def _on_scores(tried: Sequence[QueryRanker], norm: Norm) -> list[QueryRanker]:
        return [OnRunScores(base=base, norm=norm) for base in tried]

    def _semi_supervised(self, lam: float) -> QueryRanker:
        """Semi-supervised ensemble ranking, with the weight of the query's documents that its paper says works well."""
        ensemble = loaded(self.kinds["ensemble"])
        made: QueryRanker = ensemble(learner=SSER(C=1 / lam), gammas=(0.0, _GAMMA), gamma=_GAMMA)
        return made

    def _clusters(
        self, kind: str, scheme: str, lam: float, shape: tuple[int, int], seed: int | None = None
    ) -> QueryRanker:
        """Models of clusters of queries; the features are the runs' scores as they are."""
        n_runs, reference = shape
        given = {"kind": kind, "scheme": scheme, "reference": reference, "m": self.clusters}
        given |= {"size": _SIMILAR if kind == "select" else 0}
        given |= {"lam": lam, "single_lam": lam, "seed": self.seed if seed is None else seed, "base": self.seed}
        given |= {"tol": self.tol, "readings": dict(self.readings)}
        made: QueryRanker = loaded(self.kinds["clusters"])(**given, mean=np.zeros(n_runs), inverse=np.ones(n_runs))
        return made
