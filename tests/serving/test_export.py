"""Exported models: a small evaluator of each format, comparing as the engine does, gives our scores in single precision."""

import json
import struct
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from tests.rankers.query_world import world

from qdrank.cli import main
from qdrank.commands.export import FORMATS
from qdrank.datasets.columns import columns_table
from qdrank.datasets.letor import load_letor
from qdrank.errors import InputError
from qdrank.learners.boosting import RankBoost
from qdrank.learners.linear import Regression
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.learners.trees import BoostedRegression, LambdaMART
from qdrank.rankers.documents import FoldDocuments, fold_documents
from qdrank.rankers.learned import LearnerRanker
from qdrank.rankers.one_model import LinearRanker, TreeRanker
from qdrank.rankers.served import OneFeature, ServedRanker, write_ranker
from qdrank.serving.plain import SOLR_SLACK, next_up, plain_model, raw_thresholds, without_slack
from qdrank.single_precision import numbers, places
from qdrank.store import write

# ---- evaluators: what each engine does with a file; sums in double precision, rounded once ---------------------------


def weighted(weights, X):
    return X.astype(np.float64) @ np.array(weights)


def down(X, node, children, leaf):
    """Sum over documents' paths: ``children(node, X)`` gives who goes left and both children, ``leaf(node)`` a value or None."""
    value = leaf(node)
    if value is not None:
        return np.full(len(X), value)
    goes_left, left, right = children(node, X)
    scores = np.empty(len(X))
    scores[goes_left], scores[~goes_left] = (
        down(X[goes_left], left, children, leaf),
        down(X[~goes_left], right, children, leaf),
    )
    return scores


def elasticsearch(content, X, names):
    body = json.loads(content)["model"]["model"]
    definition = json.loads(body["definition"])
    if body["type"] == "model/linear":
        return weighted([definition[name] for name in names], X)

    def children(node, X):
        by_id = {child["nodeid"]: child for child in node["children"]}
        below = np.float32(node["split_condition"]) > X[:, names.index(node["split"])]
        return below, by_id[node["yes"]], by_id[node["no"]]

    return sum(down(X, tree, children, lambda node: node.get("leaf")) for tree in definition)


def solr(content, X, names):
    body = json.loads(content)
    assert [feature["name"] for feature in body["features"]] == names
    if body["class"].endswith("LinearModel"):
        return weighted([body["params"]["weights"][name] for name in names], X)

    def children(node, X):
        limit = np.float32(np.float32(node["threshold"]) + SOLR_SLACK)
        return X[:, names.index(node["feature"])] <= limit, node["left"], node["right"]

    def leaf(node):
        return float(node["value"]) if "value" in node else None

    trees = body["params"]["trees"]
    return sum(float(tree["weight"]) * down(X, tree["root"], children, leaf) for tree in trees)


def ranklib(content, X, names):
    lines = content.decode().splitlines()
    model = [line for line in lines if not line.startswith("##") and line.strip()]
    if lines[0] == "## Coordinate Ascent":
        pairs = (pair.split(":") for pair in model[0].split())
        return sum(X[:, int(number) - 1].astype(np.float64) * float(weight) for number, weight in pairs)
    assert lines[0] == "## LambdaMART"

    def children(node, X):
        limit = np.float32(node.find("threshold").text)
        sides = {side.get("pos"): side for side in node.findall("split")}
        return X[:, int(node.find("feature").text) - 1] <= limit, sides["left"], sides["right"]

    def leaf(node):
        return None if node.find("output") is None else float(node.find("output").text)

    trees = ET.fromstring("\n".join(model)).findall("tree")
    return sum(float(tree.get("weight")) * down(X, tree.find("split"), children, leaf) for tree in trees)


