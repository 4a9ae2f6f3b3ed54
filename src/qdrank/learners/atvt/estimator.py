"""Adaptive target value transformation (aTVT): regression with an affine map of the targets for every query.

Zha, Zheng, Fu, Sun, CIKM 2006, eq. 3::

    L(h, alpha, beta) = sum over q, j of (y_qj - beta_q - alpha_q h(x_qj))^2
                        + lam_beta ||beta||_p^p + lam_alpha ||alpha - 1||_p^p + lam_h Omega(h)

Only h ranks: the maps are increasing and never change the order within a query.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.jobs import threads_given
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.atvt.maps import Norm, Penalties, fit_maps, moments
from qdrank.learners.atvt.regressors import GrownTrees, Kernel, Linear, Regressor, Ridge, Trees, predict
from qdrank.learners.atvt.rounds import Alternation, grouped
from qdrank.learners.base import Learner
from qdrank.learners.inputs import warn_of_equal_grades, warn_of_one_query
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.registry import refuse_unknown

#: The two stopping rules, as values of ``tol``: the paper's, as its specification proposes it, and the tight one.
PAPER_TOL, TIGHT_TOL = 1e-3, 1e-8
#: With a ``tol`` below this, Newton steps follow the first rounds of the alternation where h is linear.
NEWTON_BELOW = 1e-4
FIRST_ROUNDS = 2
#: The same for a second run with L1, whose objective has more than one stationary point.
LATER_ROUNDS = 40
#: Relative difference up to which two objectives count as equal: rounding decides on less.
EQUAL = 1e-12
#: Rounds if ``rounds`` is not given. Boosted trees do not minimise exactly, so no tolerance would stop them.
MOST_ROUNDS = {"ridge": 20_000, "kernel": 20_000, "trees": 3}
#: The same without weights. Each round's penalty starts again from alpha = 1 and beta = 0, so the composed maps drift
#: towards those without any penalty, and with l2 no tolerance is ever met.
MOST_COMPOSED_ROUNDS = 5


@dataclass(kw_only=True, eq=False)
class ATVT(Learner):
    """Regression that learns an increasing affine map of each training query's targets along with h.

    Parameters
    ----------
    h : "ridge", "kernel" or "trees"
        The regressor: linear with unpenalised intercept, Gaussian kernel without intercept, boosted trees.
    lam_h : weight of h's penalty, for ridge and kernel; trees have ``trees``, ``learning_rate`` and ``leaves``
    norm : "l2" or "l1"; norm of the penalties on alpha - 1 and beta
    lam_alpha, lam_beta : float
        Weights of these penalties. ``inf`` fixes alpha at 1, or beta at 0. Both ``inf`` give the plain regressor,
        ``lam_alpha=inf`` with ``lam_beta=0`` a free offset for every query, ``lam_beta=inf`` a scale alone.
    penalties : "raw" or "scaled"
        Raw weights enter the objective as they are, as in the paper. Scaled ones are multiplied by the power of the
        targets' standard deviation that makes the result the same for targets in other units: lam_alpha by its square,
        lam_beta by 1 (l2) or the deviation (l1).
    weighted : bool
        Whether h is fitted with weights alpha^2, which minimises L, or without weights to targets that each round
        transforms again (the paper's form for regressors that take no weights; it minimises no fixed objective, and
        ends after at most 5 rounds unless ``rounds`` says otherwise).
    tol : float
        Rounds end when ``|alpha' - alpha| + |beta' - beta| <= tol sqrt(n_queries)`` (Euclidean norms). 1e-3 is the usual
        rule and stops before slow modes converge; 1e-8 is tight. Maps from different rules are not comparable.
    rounds : maximum number of rounds K; the paper's L1 result has K = 1. Giving a number rules out Newton steps.
    newton : bool
        Whether Newton steps replace slow rounds; only for linear h with weights, ``tol`` below 1e-4 and no ``rounds``.
    alpha_min : smallest alpha allowed: maps must increase
    gamma : width of the Gaussian kernel, ``exp(-gamma |a - b|^2)``; 1 / (n_features variance of X) unless given
    landmarks : documents, drawn at random, that span the kernel's space; with as many or fewer documents in all it is exact
    trees, learning_rate, leaves, min_leaf, seed
        For boosted trees: their number, shrinkage, leaves, minimum number of documents in a leaf, and seed, also of the landmarks.

    Attributes
    ----------
    alpha_, beta_ : (n_queries,) float64; maps of the training queries, in order of first appearance
    objectives_ : (2 n_rounds_ + 1,) float64
        L after every half step: h, maps, h, maps, ..., h. With ``weighted=False`` the maps are the composed ones.
    n_rounds_ : rounds, each a fit of the maps and of h; the plain h comes before the first
    n_newton_ : Newton steps between the rounds
    n_guarded_ : queries whose alpha was held at ``alpha_min`` in any round
    converged_ : whether the stopping rule was met
    scale_ : standard deviation of the training targets
    model_ : dict; h as plain values
    """

    NAME: ClassVar[str] = "atvt"

    GRADED: ClassVar[bool] = False

    h: Literal["ridge", "kernel", "trees"] = "ridge"
    lam_h: float = 1.0
    norm: Norm = "l2"
    lam_alpha: float = 10.0
    lam_beta: float = 1.0
    penalties: Literal["raw", "scaled"] = "raw"
    weighted: bool = True
    tol: float = TIGHT_TOL
    rounds: int | None = None
    newton: bool = True
    alpha_min: float = 0.05
    gamma: float | None = None
    landmarks: int = 1000
    trees: int = 100
    learning_rate: float = 0.1
    leaves: int = 15
    min_leaf: int = 20
    seed: int = 1
    alpha_: FloatArray = field(init=False, repr=False)
    beta_: FloatArray = field(init=False, repr=False)
    objectives_: FloatArray = field(init=False, repr=False)
    n_rounds_: int = field(init=False, repr=False)
    n_newton_: int = field(init=False, repr=False)
    n_guarded_: int = field(init=False, repr=False)
    converged_: bool = field(init=False, repr=False)
    scale_: float = field(init=False, repr=False)
    model_: dict[str, Any] = field(init=False, repr=False)

    def fit(
        self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None, *, grown: GrownTrees | None = None
    ) -> Self:
        """Learn from documents X (n_documents, n_features), targets y and query ids (n_documents,), in any order.

        Without ``query`` all documents belong to one query. Fits of trees to the same documents may share ``grown``:
        the result is the same, sooner.
        """
        self._check()
        features, targets, offsets = grouped(X, y, query)
        warn_of_one_query(query, len(targets), level=2)
        warn_of_equal_grades(targets, offsets)
        self.keep_names(X)
        with one_thread():
            self.scale_ = float(targets.std()) or 1.0
            runs = [self._run(features, targets, offsets, first, grown) for first in self._starts()]
        lowest = min(run.objectives[-1] for run, _ in runs)
        run, self.converged_ = next(one for one in runs if one[0].objectives[-1] <= (1 + EQUAL) * lowest)
        self.alpha_, self.beta_, self.objectives_ = run.maps.alpha, run.maps.beta, np.array(run.objectives)
        self.n_rounds_, self.n_newton_ = run.rounds, run.newton
        self.n_guarded_ = int(run.guarded.sum())
        self.model_ = run.regressor.state()
        self.__dict__.pop("booster", None)
        return self

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,) of the rows of ``X`` (n_documents, n_features): h, without any map."""
        features = self.documents(X)
        if self.model_["h"] == "trees":
            return np.asarray(self.booster.predict(features, num_threads=threads_given()), dtype=np.float64)
        return predict(self.model_, features)

    @property
    def n_features_in_(self) -> int:
        """Number of features of the documents that h was fitted to."""
        if self.model_["h"] == "trees":
            return int(self.booster.num_feature())
        return len(self.model_["coef"] if self.model_["h"] == "ridge" else self.model_["X"][0])

    @cached_property
    def booster(self) -> Any:
        """LightGBM's model if h consists of trees."""
        from qdrank.learners.trees import booster_of

        return booster_of(self.model_["text"])

    def keep_trees(self, n: int) -> Self:
        """Keep the first ``n`` trees of the last fit of h: early stopping by data that only the caller has."""
        self.model_ = {**self.model_, "text": self.booster.model_to_string(num_iteration=n)}
        self.__dict__.pop("booster", None)
        return self

    def maps(self, X: ArrayLike, y: ArrayLike, query: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Alpha and beta that fit other judged queries best for the h learned, in order of first appearance.

        They show how a query would have been adjusted. They need its grades, so they cannot be used for ranking.
        """
        features, targets, offsets = grouped(X, y, query)
        fitted = fit_maps(moments(self.predict(features), targets, offsets), self.effective(self.scale_))
        return fitted.alpha, fitted.beta

    def regressor(self, X: NDArray[Any], offsets: IntArray, grown: GrownTrees | None = None) -> Regressor:
        """The regressor h for the documents ``X`` of queries, not yet fitted; trees may share what was ``grown``."""
        if self.h == "trees":
            sizes = {"rounds": self.trees, "leaves": self.leaves, "min_leaf": self.min_leaf}
            return Trees(X=X, learning_rate=self.learning_rate, seed=self.seed, grown=grown or GrownTrees(), **sizes)
        X = np.asarray(X, dtype=np.float64)
        if self.h == "ridge":
            return Ridge(X, self.lam_h, offsets)
        gamma = 1 / (X.shape[1] * (float(X.var()) or 1.0)) if self.gamma is None else self.gamma
        return Kernel(X, self.lam_h, gamma, self.landmarks, self.seed)

    def effective(self, scale: float) -> Penalties:
        """The penalties as they enter the objective for targets of this standard deviation."""
        scale = scale if self.penalties == "scaled" else 1.0
        lam_beta = self.lam_beta * (scale if self.norm == "l1" else 1.0)
        return Penalties(self.lam_alpha * scale**2, lam_beta, self.norm, self.alpha_min)

    def _starts(self) -> tuple[int, ...]:
        """Rounds before the first Newton step of each run. With L1 two runs may end apart; the better one wins, the first of equals."""
        return (
            (FIRST_ROUNDS, LATER_ROUNDS) if self._quick and self.norm == "l1" and self.h != "trees" else (FIRST_ROUNDS,)
        )

    @property
    def _quick(self) -> bool:
        """Whether Newton steps replace slow rounds."""
        return self.newton and self.rounds is None and self.weighted and self.tol < NEWTON_BELOW

    def _run(
        self, features: NDArray[Any], targets: FloatArray, offsets: IntArray, first: int, grown: GrownTrees | None
    ) -> tuple[Alternation, bool]:
        """A complete run from the plain regressor, and whether it met the stopping rule."""
        penalties = self.effective(self.scale_)
        run = Alternation(self.regressor(features, offsets, grown), targets, offsets, penalties, weighted=self.weighted)
        return run, self._iterate(run, first)

    def _iterate(self, run: Alternation, first: int) -> bool:
        """Run rounds until the stopping rule is met; return whether it was."""
        most = self.rounds
        if most is None:
            most = MOST_ROUNDS[self.h] if self.weighted else min(MOST_ROUNDS[self.h], MOST_COMPOSED_ROUNDS)
        limit = self.tol * np.sqrt(len(run.offsets) - 1)
        while run.rounds < most:
            if self._quick and run.rounds >= first and run.rounds % 2 == 0 and isinstance(run.regressor, Linear):
                run.newton_steps(run.regressor, limit)  # the round after the next shows whether the maps have settled
            if run.round() <= limit:
                return True
        if self.rounds is None and self.h != "trees" and self.weighted:
            text = f"the maps still moved after {run.rounds} rounds; raise tol or the penalties"
            warnings.warn(text, RuntimeWarning, stacklevel=3)
        return False

    def _check(self) -> None:
        choices = {"h": tuple(MOST_ROUNDS), "norm": ("l2", "l1"), "penalties": ("raw", "scaled")}
        for name, allowed in choices.items():
            refuse_unknown(name, getattr(self, name), allowed)
        for name in ("lam_h", "lam_alpha", "lam_beta", "tol"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} must be 0 or more, not {getattr(self, name)}")
        if not 0 < self.alpha_min <= 1:
            raise InputError(f"alpha_min must be above 0 and at most 1, not {self.alpha_min}")
        if not np.isfinite(self.lam_h):
            raise InputError("lam_h must be finite")
        if self.rounds is not None and self.rounds < 0:
            raise InputError(f"rounds must be 0 or more, not {self.rounds}")
