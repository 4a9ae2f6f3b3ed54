"""Boosted trees by LightGBM: LambdaMART (Burges 2010) and pointwise regression (Friedman 2001)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import nan
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.jobs import threads_given
from qdrank.layout import FloatArray, IntArray, JoinedFeatures, shuffled_within
from qdrank.learners.base import Learner
from qdrank.learners.choose import Choice, ValidationQueries, validation_queries
from qdrank.learners.inputs import JudgedArrays, as_judged
from qdrank.registry import needed

lightgbm = needed("lightgbm", "trees")
_Rows: Any = lightgbm.Sequence


class _RowsInOrder(_Rows):  # type: ignore[misc]
    """Joined features in another order, handed to LightGBM in batches, so that the whole table is never made."""

    def __init__(self, X: JoinedFeatures, order: IntArray) -> None:
        self.X, self.order = X, order

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, rows: int | slice) -> FloatArray:
        return self.X[self.order[rows]].astype(np.float64)


BINS = 63
"""Values of a feature that trees tell apart; docs/decisions.md says why no more."""
STEP = 10
"""Trees after which validation data are looked at."""
LARGEST_GRADE = 30
"""Highest grade that has a gain in LightGBM."""
_BATCH = 2**17
"""Rows to score at a time."""
_GROWING = ("learning_rate", "num_leaves", "feature_fraction", "lambda_l2")
"""LightGBM's parameters that have no part in making bins."""