def message(content):
    """Fields of a message of protocol buffers: number to values."""
    fields, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = content[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(content):
        key = varint()
        if key & 7 == 0:
            fields.setdefault(key >> 3, []).append(varint())
        else:
            size = varint()
            fields.setdefault(key >> 3, []).append(content[at : at + size])
            at += size
    return fields


def attribute(content):
    own = message(content)
    if 5 in own:
        tensor = message(own[5][0])
        (data,) = tensor[9]
        return own[1][0].decode(), np.array(struct.unpack(f"<{len(data) // 8}d", data)).reshape(tensor[1])
    values = [value.decode() if isinstance(value, bytes) else value for n in (3, 4, 8, 9) for value in own.get(n, [])]
    return own[1][0].decode(), values


def onnx(content, X, names):
    graph = message(message(content)[7][0])
    nodes = [message(node) for node in graph[1]]
    attributes = [dict(attribute(one) for one in node.get(5, [])) for node in nodes]
    if len(nodes) == 6:
        return X.astype(np.float64) @ attributes[1]["value"][:, 0] + attributes[2]["value"][0]
    trees = attributes[1]
    rows = {pair: i for i, pair in enumerate(zip(trees["nodes_treeids"], trees["nodes_nodeids"], strict=True))}
    targets = zip(trees["target_treeids"], trees["target_nodeids"], strict=True)
    values = dict(zip(targets, trees["target_weights_as_tensor"], strict=True))

    def children(node, X):
        i = rows[node]
        assert trees["nodes_modes"][i] == "BRANCH_LEQ"
        goes_left = X[:, trees["nodes_featureids"][i]] <= trees["nodes_values_as_tensor"][i]
        return goes_left, (node[0], trees["nodes_truenodeids"][i]), (node[0], trees["nodes_falsenodeids"][i])

    return sum(down(X, (tree, 0), children, values.get) for tree in dict.fromkeys(trees["nodes_treeids"]))


EVALUATORS = {"es-linear": elasticsearch, "es-xgboost": elasticsearch, "ranklib": ranklib, "solr": solr, "onnx": onnx}
LINEAR, TREES = ("es-linear", "ranklib", "solr", "onnx"), ("es-xgboost", "ranklib", "solr", "onnx")


def exported(ranker, view, format_):
    names = [f"f{i}" for i in range(view.n_features)]
    made = FORMATS[format_](plain_model(ranker, view), names, "mine")
    return (made.encode() if isinstance(made, str) else made), names


def refuse_differences(ranker, view, X, formats, *, constant=0.0):
    """The evaluators' scores in single precision are ours."""
    served = ServedRanker(method="mine", fold="fold1", documents=view, ranker=ranker)
    ours = served.score(X).astype(np.float32)
    for format_ in formats:
        content, names = exported(ranker, view, format_)
        theirs = EVALUATORS[format_](content, X, names)
        theirs = theirs + (constant if format_ != "onnx" else 0)
        np.testing.assert_array_equal(theirs.astype(np.float32), ours, err_msg=format_)
        if format_ == "onnx":
            refuse_other_runtime(content, X, ours)


def refuse_other_runtime(content, X, ours):
    """The same by ONNX' own runtime, where it is installed."""
    try:
        import onnxruntime
    except ImportError:
        return
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(["scores"], {"features": X})[0][:, 0], ours)


# ---- MQ2008 ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mq2008(mirror):
    return load_letor(mirror / "letor4" / "MQ2008" / "S1.txt.xz")


LEARNERS = [
    (RankSVM(lam=0.01), LINEAR),
    (Regression(), LINEAR),
    (LambdaMART(rounds=12, leaves=15), TREES),
    (BoostedRegression(rounds=5, leaves=7), TREES),
    (RankBoost(rounds=30), ("ranklib", "solr", "onnx", "es-xgboost")),
]


@pytest.mark.parametrize(("learner", "formats"), LEARNERS, ids=lambda one: getattr(one, "NAME", ""))
def test_scores_on_mq2008(mq2008, learner, formats):
    width = mq2008.X.shape[1]
    view = FoldDocuments({"all": mq2008}, np.zeros(width), np.ones(width)).view()
    learner.fit(mq2008.X, mq2008.y, mq2008.query)
    refuse_differences(LearnerRanker(learner=learner), view, mq2008.X, formats)


# ---- features on another scale -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scaled():
    """Documents of a fold with features of very different scales, one of them constant."""
    judged, _ = world(seed=3, n_queries=60)
    judged.part[:] = [f"S{i % 5 + 1}" for i in range(60)]
    X = judged.X * np.float32(10.0) ** np.arange(-3, judged.X.shape[1] - 3, dtype=np.float32) + np.float32(0.7)
    X[:, 0] = 2.5
    return fold_documents(judged.with_features(X), "fold1", "zscore")


def test_the_scale_of_training_is_in_the_trees(scaled):
    train = scaled.seen("train")
    ranker = TreeRanker(rounds=8, leaves=7, min_leaf=5).fit(train, np.zeros((train.n_queries, 0)))
    refuse_differences(ranker, scaled.view(), scaled.parts["test"].X, TREES)


