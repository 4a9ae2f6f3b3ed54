"""Models as text: Elasticsearch and OpenSearch LTR, Solr, RankLib.

All numbers have full precision. Engines add in single precision, so their scores may differ from ours in the last digits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qdrank.errors import InputError
from qdrank.serving.export.plain import PlainModel, Tree, TreeSum, WeightedSum, next_up

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