@dataclass(kw_only=True, eq=False)
class BoostedTrees(Learner):
    """Base of both learners; the model is stored as text.

    Parameters
    ----------
    rounds : number of trees; with validation data, the largest number: every tenth is tried, and the last
    learning_rate, leaves, min_leaf : shrinkage, leaves per tree, and smallest number of documents in a leaf
    feature_fraction : share of the features, drawn anew for each tree
    l2 : penalty on the leaves' values
    patience : stop after this many trees without a better value on validation data
    measure : what is watched on validation data, for instance "ap" or "ndcg@10/letor4"
    seed : decides the order of the rows within each query and the features drawn
    monotone : for each feature 1 if a score may only rise with it, -1 if only fall, 0 if either; empty: either for all
    """

    OBJECTIVE: ClassVar[dict[str, Any]]
    IN_BATCHES: ClassVar[bool] = True

    rounds: int = 500
    learning_rate: float = 0.05
    leaves: int = 31
    min_leaf: int = 20
    feature_fraction: float = 1.0
    l2: float = 0.0
    patience: int = 50
    measure: str = "ap"
    seed: int = 1
    monotone: tuple[int, ...] = ()
    text_: str = field(init=False, repr=False)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        query: ArrayLike | None = None,
        validation: JudgedArrays | None = None,
        bins: dict[str, Any] | None = None,
    ) -> Self:
        """Learn from judged documents, the rows of each query together.

        Fits to the same documents may share ``bins``, empty for the first of them: what LightGBM makes of the documents
        before it grows trees, by the parameters that decide on it.
        """
        features, grades, offsets = self.training(X, y, query)
        params = self._params(joined=isinstance(features, JoinedFeatures))
        bins, key = {} if bins is None else bins, repr({name: params[name] for name in params if name not in _GROWING})
        if key not in bins:
            bins[key] = [self._dataset(params, features, grades, offsets)]
            if validation is not None:
                bins[key] += [self._dataset(params, *as_judged(*validation[:3], in_batches=True), bins[key][0])]
        train, *vali = bins[key]
        booster, step = lightgbm.Booster(params, train), self.rounds
        if validation is not None:
            booster.add_valid(vali[0], "vali")
            step, watch = STEP, self._watch(validation_queries(validation, self.measure, self.seed))
        choice = Choice[int]()
        for trees in range(1, self.rounds + 1):
            booster.update()
            if trees % step == 0 or trees == self.rounds:
                choice.offer(trees, nan if validation is None else booster.eval_valid(watch)[0][2])
                if trees - choice.chosen >= self.patience:
                    break
        self.text_ = text_of(booster, choice.chosen)
        self._booster = booster_of(self.text_)
        return self

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,) of the rows of ``X`` (n_documents, n_features)."""
        features = self.documents(X)
        return tree_scores(self._trees(), features, threads_given())

    @property
    def rounds_(self) -> int:
        """Number of rounds that were kept."""
        return int(self._trees().num_trees())

    @property
    def n_features_in_(self) -> int:
        """Number of features of the documents that the trees were grown on."""
        return int(self._trees().num_feature())

    def _trees(self) -> Any:
        if not hasattr(self, "_booster"):
            self._booster = booster_of(self.text_)
        return self._booster

    def _dataset(
        self, params: dict[str, Any], X: NDArray[Any], y: IntArray, offsets: IntArray, reference: Any = None
    ) -> Any:
        """LightGBM's view of the data, binned immediately so that no copy of the rows remains.

        Training rows of each query are in random order. Validation rows keep their order, since `_watch` shuffles them.
        """
        order = shuffled_within(offsets, self.seed) if reference is None else np.arange(len(y))
        if isinstance(X, JoinedFeatures):
            rows: Any = _RowsInOrder(X, order)
        else:
            rows = X[order] if reference is None else X
        return lightgbm.Dataset(rows, y[order], group=np.diff(offsets), reference=reference, params=params).construct()

    @staticmethod
    def _watch(queries: ValidationQueries) -> Any:
        """The function that LightGBM calls with the scores of the validation documents."""

        def evaluate(scores: FloatArray, _: Any) -> tuple[str, float, bool]:
            return queries.measure, queries.mean(scores), True

        return evaluate

    def _params(self, *, joined: bool) -> dict[str, Any]:
        constrained = {"monotone_constraints": list(self.monotone)} if self.monotone else {}
        # Of which rows bins are made: LightGBM derives it from "seed", but not for rows in batches.
        sampled = {"data_random_seed": self.seed} if joined else {}
        return (
            self.OBJECTIVE
            | constrained
            | sampled
            | {
                "learning_rate": self.learning_rate,
                "num_leaves": self.leaves,
                "min_data_in_leaf": self.min_leaf,
                "feature_fraction": self.feature_fraction,
                "lambda_l2": self.l2,
                "max_bin": BINS,
                "metric": "None",
                "seed": self.seed,
                # Row-wise histograms: the same trees on every machine, with any number of threads.
                "deterministic": True,
                "force_row_wise": True,
                "num_threads": threads_given(),
                "verbosity": -1,
            }
        )


@dataclass(kw_only=True, eq=False)
class LambdaMART(BoostedTrees):
    """Trees grown on the lambda gradients of NDCG."""

    NAME: ClassVar[str] = "lambdamart"
    OBJECTIVE: ClassVar[dict[str, Any]] = {"objective": "lambdarank"}

    def _dataset(
        self, params: dict[str, Any], X: NDArray[Any], y: IntArray, offsets: IntArray, reference: Any = None
    ) -> Any:
        if y.max(initial=0) > LARGEST_GRADE:
            raise InputError(f"LambdaMART takes grades up to {LARGEST_GRADE}", found=f"grade {y.max()}")
        return super()._dataset(params, X, y, offsets, reference)


@dataclass(kw_only=True, eq=False)
class BoostedRegression(BoostedTrees):
    """Trees grown on the squared error of the grades."""

    NAME: ClassVar[str] = "boosted-regression"
    # Not "regression", its other name: that is a learner here, and the code of trees would seem to use it.
    OBJECTIVE: ClassVar[dict[str, Any]] = {"objective": "l2"}


def text_of(booster: Any, trees: int = -1) -> str:
    """The first ``trees`` trees of a booster, or all, in LightGBM's text form, whatever the number of threads that grew them."""
    return re.sub(r"\[num_threads: \d+\]", "[num_threads: 1]", booster.model_to_string(num_iteration=trees))


def tree_scores(booster: Any, X: NDArray[Any] | JoinedFeatures, threads: int = 1) -> FloatArray:
    """Scores (n_documents,) by a LightGBM model, a batch of rows after the other."""
    starts = range(0, len(X), _BATCH)
    return np.concatenate([booster.predict(X[a : a + _BATCH], num_threads=threads) for a in starts]).astype(np.float64)


def booster_of(text: str) -> Any:
    """The LightGBM model that a text describes."""
    return lightgbm.Booster(model_str=text)
