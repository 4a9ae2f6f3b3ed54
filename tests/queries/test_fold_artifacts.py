"""Queries and their graph as artifacts: order, roles, what the training part alone decides."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.queries import METRICS
from qdrank.queries.graph import (
    GraphOptions,
    fitted_metric,
    load_metric,
    metric_table,
    neighbours_table,
    ranking_targets,
)
from qdrank.queries.recipe import (
    Queries,
    VectorOptions,
    describe_queries,
    load_neighbours,
    load_queries,
    load_scale,
    scale_table,
)
from qdrank.queries.vectors import Standardiser
from qdrank.store import write

OPTIONS = {"top": 3, "pooling": "mean", "view": "given", "query_columns": False, "scale": "zscore"}
PARTS = ("vali", "train", "test", "train", "train")  # not in the order of roles


def judged(seed: int = 0) -> Judged:
    rng = np.random.default_rng(seed)
    n, size = len(PARTS) * 4, 5
    parts = np.array(PARTS * 4, dtype=object)
    ids = np.array([f"q{i}" for i in rng.permutation(n)], dtype=object)
    documents = np.array([f"d{i}" for i in range(n * size)], dtype=object)
    X = rng.random((n * size, 4)).astype(np.float32)
    return Judged(ids, parts, np.arange(n + 1) * size, documents, rng.integers(0, 3, n * size), X)


def topics(data: Judged) -> pa.Table:
    """In another order than the documents."""
    ids = sorted(data.query_id)
    return pa.table(
        {
            "query_id": pa.array(ids, pa.string()),
            "part": pa.array(["train"] * len(ids), pa.string()),
            "text": pa.array([None] * len(ids), pa.string()),
            "type": pa.array([f"type of {name}" for name in ids], pa.string()),
            "query_columns": pa.array([[float(name[1:])] for name in ids], pa.list_(pa.float64())),
        }
    )


def described(data: Judged, folder: Path, **options: object) -> Queries:
    table, _ = describe_queries(data, topics(data), 0, "fold1", VectorOptions(**{**OPTIONS, **options}))
    write(folder / "queries.parquet", "queries", table)
    return load_queries(folder / "queries.parquet")


def graph(queries: Queries, folder: Path, **options: object) -> tuple[np.ndarray, np.ndarray]:
    options = {"metric": "euclidean", "largest": None, "search": "brute", **options}
    table, _ = neighbours_table(queries, GraphOptions(**options), judged().of_role("fold1", "train"))
    write(folder / "neighbours.parquet", "neighbours", table)
    return load_neighbours(folder / "neighbours.parquet")


def test_training_queries_come_first_and_are_numbered(tmp_path: Path) -> None:
    data, queries = judged(), described(judged(), tmp_path)
    assert list(queries.role) == ["train"] * 12 + ["vali"] * 4 + ["test"] * 4
    assert list(queries.train_index) == [*range(12), *[-1] * 8]
    role = dict(zip(data.query_id, data.part, strict=True))
    assert [role[name] for name in queries.query_id] == list(queries.role)


def test_topics_are_joined_on_the_query_not_on_the_place(tmp_path: Path) -> None:
    queries = described(judged(), tmp_path, query_columns=True, scale="none")
    assert list(queries.type) == [f"type of {name}" for name in queries.query_id]
    assert queries.vectors[:, -1].tolist() == [float(name[1:]) for name in queries.query_id]


def test_a_query_without_a_topic_is_named() -> None:
    data = judged()
    with pytest.raises(InputError, match="q0"):
        describe_queries(data, topics(data).slice(1), 0, "fold1", VectorOptions(**OPTIONS))


def test_test_documents_do_not_move_the_training_queries(tmp_path: Path) -> None:
    """Scale and metric are learned from training queries alone."""
    data = judged()
    other = data.X.copy()
    other[np.repeat(data.part == "test", 5)] *= 100
    before, after = described(data, tmp_path), described(data.with_features(other), tmp_path)
    np.testing.assert_array_equal(before.vectors[before.role != "test"], after.vectors[after.role != "test"])
    assert (before.vectors[before.role == "test"] != after.vectors[after.role == "test"]).any()


def test_a_shorter_list_of_neighbours_is_the_beginning_of_a_longer_one(tmp_path: Path) -> None:
    queries = described(judged(), tmp_path)
    ids, rows = graph(queries, tmp_path)
    assert list(ids) == list(queries.query_id)
    assert rows.shape == (20, 12)
    for largest in (1, 5, 12, 1000):
        _, some = graph(queries, tmp_path, largest=largest)
        np.testing.assert_array_equal(some, rows[:, : min(largest, 12)])


def test_parts_of_the_queries_give_the_same_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = described(judged(), tmp_path)
    whole = graph(queries, tmp_path)[1]
    monkeypatch.setattr("qdrank.queries.graph._TOGETHER", 3)
    np.testing.assert_array_equal(graph(queries, tmp_path)[1], whole)


def test_a_training_query_is_its_own_first_neighbour_and_others_have_none_of_their_own(tmp_path: Path) -> None:
    queries = described(judged(), tmp_path)
    _, rows = graph(queries, tmp_path)
    assert rows[:12, 0].tolist() == list(range(12))
    assert (np.linalg.norm(queries.vectors[12:] - queries.vectors[rows[12:, 0]], axis=1) > 0).all()


@pytest.mark.parametrize("scale", [True, False])
def test_a_stored_scale_is_the_fitted_one(tmp_path: Path, scale: bool) -> None:
    rng = np.random.default_rng(1)
    train, new = rng.random((9, 3)), rng.random((4, 3))
    train[2, 1] = new[0, 2] = np.nan
    train[:, 0] = 7.0  # constant
    scaler = Standardiser(scale=scale).fit(train)
    write(tmp_path / "scale.parquet", "fitted", scale_table(scaler))
    np.testing.assert_array_equal(load_scale(tmp_path / "scale.parquet").transform(new), scaler.transform(new))


@pytest.mark.parametrize("name", list(METRICS))
def test_a_stored_metric_is_the_fitted_one(tmp_path: Path, name: str) -> None:
    queries = described(judged(), tmp_path)
    metric = fitted_metric(name, queries.vectors[:12], judged().of_role("fold1", "train"))
    write(tmp_path / "metric.parquet", "fitted", metric_table(name, metric))
    again = load_metric(tmp_path / "metric.parquet")
    assert type(again) is type(metric)
    np.testing.assert_array_equal(again.transform(queries.vectors), metric.transform(queries.vectors))


@pytest.mark.parametrize("name", list(METRICS))
def test_one_training_query_is_enough_for_every_metric(name: str) -> None:
    """Nothing varies: there is nothing to learn, and nothing to fail."""
    train = judged().of_role("fold1", "train").take(np.array([0]))
    metric = fitted_metric(name, np.ones((1, 4)), train)
    assert np.isfinite(metric.transform(np.ones((2, 4)))).all()


def test_missing_features_do_not_spread_in_the_targets_of_a_metric() -> None:
    data = judged().of_role("fold1", "train")
    X = data.X.copy()
    X[::3, 1] = np.nan
    targets = ranking_targets(data.with_features(X))
    assert np.isfinite(targets).all()
    np.testing.assert_allclose(targets[:, [0, 2, 3]], ranking_targets(data)[:, [0, 2, 3]], atol=1e-6)
