"""Regressors for h in aTVT: ridge regression, its kernel form, and boosted trees; all take weighted targets.

A regressor is prepared once for the training documents and then fitted many times, for other targets and weights.
``state`` gives the model as plain values, `predict` scores documents with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array

from qdrank.jobs import threads_given
from qdrank.layout import FloatArray, IntArray
from qdrank.registry import needed

#: Numbers of Phi to scale at a time, few enough for the processor's cache.
_BLOCK = 2**18
#: Eigenvalues of the kernel matrix below this share of the largest are rounding.
KERNEL_RANK = 1e-12


class Regressor(Protocol):
    """What aTVT requires of h."""

    def fit(self, target: FloatArray, weight: FloatArray) -> FloatArray:
        """Fit targets (n_documents,) with weights (n_documents,); return predictions for the same documents."""

    def penalty_value(self) -> float:
        """``lam_h Omega(h)`` of the fitted h."""

    def state(self) -> dict[str, Any]:
        """The fitted h as plain values."""


@dataclass
class Linear:
    """``h = Phi w``, minimising ``sum weight (target - h)^2 + sum penalty w^2``.

    Attributes
    ----------
    design : (n_documents, p) Phi
    penalty : (p,) 0 for a column that is free
    offsets : bounds of the queries, if all documents of a query have the same weight in every fit
    w : (p,) of the last fit
    """

    design: FloatArray
    penalty: FloatArray
    offsets: IntArray | None = None
    w: FloatArray = field(init=False)

    def fit(self, target: FloatArray, weight: FloatArray) -> FloatArray:
        """Solve the normal equations ``(Phi' W Phi + Lambda) w = Phi' W target``."""
        self.w = _solve(self.normal(weight), self.design.T @ (weight * target))
        return self.values()

    def normal(self, weight: FloatArray) -> FloatArray:
        """``Phi' W Phi + Lambda``, (p, p)."""
        matrix = np.diag(self.penalty)
        if self.offsets is not None and self._products is not None:
            half = np.zeros_like(matrix)
            half[np.tril_indices(len(half))] = weight[self.offsets[:-1]] @ self._products
            return np.asarray(matrix + half + np.tril(half, -1).T)
        root = np.sqrt(weight)
        step = max(1, _BLOCK // self.design.shape[1])
        for start in range(0, len(root), step):
            rows = slice(start, start + step)
            scaled = self.design[rows] * root[rows, None]
            matrix += scaled.T @ scaled  # an array with itself: BLAS computes half of it
        return matrix

    @cached_property
    def _products(self) -> FloatArray | None:
        """Lower halves of ``Phi_q' Phi_q`` of all queries q, (n_queries, p (p + 1) / 2): only their weights change from fit to fit.

        None where they would take more room than Phi.
        """
        assert self.offsets is not None
        p, n = self.design.shape[1], len(self.offsets) - 1
        if n * p * (p + 1) // 2 > self.design.size:
            return None
        lower, products = np.tril_indices(p), np.empty((n, p * (p + 1) // 2))
        for q, (start, end) in enumerate(pairwise(self.offsets.tolist())):
            of_query = self.design[start:end]
            products[q] = (of_query.T @ of_query)[lower]
        return products

    def query_sums(self, factor: FloatArray, offsets: IntArray) -> FloatArray:
        """Sums of the rows of Phi times ``factor`` (n_documents,) over each query, (n_queries, p)."""
        by_query = csr_array((factor, np.arange(len(factor)), offsets), shape=(len(offsets) - 1, len(factor)))
        return np.asarray(by_query @ self.design)

    def values(self) -> FloatArray:
        """Predictions of the training documents, (n_documents,)."""
        return self.design @ self.w

    def penalty_value(self) -> float:
        """``lam_h Omega(h)``."""
        return float(self.penalty @ self.w**2)


class Ridge(Linear):
    """Ridge regression, exact, with an unpenalised intercept: Omega(h) is the squared length of the weights.

    The columns are centred, which changes only the intercept and keeps the equations well conditioned.
    """

    def __init__(self, X: FloatArray, lam: float, offsets: IntArray | None = None) -> None:
        self.mean = X.mean(axis=0)
        design = np.column_stack([X - self.mean, np.ones(len(X))])
        super().__init__(design, np.append(np.full(X.shape[1], lam), 0.0), offsets)

    def state(self) -> dict[str, Any]:
        """Weights and intercept for features as given."""
        coef, intercept = self.w[:-1], self.w[-1]
        return {"h": "ridge", "coef": coef.tolist(), "intercept": float(intercept - self.mean @ coef)}


class Kernel(Linear):
    """h in the space of a Gaussian kernel (Zha 2006, theorems 1 and 2): ``(W K + lam I) c = W target``.

    With K = Phi Phi' the same h is ``Phi w``, and ``w'w = c'Kc``: a linear problem without intercept. Of more documents than
    ``landmarks`` so many are drawn, and h is in the space that these span (Nystroem).
    """

    def __init__(self, X: FloatArray, lam: float, gamma: float, landmarks: int, seed: int) -> None:
        drawn = np.sort(np.random.default_rng(seed).permutation(len(X))[:landmarks])
        self.X, self.gamma = X[drawn], gamma
        values, vectors = np.linalg.eigh(gaussian(self.X, self.X, gamma))
        kept = values > KERNEL_RANK * values[-1]
        root = np.sqrt(values[kept])
        self._back = vectors[:, kept] / root
        every = len(drawn) == len(X)
        design = vectors[:, kept] * root if every else gaussian(X, self.X, gamma) @ self._back
        super().__init__(design, np.full(int(kept.sum()), lam))

    def state(self) -> dict[str, Any]:
        """The landmarks and their coefficients c."""
        return {"h": "kernel", "dual": (self._back @ self.w).tolist(), "X": self.X.tolist(), "gamma": self.gamma}


class FirstFit(NamedTuple):
    """What decides the trees of a fit without weights: a digest of its targets, the trees' sizes, shrinkage and seed."""

    targets: str
    trees: int
    learning_rate: float
    leaves: int
    min_leaf: int
    seed: int


@dataclass
class GrownTrees:
    """What fits of trees to the same documents share: growing is most of their time.

    Attributes
    ----------
    texts : trees grown without weights, in LightGBM's text form. aTVT begins with them, whatever its penalties; other
        processes may have grown them
    scores : predictions of the documents by these trees, as far as they were asked for
    bins : LightGBM's data set by ``min_leaf``, which decides on the features it keeps, and seed
    """

    texts: dict[FirstFit, str] = field(default_factory=dict)
    scores: dict[FirstFit, FloatArray] = field(default_factory=dict)
    bins: dict[tuple[int, int], Any] = field(default_factory=dict)


@dataclass(kw_only=True)
class Trees:
    """Gradient boosted regression trees (Zha 2006, section 3.1), by LightGBM: the same trees every time.

    Omega(h) is the number and size of the trees and their shrinkage, not a term of the objective: `penalty_value` is 0.
    ``grown`` may be shared by regressors of the same documents.
    """

    X: NDArray[Any]
    rounds: int
    learning_rate: float
    leaves: int
    min_leaf: int
    seed: int
    grown: GrownTrees = field(default_factory=GrownTrees)
    _PARAMS: ClassVar[dict[str, Any]] = {
        "objective": "l2",
        "metric": "None",
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }

    def __post_init__(self) -> None:
        self.text = ""

    def fit(self, target: FloatArray, weight: FloatArray) -> FloatArray:
        """Grow all trees again."""
        first = not self.text and (weight == 1).all()
        self.text, scores = self._unweighted(target) if first else self.grow(target, weight, self.rounds)
        return scores

    def _unweighted(self, target: FloatArray) -> tuple[str, FloatArray]:
        """Trees fitted without weights, and their predictions; grown once for the same targets."""
        digest = sha256(target.tobytes()).hexdigest()
        key = FirstFit(digest, self.rounds, self.learning_rate, self.leaves, self.min_leaf, self.seed)
        texts, scores = self.grown.texts, self.grown.scores
        if key not in texts:
            texts[key], scores[key] = self.grow(target, np.ones(len(target)), self.rounds)
        elif key not in scores:
            from qdrank.learners.trees import booster_of

            scores[key] = np.asarray(
                booster_of(texts[key]).predict(self.X, num_threads=threads_given()), dtype=np.float64
            )
        return texts[key], scores[key]

    def grow(self, target: FloatArray, weight: FloatArray, rounds: int) -> tuple[str, FloatArray]:
        """Trees fitted to targets and weights of the documents, in LightGBM's text form, and their predictions."""
        lightgbm = needed("lightgbm", "trees")
        from qdrank.learners.trees import text_of

        params = self._PARAMS | {"num_threads": threads_given(), "min_data_in_leaf": self.min_leaf, "seed": self.seed}
        if (key := (self.min_leaf, self.seed)) not in self.grown.bins:
            empty = np.zeros(len(self.X))
            self.grown.bins[key] = lightgbm.Dataset(self.X, empty, params=params, free_raw_data=False)
        data = self.grown.bins[key].construct()
        data.set_label(target)
        data.set_field("weight", None)  # weights of 1, which `set_weight` takes for none, would leave the former ones
        data.set_weight(weight)
        params |= {"learning_rate": self.learning_rate, "num_leaves": self.leaves}
        booster = lightgbm.train(params, data, num_boost_round=rounds, keep_training_booster=True)
        return text_of(booster), training_scores(booster)

    def penalty_value(self) -> float:
        """0, see the class."""
        return 0.0

    def state(self) -> dict[str, Any]:
        """The trees in LightGBM's text form."""
        return {"h": "trees", "text": self.text}


def training_scores(booster: Any) -> FloatArray:
    """Predictions (n_documents,) of a booster for the documents that it was grown on, as `predict` gives them.

    LightGBM adds each tree's values to them while it grows, so that no document has to walk through the trees.
    """
    scores = np.empty(booster.train_set.num_data())

    def take(predicted: FloatArray, _: Any) -> tuple[str, float, bool]:
        scores[:] = predicted
        return "", 0.0, True

    booster.eval_train(take)
    return scores


def predict(state: dict[str, Any], X: NDArray[Any]) -> FloatArray:
    """Scores (n_documents,) of the rows of ``X`` by the ridge or kernel model in ``state``."""
    X = np.asarray(X, dtype=np.float64)
    if state["h"] == "kernel":
        return np.asarray(gaussian(X, np.array(state["X"]), state["gamma"]) @ np.array(state["dual"]))
    return np.asarray(X @ np.array(state["coef"]) + state["intercept"])


def gaussian(A: FloatArray, B: FloatArray, gamma: float) -> FloatArray:
    """``exp(-gamma |a - b|^2)`` of all rows of A (n, d) and B (m, d), shape (n, m)."""
    squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
    return np.asarray(np.exp(-gamma * np.maximum(squares, 0.0)), dtype=np.float64)


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solution of a symmetric system; of a singular one, the shortest."""
    try:
        return np.asarray(cho_solve(cho_factor(matrix), right))
    except LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0], dtype=np.float64)