def test_the_scale_of_training_is_in_the_weights(scaled):
    """The sum has other terms than ours then, so that scores agree to the precision of a sum."""
    train = scaled.seen("train")
    ranker, view = LinearRanker(lam=0.1).fit(train, np.zeros((train.n_queries, 0))), scaled.view()
    X, model = scaled.parts["test"].X, plain_model(ranker, scaled.view())
    ours = ServedRanker(method="mine", fold="fold1", documents=view, ranker=ranker).score(X)
    for format_ in LINEAR:
        content, names = exported(ranker, view, format_)
        theirs = EVALUATORS[format_](content, X, names) + (0 if format_ == "onnx" else model.constant)
        np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-6, err_msg=format_)


def test_a_feature_by_itself(scaled):
    width = scaled.parts["test"].X.shape[1]
    view = FoldDocuments(scaled.parts, np.zeros(width), np.ones(width)).view()
    refuse_differences(OneFeature(column=2), view, scaled.parts["test"].X, LINEAR)


def test_a_raw_threshold_is_the_last_number_on_the_left():
    rng = np.random.default_rng(0)
    limit, mean, inverse = rng.normal(size=200), rng.normal(size=200) * 50, rng.random(200) * 10
    inverse[:3], limit[:3] = 0, (-1, 0, 1)
    at = raw_thresholds(limit, mean, inverse)
    inside, above = inverse > 0, numbers(places(at[3:]) + 1)
    seen = np.zeros((2, 200), dtype=np.float32)
    seen[0, 3:], seen[1, 3:] = (
        ((x.astype(np.float64) - mean[3:]) * inverse[3:]).astype(np.float32) for x in (at[3:], above)
    )
    assert (seen[0][inside] <= limit[inside]).all()
    assert (seen[1][inside] > limit[inside]).all()
    largest = np.finfo(np.float32).max
    assert at[:3].tolist() == [-largest, largest, largest], "a constant goes one way"


def test_the_next_number_up():
    values = np.array([0, -0.0, 1, -1, 1e-45, -1e-45, 3e38, -3e38], dtype=np.float32)
    assert next_up(values).tolist() == np.nextafter(values, np.float32(np.inf)).tolist()
    assert np.isfinite(next_up(np.array([np.finfo(np.float32).max]))).all()


def test_thresholds_without_solrs_slack():
    for threshold in np.random.default_rng(1).random(300).astype(np.float32):
        assert np.float32(without_slack(threshold) + SOLR_SLACK) == threshold


# ---- what cannot be exported, and the command --------------------------------------------------------------------------


def test_what_an_engine_cannot_do_is_said(scaled):
    width = scaled.parts["test"].X.shape[1]
    plain = {"mean": np.zeros(width), "inverse": np.ones(width)}
    ranker = OneFeature(column=0)
    with pytest.raises(InputError, match="scaled within each query"):
        plain_model(ranker, FoldDocuments(scaled.parts, **plain, minmax=True).view())
    with pytest.raises(InputError, match="missing values"):
        plain_model(ranker, FoldDocuments(scaled.parts, **plain, fill=np.zeros(width)).view())
    with pytest.raises(InputError, match="not one model that scores each document by itself"):
        plain_model(object(), scaled.view())
    view = FoldDocuments(scaled.parts, **plain).view()
    with pytest.raises(InputError, match="export it as es-linear"):
        exported(ranker, view, "es-xgboost")


def test_the_command(scaled, tmp_path, capsys):
    X = scaled.parts["test"].X
    view = FoldDocuments(scaled.parts, np.zeros(X.shape[1]), np.ones(X.shape[1])).view()
    ranker = ServedRanker(method="mine", fold="fold1", documents=view, ranker=OneFeature(column=1))
    write_ranker(tmp_path / "fold1/served/mine.parquet", ranker)
    columns = columns_table(["BM25 (body)", "a/b", "a-b", *(f"f{i}" for i in range(3, X.shape[1]))], 0)
    write(tmp_path / "columns.parquet", "columns", columns)
    common = ["export", "--models", str(tmp_path / "fold1"), "--method", "mine", "--format", "solr"]
    assert main([*common, "--output", str(tmp_path / "model.json")]) == 0
    body = json.loads((tmp_path / "model.json").read_text())
    assert [one["name"] for one in body["features"]][:3] == ["BM25_body", "a_b_2", "a_b_3"]
    (tmp_path / "names").write_text("".join(f"n{i}\n" for i in range(X.shape[1])))
    assert main([*common, "--names", str(tmp_path / "names")]) == 0
    assert json.loads(capsys.readouterr().out)["params"]["weights"]["n1"] == 1
    (tmp_path / "names").write_text("one\n")
    assert main([*common, "--names", str(tmp_path / "names")]) != 0
    assert f"1 names, 1 of them different, for {X.shape[1]} features" in capsys.readouterr().err
