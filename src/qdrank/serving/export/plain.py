"""A served ranker as one model of raw features: a weighted sum, or trees.

Engines know a document's features and nothing of its query, so only methods with one model for all queries can be exported. The scale
of training is folded into the model: weights are divided by it, thresholds are moved to raw units. Engines compare in single
precision; a threshold is the largest number of single precision that our model sends to the left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.base import LinearLearner
from qdrank.rankers.documents import DocumentView, seen
from qdrank.rankers.learned import LearnerRanker
from qdrank.rankers.one_model import LinearRanker, TreeRanker
from qdrank.rankers.reference import OneFeature
from qdrank.single_precision import LAST, numbers, places


@dataclass(frozen=True, eq=False)
class WeightedSum:
    """``weights`` (n_features,) times the features, plus ``constant``."""

    weights: FloatArray
    constant: float = 0.0


@dataclass(frozen=True, eq=False)
class Tree:
    """A regression tree; split 0 is the root, a negative child is leaf ``-1 - child``. Without splits, leaf 0 is the tree.

    Attributes
    ----------
    feature, left, right : (n_splits,) column of the feature, and children
    threshold : (n_splits,) in single precision; a document goes to the left if its feature is not above it
    value : (n_leaves,)
    """

    feature: IntArray
    threshold: NDArray[np.float32]
    left: IntArray
    right: IntArray
    value: FloatArray


@dataclass(frozen=True, eq=False)
class TreeSum:
    """The sum of trees on ``n_features`` features."""

    trees: list[Tree]
    n_features: int


PlainModel = WeightedSum | TreeSum


def plain_model(ranker: Any, view: DocumentView) -> PlainModel:
    """The model behind a ranker that sees documents as ``view`` says.

    Raises
    ------
    InputError : if the features are scaled within each query, values may be missing, or there is more than one model
    """
    _refuse_other_views(view)
    match ranker:
        case OneFeature():
            return WeightedSum(np.eye(view.n_features)[ranker.column])
        case LinearRanker():
            return _weighted(ranker.coef_, view)
        case TreeRanker():
            return _trees(ranker.text_, view)
        case LearnerRanker():
            return _learned(ranker.learner, view)
    raise _cannot(getattr(ranker, "NAME", type(ranker).__name__))


def _refuse_other_views(view: DocumentView) -> None:
    if view.minmax:
        problem = (
            "the features of this model are scaled within each query: an engine that sees one document cannot do that"
        )
        fix = "train with scale: given or zscore, or rank with `qdrank rank`"
        raise InputError(problem, fix=fix)
    if view.missing:
        problem = "the training data have missing values, which an engine would take for 0"
        raise InputError(problem, fix="fill in the missing values and train again, or rank with `qdrank rank`")


def _learned(learner: Any, view: DocumentView) -> PlainModel:
    if isinstance(learner, LinearLearner):
        return _weighted(learner.coef_, view)
    if hasattr(learner, "text_"):
        return _trees(learner.text_, view)
    if learner.NAME == "rankboost":
        rounds = zip(learner.features_, learner.thresholds_, learner.alphas_, strict=True)
        return TreeSum([_step(int(f), float(t), float(a), view) for f, t, a in rounds], view.n_features)
    raise _cannot(learner.NAME)


def _cannot(kind: str) -> InputError:
    fix = "choose a method with one linear model or one set of trees, such as single, ranksvm or lambdamart; `qdrank rank` serves all"
    return InputError(f"this method ({kind}) is not one model that scores each document by itself", fix=fix)


def _weighted(coef: FloatArray, view: DocumentView) -> WeightedSum:
    weights = coef * view.inverse
    return WeightedSum(weights, -float(view.mean @ weights))


def _step(feature: int, threshold: float, weight: float, view: DocumentView) -> Tree:
    """``weight`` above the threshold, 0 up to it."""
    columns = np.array([feature])
    at = raw_thresholds(np.array([threshold]), view.mean[columns], view.inverse[columns])
    return Tree(columns, at, np.array([-1]), np.array([-2]), np.array([0.0, weight]))


def _trees(text: str, view: DocumentView) -> TreeSum:
    """Trees of LightGBM's text form."""
    blocks = [dict(_pairs(block)) for block in text.split("\nTree=")[1:]]
    return TreeSum([_tree(block, view) for block in blocks], view.n_features)


def _pairs(block: str) -> list[tuple[str, str]]:
    lines = block.partition("\n\n")[0].splitlines()
    return [(key, value) for key, _, value in (line.partition("=") for line in lines)]


def _tree(block: dict[str, str], view: DocumentView) -> Tree:
    whole = {name: np.array(block.get(name, "").split(), dtype=np.int64) for name in _WHOLE}
    if int(block.get("num_cat", "0")):
        raise _cannot("trees with categories")
    feature = whole["split_feature"]
    limits = np.array(block.get("threshold", "").split(), dtype=np.float64)
    at = raw_thresholds(limits, view.mean[feature], view.inverse[feature])
    return Tree(feature, at, whole["left_child"], whole["right_child"], np.array(block["leaf_value"].split(), float))


_WHOLE = ("split_feature", "left_child", "right_child")


def raw_thresholds(limit: FloatArray, mean: FloatArray, inverse: FloatArray) -> NDArray[np.float32]:
    """Largest number x of single precision that a model sees as ``limit`` or less, for each limit, shape (n_splits,).

    A model sees ``(x - mean) * inverse`` rounded to single precision, which never falls as x grows: x is found by halving the
    numbers of single precision. If no number is small enough it is the smallest one, if all are the largest.
    """
    low, high = np.full(len(limit), -LAST), np.full(len(limit), LAST + 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        small = seen(numbers(np.minimum(middle, LAST))[None, :], mean, inverse)[0] <= limit
        low, high = np.where(small, middle, low), np.where(small, high, middle)
    return numbers(low)


def next_up(threshold: NDArray[np.float32]) -> NDArray[np.float32]:
    """The next larger numbers: ``x <= threshold`` is ``x < next_up(threshold)``."""
    return numbers(np.minimum(places(threshold) + 1, LAST))
