"""The manifest: what it covers, and what it says of files that differ."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from qdrank.errors import InputError
from qdrank.store import CorruptArtifact, write, write_text
from qdrank.store.manifest import changed, digest, digests, manifest_text


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write(tmp_path / "sim" / "scores.parquet", "scores", pa.table({"query_id": ["1"], "doc_id": ["a"], "score": [0.5]}))
    write_text(tmp_path / "sim" / "table.csv", "a,b\n")
    write_text(tmp_path / "sim" / "times.csv", "0.1\n")
    write_text(tmp_path / "manifest.json", manifest_text(tmp_path, timed={"times"}))
    return tmp_path


def test_reports_hidden_files_and_times_are_not_covered(results: Path) -> None:
    for name in ("report.html", ".hidden", "sim/.table.csv.abc.partial.csv"):
        (results / name).write_text("x")
    assert set(digests(results, timed={"times"})) == {"sim/scores.parquet", "sim/table.csv"}
    assert changed(results, timed={"times"}) == []


def test_files_that_a_run_deletes_are_not_covered(results: Path) -> None:
    write_text(results / "sim" / "shards" / "1-of-2.csv", "x\n")
    assert set(digests(results, {"times"}, ["*/shards/*-of-*.csv"])) == {"sim/scores.parquet", "sim/table.csv"}


def test_every_difference_is_told_by_its_kind(results: Path) -> None:
    write_text(results / "sim" / "table.csv", "changed\n")
    write_text(results / "more.csv", "new\n")
    (results / "sim" / "scores.parquet").unlink()
    assert changed(results, timed={"times"}) == [
        "more.csv: not in the manifest",
        "sim/scores.parquet: gone",
        "sim/table.csv: changed",
    ]


def test_the_digest_of_all_depends_on_names_and_contents(results: Path) -> None:
    first = json.loads(manifest_text(results))["all"]
    (results / "sim" / "table.csv").rename(results / "sim" / "other.csv")
    second = json.loads(manifest_text(results))["all"]
    write_text(results / "sim" / "other.csv", "b,a\n")
    assert len({first, second, json.loads(manifest_text(results))["all"]}) == 3


def test_a_damaged_artifact_is_named_not_digested(results: Path) -> None:
    path = results / "sim" / "scores.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(CorruptArtifact, match=r"scores\.parquet"):
        digests(results)


def test_an_artifacts_digest_is_the_one_it_carries(results: Path) -> None:
    carried = digest(results / "sim" / "scores.parquet").encode()
    assert carried in (results / "sim" / "scores.parquet").read_bytes()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"files": 1}'])
def test_a_file_that_is_no_manifest_is_refused(results: Path, text: str) -> None:
    (results / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="not a manifest"):
        changed(results)


def test_missing_folders_and_manifests_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        digests(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no manifest"):
        changed(tmp_path)
