"""The part of section ``hybrid`` that the computation needs, and the rankers it defines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from qdrank.learners.atvt.estimator import ATVT
from qdrank.learners.ensemble.ser import SER, SSER
from qdrank.learners.parameters import most_regularised_first
from qdrank.queries.profiles import Similarity
from qdrank.rankers.base import OfOthers, QueryRanker
from qdrank.rankers.bilinear import Bilinear
from qdrank.rankers.evidence import DocumentPrior, NeighbourEvidence
from qdrank.rankers.learned import LearnerRanker, WithQueryVectors
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.one_model import LinearRanker, TreeRanker, WithEvidence
from qdrank.rankers.run_scores import FusedRuns, OneRun, OnRunScores, count_runs
from qdrank.rankers.run_weights import FixedWeights, MarginWeights, NeighbourWeights, PredictedWeights
from qdrank.registry import loaded
from qdrank.studies.hybrid.methods import BEST, FIXED, MEASURE
from qdrank.studies.running import FoldRun

if TYPE_CHECKING:
    from qdrank.studies.hybrid.settings import Hybrid as _Keys
else:
    from qdrank.studies.study import Keys as _Keys


#: Shrinkage of the trees from predictors to curves.
_RATE = 0.1
#: Weight of a query's own documents in the semi-supervised ensemble, and similar queries that choose a cluster's model.
_GAMMA, _SIMILAR = 0.5, 5
#: Neighbours of the local Ranking SVM, as a share, and leaves of LambdaMART's trees.
_LOCAL, _LEAVES = 0.2, 8


class Options(_Keys):
    """Keys of section ``hybrid``, under the same names; ``tol`` is shared by all studies, ``reference`` a column.

    Each function makes the rankers that a method tries. ``readings`` are the choices of the clusters' methods, as the section
    of their own study has them; ``kinds`` says where the classes of other studies' rankers are, by name: the digest of a job
    knows the code that its params name.
    """

    tol: float
    reference: int
    readings: Mapping[str, Any]
    kinds: Mapping[str, str]

    def alone(self, run: FoldRun) -> list[OneRun]:
        """Each run alone."""
        return [OneRun(run=place) for place in range(count_runs(run.test))]

    def fused(self, run: FoldRun, method: Any) -> list[FusedRuns]:  # noqa: ARG002
        """RRF; or CombSUM or CombMNZ in each norm that it allows."""
        if method == "rrf":
            return [FusedRuns()]
        return [FusedRuns(method=method, norm=norm) for norm in self.norms if (method, norm) != ("combmnz", "z-score")]

    def fixed(self, run: FoldRun) -> list[FixedWeights]:
        """Tuned fixed weights in each norm."""
        return [FixedWeights(norm=norm, measure=MEASURE, seed=run.seed) for norm in self.norms]

    def neighbours(self, run: FoldRun, *, random: bool = False) -> list[NeighbourWeights]:
        """Weights of the most similar judged queries, or of random ones."""
        ks = [k for large in (False, True) for k in sorted(self.ks, reverse=True) if (k > 1) == large]
        if random:
            return [NeighbourWeights(k=k, random=run.seed, **_shared(run)) for k in ks]
        kinds: tuple[Similarity, ...] = ("candidates", "vectors")
        return [NeighbourWeights(k=k, similarity=kind, **_shared(run)) for kind in kinds for k in ks]

    def ridge(self, run: FoldRun, *, single: bool = False) -> list[PredictedWeights]:
        """Weights by ridge regression; ``single``: one run alone for each query."""
        penalties = most_regularised_first("lam", self.lambdas)
        return [PredictedWeights(lam=lam, single=single, **_shared(run)) for lam in penalties]

    def trees(self, run: FoldRun) -> list[PredictedWeights]:
        """Weights by boosted trees."""
        shape = {"model": "trees", "rounds": self.rounds, "learning_rate": _RATE, **_shared(run)}
        return [PredictedWeights(leaves=n, **shape) for n in most_regularised_first("leaves", self.leaves)]

    def margin(self, run: FoldRun, *, others: bool = False) -> list[QueryRanker]:
        """The margin rule, or with the margins of another query."""
        tried = [MarginWeights(power=power, **_shared(run)) for power in sorted(self.powers)]
        return [OfOthers(base=one, seed=run.seed, given="models") if others else one for one in tried]

    def linear(self, run: FoldRun | None = None) -> list[QueryRanker]:  # noqa: ARG002
        """Ranking SVM on all columns."""
        return [LinearRanker(lam=lam, tol=self.tol) for lam in self.penalties]

    @property
    def penalties(self) -> list[float]:
        """``linear_lambdas`` in the order tried."""
        return most_regularised_first("lam", self.linear_lambdas)

    def lambdamart(self, run: FoldRun, *, queries: bool = False) -> list[QueryRanker]:
        """LambdaMART, with or without columns of the query."""
        grown = TreeRanker(leaves=_LEAVES, rounds=self.lambdamart_rounds, seed=run.seed, measure=MEASURE)
        return [WithQueryVectors(base=grown) if queries else grown]

    def evidence(self, run: FoldRun, *, prior: bool = False) -> list[QueryRanker]:
        """Ranking SVM with judgments of similar queries, or of all queries."""
        kind = (DocumentPrior if prior else NeighbourEvidence)(reference=self.reference)
        return [WithEvidence(base=base, evidence=kind) for base in self.linear(run)]

    @staticmethod
    def of_others(tried: Sequence[QueryRanker], seed: int) -> list[OfOthers]:
        """Rankers with the vectors of other queries."""
        return [OfOthers(base=one, seed=seed) for one in tried]

    # ---- methods of the papers, on the runs' scores ----

    def local_models(self, run: FoldRun, *, random: bool = False) -> list[QueryRanker]:
        """Ranking SVMs of the nearest training queries, or of random ones."""
        drawn = run.seed if random else None
        return _on_scores(run, [LocalRanker(k=_LOCAL, lam=lam, tol=self.tol, random=drawn) for lam in self.penalties])

    def ensembles(self, run: FoldRun) -> list[QueryRanker]:
        """SER."""
        return _on_scores(run, [LearnerRanker(learner=SER(C=1 / lam)) for lam in self.penalties])

    def semi_supervised_ensembles(self, run: FoldRun, *, others: bool = False) -> list[QueryRanker]:
        """SSER with the weight of the query's documents that its paper says works well, or with documents of other queries."""
        kind, gammas = loaded(self.kinds["ensemble"]), (0.0, _GAMMA)
        tried = [kind(learner=SSER(C=1 / lam), gammas=gammas, gamma=_GAMMA) for lam in self.penalties]
        return _on_scores(run, [OfOthers(base=one, seed=run.seed, given="models") if others else one for one in tried])

    def atvt(self, run: FoldRun) -> list[QueryRanker]:
        """Boosted trees of aTVT."""
        return _on_scores(run, [LearnerRanker(learner=ATVT(lam_h=lam)) for lam in self.penalties])

    def gate(self, run: FoldRun) -> list[QueryRanker]:
        """Weights linear in the query vector."""
        return _on_scores(run, [Bilinear(lam=lam, tol=self.tol) for lam in self.penalties])

    def select(self, run: FoldRun, *, random: bool = False) -> list[QueryRanker]:
        """SelectRanker, with clusters of queries or random ones."""
        return self._clusters(run, random, kind="select", scheme="pairs", size=_SIMILAR)

    def transform(self, run: FoldRun, *, random: bool = False) -> list[QueryRanker]:
        """Transform, likewise."""
        return self._clusters(run, random, kind="transform", scheme="transformed", size=0)

    def _clusters(self, run: FoldRun, random: bool, *, scheme: str, **given: Any) -> list[QueryRanker]:
        """Models of clusters of queries; the features are the runs' scores as they are."""
        best, n_runs = run.made[BEST], count_runs(run.test)
        assert isinstance(best, OneRun)
        given |= {"scheme": f"{scheme}-random" if random else scheme, "reference": best.run, "m": self.clusters}
        given |= {"seed": run.seed, "base": run.seed, "tol": self.tol, "readings": dict(self.readings)}
        given |= {"mean": np.zeros(n_runs), "inverse": np.ones(n_runs)}
        kind = loaded(self.kinds["clusters"])
        return _on_scores(run, [kind(lam=lam, single_lam=lam, **given) for lam in self.penalties])


def fixed_weights(run: FoldRun) -> FixedWeights:
    """The tuned fixed weights."""
    fixed = run.made[FIXED]
    assert isinstance(fixed, FixedWeights)
    return fixed


def _shared(run: FoldRun) -> dict[str, Any]:
    """What weights per query take from the tuned fixed weights."""
    return {"norm": fixed_weights(run).norm, "measure": MEASURE, "seed": run.seed}


def _on_scores(run: FoldRun, tried: Sequence[QueryRanker]) -> list[QueryRanker]:
    return [OnRunScores(base=base, norm=fixed_weights(run).norm) for base in tried]
