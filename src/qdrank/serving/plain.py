"""A served ranker as one model of raw features: a weighted sum, or trees.

Engines know a document's features and nothing of its query, so only methods with one model for all queries can be exported. The scale
of training is folded into the model: weights are divided by it, thresholds are moved to raw units. Engines compare in single
precision; a threshold is the largest number of single precision that our model sends to the left.

Models as text: Elasticsearch and OpenSearch LTR, Solr, RankLib.

All numbers have full precision. Engines add in single precision, so their scores may differ from ours in the last digits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
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
from qdrank.rankers.served import OneFeature
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


#: What Solr adds to every threshold that it reads.
SOLR_SLACK = np.float32(1e-6)

#: From a tree's feature, threshold, left and right to a split, and from a value to a leaf.
_MakeSplit = Callable[[int, np.float32, Any, Any], Any]
_MakeLeaf = Callable[[float], Any]


def es_linear(model: PlainModel, names: Sequence[str], title: str) -> str:
    """Body of ``_createmodel`` with a model of the type ``model/linear``."""
    if not isinstance(model, WeightedSum):
        raise InputError("es-linear takes weighted sums, and this model is trees", fix="export it as es-xgboost")
    weights = dict(zip(names, model.weights.tolist(), strict=True))
    return _created(title, "model/linear", json.dumps(weights))


def es_xgboost(model: PlainModel, names: Sequence[str], title: str) -> str:
    """Body of ``_createmodel`` with a model of the type ``model/xgboost+json``; a document below a split goes to ``yes``."""
    if not isinstance(model, TreeSum):
        raise InputError("es-xgboost takes trees, and this model is a weighted sum", fix="export it as es-linear")
    return _created(title, "model/xgboost+json", json.dumps([_xgboost_tree(tree, names) for tree in model.trees]))


def _created(title: str, kind: str, definition: str) -> str:
    return json.dumps({"model": {"name": title, "model": {"type": kind, "definition": definition}}}, indent=1) + "\n"


def _xgboost_tree(tree: Tree, names: Sequence[str]) -> dict[str, Any]:
    numbered = iter(range(2 * len(tree.value)))

    def split(feature: int, threshold: np.float32, left: Any, right: Any) -> dict[str, Any]:
        limit = float(next_up(np.array([threshold]))[0])
        ways = {"yes": left["nodeid"], "no": right["nodeid"], "missing": left["nodeid"]}
        node = {"nodeid": next(numbered), "split": names[feature], "split_condition": limit}
        return {**node, **ways, "children": [left, right]}

    made: dict[str, Any] = _nested(tree, split, lambda value: {"nodeid": next(numbered), "leaf": value})
    return made


def solr(model: PlainModel, names: Sequence[str], title: str) -> str:
    """A model of Solr's LTR module; trees carry thresholds from which Solr's slack is taken beforehand."""
    kind, params = "LinearModel", dict[str, Any]()
    if isinstance(model, WeightedSum):
        params = {"weights": dict(zip(names, model.weights.tolist(), strict=True))}
    else:

        def split(feature: int, threshold: np.float32, left: Any, right: Any) -> dict[str, Any]:
            limit = str(without_slack(threshold))
            return {"feature": names[feature], "threshold": limit, "left": left, "right": right}

        roots = [_nested(tree, split, lambda value: {"value": repr(value)}) for tree in model.trees]
        kind, params = "MultipleAdditiveTreesModel", {"trees": [{"weight": "1", "root": root} for root in roots]}
    features = [{"name": name} for name in names]
    body = {"class": f"org.apache.solr.ltr.model.{kind}", "name": title, "features": features, "params": params}
    return json.dumps(body, indent=1) + "\n"


def without_slack(threshold: np.float32) -> np.float32:
    """A number of single precision that is ``threshold`` once Solr has added its slack; the nearest below if there is none."""
    first = np.float32(threshold - SOLR_SLACK)
    near = [first, np.nextafter(first, np.float32(-np.inf)), np.nextafter(first, np.float32(np.inf))]
    sums = [(np.float32(one + SOLR_SLACK), one) for one in near]
    best: np.float32 = max((total, one) for total, one in sums if total <= threshold)[1]
    return best


def ranklib(model: PlainModel, names: Sequence[str], title: str) -> str:
    """A model file of RankLib: coordinate ascent for weighted sums, LambdaMART for trees; features go by their numbers."""
    head = (
        f"## {{}}\n## {title}, written by qdrank\n" + "".join(f"## {i} = {n}\n" for i, n in enumerate(names, 1)) + "\n"
    )
    if isinstance(model, WeightedSum):
        weights = " ".join(f"{i}:{weight!r}" for i, weight in enumerate(model.weights.tolist(), 1))
        return head.format("Coordinate Ascent") + weights + "\n"

    def split(feature: int, threshold: np.float32, left: Any, right: Any) -> list[str]:
        condition = [f"<feature> {feature + 1} </feature>", f"<threshold> {threshold} </threshold>"]
        sides = [[f'<split pos="{side}">', *_indented(node), "</split>"] for side, node in _sides(left, right)]
        return condition + sides[0] + sides[1]

    lines = ["<ensemble>"]
    for number, tree in enumerate(model.trees, 1):
        node = _nested(tree, split, lambda value: [f"<output> {value!r} </output>"])
        root = ["<split>", *_indented(node), "</split>"]
        lines += [f'\t<tree id="{number}" weight="1.0">', *_indented(_indented(root)), "\t</tree>"]
    return head.format("LambdaMART") + "\n".join([*lines, "</ensemble>"]) + "\n"


def _sides(left: Any, right: Any) -> list[tuple[str, Any]]:
    return [("left", left), ("right", right)]


def _indented(lines: Sequence[str]) -> list[str]:
    return ["\t" + line for line in lines]


def _nested(tree: Tree, split: _MakeSplit, leaf: _MakeLeaf) -> Any:
    """A tree as nested nodes, made from the leaves upwards: a child has a larger number than its parent."""
    made: dict[int, Any] = {-1 - i: leaf(value) for i, value in enumerate(tree.value.tolist())}
    for i in reversed(range(len(tree.feature))):
        made[i] = split(int(tree.feature[i]), tree.threshold[i], made[int(tree.left[i])], made[int(tree.right[i])])
    return made[0 if len(tree.feature) else -1]
