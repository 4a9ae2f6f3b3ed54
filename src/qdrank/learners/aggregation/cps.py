"""CPS (Qin, Geng and Liu 2010): a coset-permutation, stagewise model for aggregating rankings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.learners.aggregation.cps_kernels import kind_of, log_likelihood, stagewise
from qdrank.learners.aggregation.fusion import Best, points_per_list
from qdrank.learners.base import Learner
from qdrank.learners.inputs import as_offsets
from qdrank.learners.newton import newton_minimise

Distance = Literal["kendall", "footrule", "spearman"]


@dataclass(kw_only=True, eq=False)
class CPS(Learner):
    """Input rankings weighted to make the judged order likely, one document after the other.

    Parameters
    ----------
    distance : permutation distance: "kendall" (tau), "footrule" or "spearman" (rank correlation)
    depth : how much of the judged order counts: the "relevant" documents, or "all" ranks
    samples : number of orders drawn for each query, since the judgments do not order documents of one grade
    l2 : penalty ``l2 / 2 |theta|^2`` per query and sample, on weights that are scaled by the size of the distances
    best : which rank numbers are better
    seed : decides the drawn orders
    """

    NAME: ClassVar[str] = "cps"
    WEIGHTS: ClassVar[str] = "theta_"
    MISSING: ClassVar[bool] = True

    distance: Distance = "kendall"
    depth: Literal["relevant", "all"] = "relevant"
    samples: int = 1
    l2: float = 1e-4
    best: Best = "low"
    seed: int = 1
    max_iterations: int = 50
    theta_: FloatArray = field(init=False, repr=False)
    """Weight of each input ranking, shape (n_lists,); negative for a ranking that misleads."""

    def fit(self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn the weights from ranks (n_documents, n_lists), NaN where missing, and grades (n_documents,)."""
        ranks, grades, offsets = self.training(X, y, query)
        loss = CosetLoss(list_ranks(ranks, offsets, self.best), grades, offsets, self)
        start = np.zeros(ranks.shape[1])
        self.theta_ = newton_minimise(loss, start, tol=1e-10, max_iterations=self.max_iterations) / loss.scale
        return self

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:
        """Minus the rank of each document, shape (n_documents,), found stage by stage."""
        ranks = self.documents(X)
        offsets = as_offsets(query, len(ranks))
        places = stagewise(kind_of(self.distance), list_ranks(ranks, offsets, self.best), offsets, self.theta_)
        return -places.astype(np.float64)


@dataclass(kw_only=True, eq=False)
class CPSKendall(CPS):
    """CPS with Kendall's tau."""

    NAME: ClassVar[str] = "cps-kendall"


@dataclass(kw_only=True, eq=False)
class CPSFootrule(CPS):
    """CPS with Spearman's footrule."""

    NAME: ClassVar[str] = "cps-footrule"

    distance: Distance = "footrule"


@dataclass(kw_only=True, eq=False)
class CPSSpearman(CPS):
    """CPS with Spearman's rank correlation."""

    NAME: ClassVar[str] = "cps-spearman"

    distance: Distance = "spearman"


class CosetLoss:
    """Minus the mean log likelihood, with its derivatives, of weights measured in units of the distances' size."""

    def __init__(self, ranks: FloatArray, y: NDArray[Any], offsets: IntArray, cps: CPS) -> None:
        sizes = np.diff(offsets)
        self._offsets, self._kind, self._l2 = offsets, kind_of(cps.distance), cps.l2
        # The three distances range from n to n^2; without a common scale they would need different penalties.
        self.scale = float(np.mean(sizes**2 if cps.distance == "spearman" else sizes))
        self._depths = sizes if cps.depth == "all" else np.add.reduceat((y > 0).astype(np.int64), offsets[:-1])
        rng = np.random.default_rng(cps.seed)
        self._samples = [ranks[judged_order(y, offsets, rng)] for _ in range(cps.samples)]

    def __call__(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        """Loss and gradient at the scaled weights, shape (n_lists,)."""
        loss, gradient, _ = self._sums(scaled, curved=False)
        return loss + 0.5 * self._l2 * float(scaled @ scaled), gradient + self._l2 * scaled

    def hessian(self, scaled: FloatArray) -> FloatArray:
        """Second derivatives at the scaled weights, shape (n_lists, n_lists)."""
        curvature: FloatArray = self._sums(scaled, curved=True)[2] + self._l2 * np.eye(len(scaled))
        return curvature

    def _sums(self, scaled: FloatArray, *, curved: bool) -> tuple[float, FloatArray, FloatArray]:
        theta, per = scaled / self.scale, -(len(self._offsets) - 1) * len(self._samples)
        sums = [log_likelihood(self._kind, one, self._depths, self._offsets, theta, curved) for one in self._samples]
        value, gradient, hessian = (sum(of_systems) for of_systems in zip(*sums, strict=True))
        return value / per, gradient / (per * self.scale), hessian / (per * self.scale**2)


def list_ranks(ranks: NDArray[Any], offsets: IntArray, best: Best) -> FloatArray:
    """Rank of each document among its query's, from 1, in each input ranking, shape (n_documents, n_lists).

    Tied documents share the mean of their ranks, and so do missing ones, after all others.
    """
    sizes = np.repeat(np.diff(offsets), np.diff(offsets))
    return sizes[:, None] - points_per_list(ranks, offsets, best)


def judged_order(y: NDArray[Any], offsets: IntArray, rng: np.random.Generator) -> IntArray:
    """All rows, query by query, by falling grade and at random within a grade."""
    query = query_index(offsets)
    return np.lexsort((rng.random(len(query)), -y, query)).astype(np.int64)
