import hashlib
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.store import CorruptArtifact, atomic_path, open_artifact, read, verify, write, write_text, writing
from qdrank.store.tables import ROW_GROUP_SIZE


def judged(n: int, width: int = 3, seed: int = 0) -> pa.Table:
    X = np.random.default_rng(seed).random((n, width), dtype=np.float32)
    return pa.table(
        {
            "query_id": [f"q{i // 4}" for i in range(n)],
            "doc_id": [f"d{i}" for i in range(n)],
            "label": np.arange(n, dtype=np.int8) % 3,
            "part": ["S1"] * n,
            "features": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), width),
        }
    )


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", "judged", judged(10))
    table = read(tmp_path / "a.parquet", "judged")
    assert table.column("doc_id").to_pylist() == [f"d{i}" for i in range(10)]
    assert table.schema.field("features").type.list_size == 3
    assert read(tmp_path / "a.parquet", "judged", ["label"]).column_names == ["label"]


def test_an_artifact_is_an_ordinary_parquet_file(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", "judged", judged(10))
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 10


@settings(max_examples=20)
@given(st.integers(1, 400), st.integers(1, 400))
def test_bytes_do_not_depend_on_how_rows_were_handed_in(tmp_path_factory, n, step):
    folder = tmp_path_factory.mktemp("cut")
    table = judged(n)
    write(folder / "whole.parquet", "judged", table)
    with writing(folder / "cut.parquet", "judged") as writer:
        for start in range(0, n, step):
            writer.append(table.slice(start, step))
    assert sha256(folder / "whole.parquet") == sha256(folder / "cut.parquet")


def test_row_groups_are_of_fixed_size(tmp_path: Path) -> None:
    table = judged(ROW_GROUP_SIZE + 10, width=1)
    with writing(tmp_path / "a.parquet", "judged") as writer:
        for start in range(0, len(table), 10_007):
            writer.append(table.slice(start, 10_007))
    with open_artifact(tmp_path / "a.parquet", "judged") as file:
        assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [ROW_GROUP_SIZE, 10]
    write(tmp_path / "b.parquet", "judged", table)
    assert sha256(tmp_path / "a.parquet") == sha256(tmp_path / "b.parquet")


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", "judged", judged(2, width=1))
    good = (tmp_path / "a.parquet").read_bytes()
    bad = tmp_path / "bad.parquet"
    for place in range(len(good)):
        bad.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(CorruptArtifact, match=r"bad\.parquet"):
            read(bad, "judged")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"junk" * 100, b"qdrank.sha256", b"qdrank.sha256\x18\x40"])
def test_a_file_that_is_no_artifact_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(CorruptArtifact, match="delete the file"):
        read(tmp_path / "a.parquet", "judged")


def test_a_truncated_artifact_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", "judged", judged(50))
    good = (tmp_path / "a.parquet").read_bytes()
    for length in range(0, len(good), 97):
        (tmp_path / "a.parquet").write_bytes(good[:length])
        with pytest.raises(CorruptArtifact):
            verify(tmp_path / "a.parquet")


def test_another_kind_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", "judged", judged(2))
    with pytest.raises(InputError, match="the kind of this artifact is judged, not scores"):
        read(tmp_path / "a.parquet", "scores")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda t: t.drop_columns(["label"]), "lacks label"),
        (lambda t: t.append_column("more", pa.array([1] * len(t))), "unknown more"),
        (lambda t: t.set_column(0, "query_id", pa.array([None] * len(t), pa.string())), "'query_id' with null"),
        (lambda t: t.set_column(2, "label", pa.array([1000] * len(t))), "not a judged table"),
        (lambda t: t.set_column(4, "features", pa.array([[1.0]] * len(t))), "not a fixed-size list"),
    ],
)
def test_a_table_of_another_shape_is_refused(tmp_path: Path, change: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        write(tmp_path / "a.parquet", "judged", change(judged(4)))
    assert list(tmp_path.iterdir()) == []


def test_widths_may_not_change_on_the_way(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must keep its schema"), writing(tmp_path / "a.parquet", "judged") as writer:
        writer.append(judged(4, width=3))
        writer.append(judged(4, width=2))
    assert list(tmp_path.iterdir()) == []


def test_open_shapes_take_further_columns(tmp_path: Path) -> None:
    table = pa.table({"fold": ["fold1"], "method": ["bm25"], "query_id": ["1"], "ap": [0.5]})
    write(tmp_path / "m.parquet", "measures", table)
    assert read(tmp_path / "m.parquet", "measures").column("ap").to_pylist() == [0.5]


def test_a_failing_block_leaves_the_old_file(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(RuntimeError), atomic_path(tmp_path / "a.txt") as partial:
        partial.write_text("new")
        raise RuntimeError
    assert (tmp_path / "a.txt").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_left_overs_of_a_killed_writer_go(tmp_path: Path) -> None:
    (tmp_path / ".a.txt.xyz.partial.txt").write_text("half")
    (tmp_path / ".b.txt.xyz.partial.txt").write_text("another file's")
    write_text(tmp_path / "a.txt", "whole")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".b.txt.xyz.partial.txt", "a.txt"]


def test_files_get_ordinary_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_text(tmp_path / "a.txt", "x")
    finally:
        os.umask(mask)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


def test_odd_names_are_only_names(tmp_path: Path) -> None:
    odd = tmp_path / "it's [a] $(name).parquet"
    write(odd, "judged", judged(2))
    assert read(odd, "judged").num_rows == 2


def test_the_later_of_two_writers_wins_and_the_earlier_changes_nothing(tmp_path: Path) -> None:
    """A job that was taken for dead still runs, and its successor writes the same file."""
    with pytest.raises(FileNotFoundError), atomic_path(tmp_path / "a.txt") as slow:
        slow.write_text("early")
        write_text(tmp_path / "a.txt", "late")
    assert (tmp_path / "a.txt").read_text() == "late"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), atomic_path(tmp_path / "a.txt") as partial:
        partial.write_text("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_the_temporary_file_has_the_folder_and_the_suffix(tmp_path: Path) -> None:
    """Rename works within one file system only, and pictures get their format from the suffix."""
    with atomic_path(tmp_path / "new" / "a.svg") as partial:
        assert partial.parent == tmp_path / "new"
        assert partial.suffix == ".svg"
        assert partial.name.startswith(".")
        partial.write_text("x")


def test_a_name_with_pattern_characters_removes_no_file_of_another(tmp_path: Path) -> None:
    other = tmp_path / ".a1.txt.xyz.partial.txt"
    other.write_text("another writer's")
    write_text(tmp_path / "a[1].txt", "mine")
    write_text(tmp_path / "a*.txt", "mine")
    assert other.exists()


def test_text_is_utf8_with_lf_line_ends(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "γ\nλ\n")
    assert (tmp_path / "a.txt").read_bytes() == "γ\nλ\n".encode()
