from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from qdrank.datasets.columns import topics_table
from qdrank.datasets.judged import Judged, load_judged, load_roles
from qdrank.errors import InputError
from qdrank.store import read, write, writing
from qdrank.store.tables import ROW_GROUP_SIZE


def made(sizes, parts, n_features=3, seed=0) -> Judged:
    generator = np.random.default_rng(seed)
    n = sum(sizes)
    return Judged(
        query_id=np.array([f"q{i}" for i in range(len(sizes))], dtype=object),
        part=np.array(parts, dtype=object),
        offsets=np.cumsum([0, *sizes]).astype(np.int64),
        doc_id=np.array([f"d{i}" for i in range(n)], dtype=object),
        y=generator.integers(0, 3, n),
        X=generator.random((n, n_features), dtype=np.float32),
    )


def same(a: Judged, b: Judged) -> None:
    for name in ("query_id", "part", "offsets", "doc_id", "y", "X"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert getattr(a, name).dtype == getattr(b, name).dtype


FIVE = made([2, 1, 3, 2, 1, 4], ["S2", "S1", "S3", "S4", "S5", "S2"])


def test_counts_and_rows():
    assert (FIVE.n_queries, FIVE.n_documents) == (6, 13)
    assert FIVE.query.tolist()[:4] == ["q0", "q0", "q1", "q2"]
    assert FIVE.query_index.tolist() == [0, 0, 1, 2, 2, 2, 3, 3, 4, 5, 5, 5, 5]
    assert FIVE.parts == ["S2", "S1", "S3", "S4", "S5"]
    assert FIVE.folds == ["fold1", "fold2", "fold3", "fold4", "fold5"]


def test_select_keeps_the_order_of_the_parts_asked_for():
    chosen = FIVE.select(["S3", "S2"])
    assert chosen.query_id.tolist() == ["q2", "q0", "q5"]
    assert chosen.doc_id.tolist() == ["d3", "d4", "d5", "d0", "d1", "d9", "d10", "d11", "d12"]
    assert chosen.offsets.tolist() == [0, 3, 5, 9]
    np.testing.assert_array_equal(chosen.X, FIVE.X[[3, 4, 5, 0, 1, 9, 10, 11, 12]])
    np.testing.assert_array_equal(chosen.y, FIVE.y[[3, 4, 5, 0, 1, 9, 10, 11, 12]])
    assert FIVE.select([]).n_documents == 0


def test_of_role():
    assert FIVE.of_role("fold4", "train").query_id.tolist() == ["q3", "q4", "q1"]
    assert FIVE.of_role("fold4", "test").query_id.tolist() == ["q2"]


def test_unknown_parts_and_roles():
    with pytest.raises(InputError, match="no part 'S6'"):
        FIVE.select(["S6"])
    with pytest.raises(InputError, match="unknown role"):
        FIVE.of_role("fold1", "validation")


def test_with_features():
    assert FIVE.with_features(np.zeros((13, 7))).X.shape == (13, 7)
    with pytest.raises(InputError, match="do not fit"):
        FIVE.with_features(np.zeros((12, 7)))


@pytest.mark.parametrize(
    "parts", [["S2", "S1", "S3", "S4", "S5", "S2"], ["train", "train", "vali", "test", "train", "test"]]
)
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_roles_are_loaded_as_they_are_selected(tmp_path, monkeypatch, parts, rows):
    """Row groups with one row, with cut queries, and one for all; parts in one piece and in several."""
    monkeypatch.setattr("qdrank.store.tables.ROW_GROUP_SIZE", rows)
    whole = replace(FIVE, part=np.array(parts, dtype=object))
    write(tmp_path / "judged.parquet", "judged", whole.to_table())
    for fold in whole.folds:
        for wanted in (["train"], ["vali", "test"], ["train", "vali", "test"]):
            found = load_roles(tmp_path / "judged.parquet", fold, wanted)
            assert sorted(found) == sorted(wanted)
            for role, own in found.items():
                same(own, whole.of_role(fold, role))
    labels = load_roles(tmp_path / "judged.parquet", "fold1", ["train"], columns=["label"])["train"]
    assert (labels.X.shape[1], labels.y.tolist()) == (0, whole.of_role("fold1", "train").y.tolist())


def test_each_role_has_a_table_that_can_be_freed_alone(tmp_path):
    write(tmp_path / "judged.parquet", "judged", FIVE.to_table())
    parts = load_roles(tmp_path / "judged.parquet", "fold1")
    tables = [part.X if part.X.base is None else part.X.base for part in parts.values()]
    assert [len(table) for table in tables] == [part.n_documents for part in parts.values()]


def test_an_unknown_role_is_not_loaded(tmp_path):
    write(tmp_path / "judged.parquet", "judged", FIVE.to_table())
    with pytest.raises(InputError, match="unknown role 'training'"):
        load_roles(tmp_path / "judged.parquet", "fold1", ["training"])


def test_features_of_other_roles_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("qdrank.store.tables.ROW_GROUP_SIZE", 3)
    parts = made([3, 3, 3, 3], ["train", "vali", "vali", "test"])
    write(tmp_path / "judged.parquet", "judged", parts.to_table())
    read, groups = pq.ParquetFile.read_row_group, []

    def counted(file, group, columns, **options):
        groups.extend([group] * ("features" in columns))
        return read(file, group, columns=columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", counted)
    load_roles(tmp_path / "judged.parquet", "fold1", ["train", "test"])
    assert groups == [0, 3]


def test_queries_in_a_row_are_taken_without_a_copy():
    some = FIVE.take(np.array([1, 2, 3]))
    assert np.shares_memory(some.X, FIVE.X)
    same(some, FIVE.take(np.array([3, 1, 2])).take(np.array([1, 2, 0])))
    assert FIVE.take(np.array([], dtype=np.int64)).n_documents == 0


def test_missing_values_survive(tmp_path):
    X = FIVE.X.copy()
    X[3, 1] = np.nan
    write(tmp_path / "judged.parquet", "judged", FIVE.with_features(X).to_table())
    np.testing.assert_array_equal(load_judged(tmp_path / "judged.parquet").X, X)


def test_columns_may_be_left_out(tmp_path):
    write(tmp_path / "judged.parquet", "judged", FIVE.to_table())
    labels = load_judged(tmp_path / "judged.parquet", columns=["label"])
    assert (labels.X.shape, labels.doc_id.shape) == ((13, 0), (0,))
    assert labels.select(["S3"]).y.tolist() == FIVE.y[3:6].tolist()
    assert load_judged(tmp_path / "judged.parquet", columns=["features"]).X.shape == (13, 3)
    with pytest.raises(InputError, match="no column 'grade'"):
        load_judged(tmp_path / "judged.parquet", columns=["grade"])


@pytest.mark.parametrize(
    "sizes",
    [
        [ROW_GROUP_SIZE - 5, 10, ROW_GROUP_SIZE - 5, 3],  # a query is cut by row groups
        [ROW_GROUP_SIZE, ROW_GROUP_SIZE, 1],  # none is
        [7, 2 * ROW_GROUP_SIZE + 5, 1],  # one fills more than a group
    ],
)
def test_queries_across_row_groups(tmp_path, sizes):
    judged = made(sizes, ["train"] * (len(sizes) - 1) + ["test"], n_features=1)
    write(tmp_path / "judged.parquet", "judged", judged.to_table())
    same(load_judged(tmp_path / "judged.parquet"), judged)


def test_a_query_in_two_places_is_refused(tmp_path):
    with writing(tmp_path / "judged.parquet", "judged") as writer:
        for _ in range(2):
            writer.append(FIVE.to_table())
    with pytest.raises(InputError, match="two places"):
        load_judged(tmp_path / "judged.parquet")


def test_what_is_not_known_is_null_or_of_width_0(tmp_path):
    write(tmp_path / "topics.parquet", "topics", topics_table(["1", "2"], ["S1", "S2"]))
    rows = read(tmp_path / "topics.parquet", "topics").to_pylist()
    assert rows == [
        {"query_id": "1", "part": "S1", "text": None, "type": None, "query_columns": []},
        {"query_id": "2", "part": "S2", "text": None, "type": None, "query_columns": []},
    ]


def test_what_is_known_is_kept_in_its_order():
    table = topics_table(["b", "a"], ["test", "train"], text=["x", None], types=[None, "t"], columns=np.eye(2))
    assert table.column("text").to_pylist() == ["x", None]
    assert table.column("type").to_pylist() == [None, "t"]
    assert table.column("query_columns").to_pylist() == [[1.0, 0.0], [0.0, 1.0]]
