"""Models as ONNX, written without the library: only a few messages of its protocol buffers are needed.

A graph takes features (documents, features) in single precision and gives scores (documents, 1). It computes in double precision, as
our models do, and rounds once at its end.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from qdrank.serving.plain import PlainModel, TreeSum, WeightedSum

_FLOAT, _DOUBLE = 1, 11
#: Types of attributes.
_INT, _STRING, _TENSOR, _INTS, _STRINGS = 2, 3, 4, 7, 8
_Value = int | str | bytes | list[int] | list[str]
_IR_VERSION, _OPSET, _ML_OPSET = 8, 17, 3


def onnx(model: PlainModel, names: Sequence[str], title: str) -> bytes:
    """A ModelProto; the names of the features are its documentation."""
    nodes = _weighted_nodes(model) if isinstance(model, WeightedSum) else _tree_nodes(model)
    shapes = (_value("features", len(names)), _value("scores", 1))
    graph = (
        b"".join(_field(1, node) for node in nodes) + _field(2, title) + _field(11, shapes[0]) + _field(12, shapes[1])
    )
    opsets = (_field(1, "") + _field(2, _OPSET), _field(1, "ai.onnx.ml") + _field(2, _ML_OPSET))
    said = "features: " + ", ".join(names)
    head = _field(1, _IR_VERSION) + _field(2, "qdrank") + _field(6, said) + _field(7, graph)
    return head + b"".join(_field(8, opset) for opset in opsets)


def _weighted_nodes(model: WeightedSum) -> list[bytes]:
    weights, constant = _tensor(model.weights[:, None]), _tensor(np.array([model.constant]))
    return [
        _node("Cast", ["features"], ["exact"], [_attribute("to", _DOUBLE)]),
        _node("Constant", [], ["weights"], [_attribute("value", weights)]),
        _node("Constant", [], ["constant"], [_attribute("value", constant)]),
        _node("MatMul", ["exact", "weights"], ["weighted"]),
        _node("Add", ["weighted", "constant"], ["sum"]),
        _node("Cast", ["sum"], ["scores"], [_attribute("to", _FLOAT)]),
    ]


def _tree_nodes(model: TreeSum) -> list[bytes]:
    """One TreeEnsembleRegressor. In each tree the splits have their own numbers, the leaves follow."""
    splits = [len(tree.feature) for tree in model.trees]
    leaves = [len(tree.value) for tree in model.trees]
    modes: list[str] = []
    ids, features, left, right = (list[int]() for _ in range(4))
    limits: list[float] = []
    for tree, n in zip(model.trees, splits, strict=True):
        none = [0] * len(tree.value)
        ids += range(n + len(tree.value))
        modes += ["BRANCH_LEQ"] * n + ["LEAF"] * len(tree.value)
        features += [*tree.feature.tolist(), *none]
        limits += [*tree.threshold.astype(np.float64).tolist(), *none]
        left += [*(n - 1 - child if child < 0 else child for child in tree.left.tolist()), *none]
        right += [*(n - 1 - child if child < 0 else child for child in tree.right.tolist()), *none]
    of_tree = np.arange(len(model.trees))
    of_leaf = [n + i for n, count in zip(splits, leaves, strict=True) for i in range(count)]
    values = np.array(list(chain.from_iterable(tree.value.tolist() for tree in model.trees)))
    attributes: dict[str, _Value] = {
        "n_targets": 1,
        "aggregate_function": "SUM",
        "post_transform": "NONE",
        "nodes_treeids": np.repeat(of_tree, np.add(splits, leaves)).tolist(),
        "nodes_nodeids": ids,
        "nodes_modes": modes,
        "nodes_featureids": features,
        "nodes_values_as_tensor": _tensor(np.array(limits, dtype=np.float64)),
        "nodes_truenodeids": left,
        "nodes_falsenodeids": right,
        "target_treeids": np.repeat(of_tree, leaves).tolist(),
        "target_nodeids": of_leaf,
        "target_ids": [0] * len(of_leaf),
        "target_weights_as_tensor": _tensor(values),
    }
    made = [_attribute(name, value) for name, value in attributes.items()]
    return [
        _node("Cast", ["features"], ["exact"], [_attribute("to", _DOUBLE)]),
        _node("TreeEnsembleRegressor", ["exact"], ["scores"], made, domain="ai.onnx.ml"),
    ]


# ---- messages ------------------------------------------------------------------------------------------------------


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, value: int | str | bytes) -> bytes:
    """A field of a message: a number, or text or another message with its length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _tensor(values: NDArray[np.float64]) -> bytes:
    dims = b"".join(_field(1, n) for n in values.shape)
    return dims + _field(2, _DOUBLE) + _field(9, struct.pack(f"<{values.size}d", *values.ravel().tolist()))


def _attribute(name: str, value: _Value) -> bytes:
    """An attribute; ``bytes`` are a tensor."""
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, _INT)
    if isinstance(value, str):
        return _field(1, name) + _field(4, value) + _field(20, _STRING)
    if isinstance(value, bytes):
        return _field(1, name) + _field(5, value) + _field(20, _TENSOR)
    texts = bool(value) and isinstance(value[0], str)
    items = b"".join(_field(9 if texts else 8, item) for item in value)
    return _field(1, name) + items + _field(20, _STRINGS if texts else _INTS)


def _node(
    kind: str, inputs: Sequence[str], outputs: Sequence[str], attributes: Sequence[bytes] = (), *, domain: str = ""
) -> bytes:
    ends = b"".join(_field(1, name) for name in inputs) + b"".join(_field(2, name) for name in outputs)
    return ends + _field(4, kind) + b"".join(_field(5, one) for one in attributes) + _field(7, domain)


def _value(name: str, width: int) -> bytes:
    """An input or output of floats, (documents, width)."""
    shape = _field(1, _field(2, "documents")) + _field(1, _field(1, width))
    return _field(1, name) + _field(2, _field(1, _field(1, _FLOAT) + _field(2, shape)))
