from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from qdrank.errors import InputError
from qdrank.store import read, write, writing
from qdrank.store.schemas import SHAPES, conform
from qdrank.store.tables import seal

SCORES = {"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [0.5, -1.0]}


def written(folder: Path, table: pa.Table, kind: str = "scores") -> bytes:
    write(folder / "t.parquet", kind, table)
    return (folder / "t.parquet").read_bytes()


def test_what_does_not_matter_changes_no_byte(tmp_path: Path) -> None:
    """Order of columns, chunks, metadata, dictionaries, width of the numbers."""
    plain = pa.table(SCORES)
    expected = written(tmp_path, plain)
    assert written(tmp_path, plain.select(["score", "doc_id", "query_id"])) == expected
    assert written(tmp_path, pa.concat_tables([plain.slice(0, 1), plain.slice(1)])) == expected
    assert written(tmp_path, plain.replace_schema_metadata({"pandas": "{}"})) == expected
    assert written(tmp_path, plain.set_column(0, "query_id", plain["query_id"].dictionary_encode())) == expected
    assert written(tmp_path, plain.set_column(2, "score", plain["score"].cast(pa.float32()))) == expected


def test_the_kind_is_part_of_the_bytes(tmp_path: Path) -> None:
    table = pa.table(SCORES)
    assert written(tmp_path, table, "table") != written(tmp_path, table, "figure")


def test_a_table_without_rows_is_an_artifact(tmp_path: Path) -> None:
    table = pa.table({name: pa.array(values, type=None)[:0] for name, values in SCORES.items()})
    write(tmp_path / "t.parquet", "scores", table)
    assert read(tmp_path / "t.parquet", "scores").num_rows == 0


def test_a_block_that_writes_nothing_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing was written"), writing(tmp_path / "t.parquet", "scores"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_columns_that_are_not_there_are_named(tmp_path: Path) -> None:
    """Parquet's reader leaves them out without a word."""
    write(tmp_path / "t.parquet", "scores", pa.table(SCORES))
    with pytest.raises(InputError, match="no column grade"):
        read(tmp_path / "t.parquet", "scores", ["score", "grade"])


@pytest.mark.parametrize("vector", [[None, 1.0], [1.0, None]])
def test_a_null_inside_a_vector_is_refused(vector: list[float | None]) -> None:
    features = pa.FixedSizeListArray.from_arrays(pa.array(vector, pa.float32()), 2)
    table = pa.table({"query_id": ["1"], "doc_id": ["a"], "label": [0], "part": ["S1"], "features": features})
    with pytest.raises(InputError, match="features holds a null"):
        conform(table, "judged")


def test_nulls_are_allowed_where_the_shape_says_so() -> None:
    rows = {"query_id": ["1"], "part": ["S1"], "text": [None], "type": [None], "query_columns": [[]]}
    types = [SHAPES["topics"].columns[name] for name in rows]
    table = pa.table([pa.array(v, t) for v, t in zip(rows.values(), types, strict=True)], names=list(rows))
    assert conform(table, "topics").column("type").null_count == 1
    with pytest.raises(InputError, match="part"):
        conform(table.set_column(1, "part", pa.array([None], pa.string())), "topics")


def test_numbers_that_would_change_are_refused() -> None:
    features = pa.FixedSizeListArray.from_arrays(pa.array([1.0], pa.float32()), 1)
    table = pa.table({"query_id": ["1"], "doc_id": ["a"], "label": [1.5], "part": ["S1"], "features": features})
    with pytest.raises(InputError, match="truncated"):
        conform(table, "judged")


def test_an_unknown_kind_is_met_with_the_closest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean scores"):
        write(tmp_path / "t.parquet", "score", pa.table(SCORES))
    assert list(tmp_path.iterdir()) == []


def test_data_that_look_like_a_digest_do_not_mislead(tmp_path: Path) -> None:
    """The digest is found by its key, and a document may contain that key."""
    trap = "qdrank.sha256\x18@" + "0" * 64
    table = pa.table(SCORES | {"doc_id": [trap, trap + "1"]})
    write(tmp_path / "t.parquet", "scores", table)
    assert read(tmp_path / "t.parquet", "scores").column("doc_id").to_pylist() == [trap, trap + "1"]


def test_an_artifact_is_sealed_once(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", "scores", pa.table(SCORES))
    with pytest.raises(ValueError, match="no place reserved"):
        seal(tmp_path / "t.parquet")


def test_not_a_number_is_a_value(tmp_path: Path) -> None:
    """Missing features are NaN, never null, and keep their bits."""
    features = np.array([[np.nan, np.inf], [-0.0, 1e-45]], dtype=np.float32)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(features.ravel()), 2)
    table = pa.table({"query_id": ["1"] * 2, "doc_id": ["a", "b"], "label": [0, 1], "part": ["S1"] * 2})
    write(tmp_path / "t.parquet", "judged", table.append_column("features", lists))
    found = read(tmp_path / "t.parquet", "judged").column("features").combine_chunks().flatten().to_numpy()
    np.testing.assert_array_equal(found.view(np.int32), features.ravel().view(np.int32))


@pytest.mark.parametrize("rows", [slice(0, 3), slice(1, 2), slice(0, 0)])
def test_lists_of_the_right_type_are_renamed_as_a_cast_would(rows: slice) -> None:
    """Parquet calls the items of a list ``element``; their name is part of what is written."""
    read_back = pa.list_(pa.field("element", pa.float64(), nullable=False))
    lists = pa.array([[1.0, 2.0], [], [3.0]], read_back)[rows]
    n = len(lists)
    columns = {"array": ["a"] * n, "row": pa.array(range(n), pa.int32()), "text": pa.nulls(n, pa.string())}
    table = pa.table({**columns, "numbers": lists, "wholes": pa.array([[1]] * n, pa.list_(pa.int32()))})
    wholes = pa.list_(pa.field("element", pa.int32(), nullable=False))
    stored = table.set_column(4, "wholes", table["wholes"].cast(wholes))
    made = conform(stored, "rankers")
    assert made.equals(conform(table, "rankers"), check_metadata=True)
    assert [str(made.schema.field(name).type.value_field.name) for name in ("numbers", "wholes")] == ["item", "item"]
