"""From LETOR text to the artifact and back; a bad row leaves nothing behind."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qdrank.datasets.importing import _query_ids, best_feature, export_letor, import_letor
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.letor import load_letor
from qdrank.errors import InputError


def rows(queries, n_documents=3):
    return "".join(f"{i % 3} qid:{q} 1:{i} 2:0.5 #docid = {q}d{i}\n" for q in queries for i in range(n_documents))


@pytest.fixture
def files(tmp_path):
    paths = {f"S{i}": tmp_path / f"S{i}.txt" for i in range(1, 6)}
    for i, path in enumerate(paths.values()):
        path.write_text(rows([f"{i}a", f"{i}b"]))
    return paths


def test_parts_in_one_artifact(files, tmp_path):
    import_letor(files, tmp_path / "judged.parquet")
    judged = load_judged(tmp_path / "judged.parquet")
    assert judged.n_documents == 30
    assert judged.part.tolist() == [f"S{i}" for i in range(1, 6) for _ in range(2)]
    for part, path in files.items():
        expected, found = load_letor(path, part=part), judged.select([part])
        np.testing.assert_array_equal(found.X, expected.X)
        for name in ("query_id", "part", "offsets", "doc_id", "y"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_same_bytes_whatever_the_blocks_and_threads(files, tmp_path, monkeypatch, threads):
    import_letor(files, tmp_path / "a.parquet")
    monkeypatch.setattr("qdrank.datasets.importing.read_letor", _in_small_blocks)
    monkeypatch.setenv("QDRANK_THREADS", threads)
    import_letor(files, tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def _in_small_blocks(path, **options):
    from qdrank.datasets.letor import read_letor

    return read_letor(path, block_bytes=60, **options)


def test_sparse_parts_share_the_width(tmp_path):
    for name, row in {"train": "0 qid:1 2:1\n", "test": "0 qid:2 7:1\n"}.items():
        (tmp_path / name).write_text(row)
    import_letor({"train": tmp_path / "train", "test": tmp_path / "test"}, tmp_path / "judged.parquet")
    assert load_judged(tmp_path / "judged.parquet").X.shape == (2, 7)


def test_one_file_is_put_into_seeded_parts(tmp_path):
    (tmp_path / "own.txt").write_text(rows([f"q{i}" for i in range(20)]))
    import_letor(tmp_path / "own.txt", tmp_path / "a.parquet", seed=3)
    import_letor(tmp_path / "own.txt", tmp_path / "b.parquet", seed=4)
    a, b = load_judged(tmp_path / "a.parquet"), load_judged(tmp_path / "b.parquet")
    assert sorted(np.unique(a.part, return_counts=True)[1].tolist()) == [4] * 5
    assert a.query_id.tolist() == [f"q{i}" for i in range(20)]
    assert a.part.tolist() != b.part.tolist()


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("0 qid:0a 1:0 2:0\n", "two places"),
        ("0 qid:x 1:0 2:nan\n", "not finite"),
        ("0 qid:x 1:0 2:0 3:0\n", "above 2"),
        ("", "no rows"),
    ],
)
@pytest.mark.parametrize("threads", ["1", "4"])
def test_nothing_is_left_of_a_bad_import(files, tmp_path, monkeypatch, bad, problem, threads):
    monkeypatch.setenv("QDRANK_THREADS", threads)
    files["S5"].write_text(rows(["z"]) + bad if bad else "")
    out = tmp_path / "out" / "judged.parquet"
    with pytest.raises(InputError, match=problem) as caught:
        import_letor(files, out)
    assert caught.value.file == files["S5"]
    assert not out.exists()
    assert not out.parent.exists() or list(out.parent.iterdir()) == []


def test_query_in_two_parts_names_both_files(files, tmp_path):
    files["S3"].write_text(rows(["0b"]))
    with pytest.raises(InputError, match=r"began in line 4 of .*S1\.txt") as caught:
        import_letor(files, tmp_path / "judged.parquet")
    assert (caught.value.file, caught.value.line) == (files["S3"], 1)


def test_of_equal_features_the_first_is_the_best():
    judged = Judged.from_arrays([[0, 1, 1], [1, 0, 0], [0, 0, 0]], [1, 0, 0], ["a", "a", "b"])
    assert best_feature(replace(judged, part=np.array(["train", "test"], dtype=object)), seed=1) == 1


def test_parts_must_make_folds(files, tmp_path):
    with pytest.raises(InputError, match="make no folds"):
        import_letor({"one": files["S1"], "two": files["S2"]}, tmp_path / "judged.parquet")


def test_an_old_artifact_stays_if_the_import_fails(files, tmp_path):
    import_letor(files, tmp_path / "judged.parquet")
    before = (tmp_path / "judged.parquet").read_bytes()
    files["S2"].write_text("junk\n")
    with pytest.raises(InputError):
        import_letor(files, tmp_path / "judged.parquet")
    assert (tmp_path / "judged.parquet").read_bytes() == before


def test_export_without_document_names(files, tmp_path):
    import_letor(files, tmp_path / "judged.parquet")
    judged = load_judged(tmp_path / "judged.parquet", columns=["features"])
    export_letor(judged, tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text().startswith("0 qid:0a 1:0 2:0.5\n1 qid:0a 1:1 2:0.5\n")


def test_names_with_blanks_are_not_exported(tmp_path):
    (tmp_path / "own.txt").write_text(rows(["q"]))
    judged = load_letor(tmp_path / "own.txt")
    judged.doc_id[1] = "two words"
    with pytest.raises(InputError, match="blanks"):
        export_letor(judged, tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.mirror
def test_mq2008_and_back(mirror, tmp_path):
    parts = {f"S{i}": mirror / f"letor4/MQ2008/S{i}.txt.xz" for i in range(1, 6)}
    import_letor(parts, tmp_path / "judged.parquet", n_features=46)
    judged = load_judged(tmp_path / "judged.parquet")
    assert (judged.n_queries, judged.X.shape) == (784, (15211, 46))
    assert judged.of_role("fold1", "train").n_documents == 2933 + 3635 + 3062
    export_letor(judged, tmp_path / "all.txt")
    again = load_letor(tmp_path / "all.txt")
    np.testing.assert_array_equal(again.X, judged.X)
    assert again.doc_id.tolist() == judged.doc_id.tolist()


def test_one_file_is_divided_alike_whatever_its_names_and_line_ends(tmp_path: Path) -> None:
    """Names are read from the heads of the rows; long ones, blank lines, comments and CRLF must not matter."""
    names = [f"{'q' * (i * 7)}-{i}" for i in range(12)]
    rows = [f"{i % 2} qid:{name} 1:{i}.5 2:{i} #docid = qid:{i}" for name in names for i in range(3)]
    texts = ["\n".join(rows) + "\n", "\r\n".join(rows) + "\r\n", "\n" + "\n\n# words\n  ".join(rows)]
    found = []
    for i, text in enumerate(texts):
        (tmp_path / f"{i}.txt").write_bytes(text.encode())
        import_letor(tmp_path / f"{i}.txt", tmp_path / f"{i}.parquet", seed=4)
        judged = load_judged(tmp_path / f"{i}.parquet")
        assert judged.query_id.tolist() == names
        found.append(judged.part.tolist())
    assert found[0] == found[1] == found[2]
    assert set(found[0]) == {"S1", "S2", "S3", "S4", "S5"}


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_names_of_an_unsplit_file_are_all_found(tmp_path, monkeypatch, ends):
    """Short and long names, tabs, rows without a query, names that begin alike, in small blocks."""
    names = [b"1", b"10", b"10", b"101", b"q" * 25, b"q" * 26, b"q" * 26, b"q" * 80, b"q" * 80 + b"x", b"10", b"1"]
    rows = [b"%d qid:%s 1:0.5" % (i % 3, name) for i, name in enumerate(names)]
    rows += [b"0\tqid:tab\t1:1", b"0 1:2", b"", b"# words", b"12 qid:two 1:0", b"0 qid:last"]
    (tmp_path / "f").write_bytes(ends.join(rows))
    expected = list(dict.fromkeys([*(name.decode() for name in names), "tab", "two", "last"]))
    for size in (1, 100, 1 << 20):
        monkeypatch.setattr("qdrank.datasets.importing._NAMES_BLOCK", size)
        assert _query_ids(tmp_path / "f") == expected
