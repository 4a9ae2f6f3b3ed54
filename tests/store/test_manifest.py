"""The manifest: what it covers, and what it says of files that differ."""

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pytest

from qdrank.errors import InputError
from qdrank.store import CorruptArtifact, write, write_text
from qdrank.store.manifest import NAME, changed, crate_text, digest, digests, manifest_text


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


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "x.csv").write_text("1,2\n")
    (tmp_path / "config.yaml").write_text("datasets: [a]\n")
    columns = {"number": pa.array([1], pa.int32()), "name": ["BM25"], "reference": [True]}
    write(tmp_path / "columns.parquet", "columns", pa.table(columns))
    (tmp_path / "manifest.json").write_text(manifest_text(tmp_path))
    (tmp_path / "later.txt").write_text("made after the run\n")
    return tmp_path


def test_the_crate_of_a_run(folder):
    crate = json.loads(crate_text(folder, name="Mine", version="1.0"))
    assert crate["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    entities = {entity["@id"]: entity for entity in crate["@graph"]}
    assert len(entities) == len(crate["@graph"]), "ids differ"
    descriptor, root = entities[NAME], entities["./"]
    assert descriptor["conformsTo"]["@id"] == "https://w3id.org/ro/crate/1.1"
    assert descriptor["about"]["@id"] == "./"
    assert {"name", "description", "datePublished", "license"} <= root.keys()
    files = {part["@id"] for part in root["hasPart"]}
    assert files == {"a%20b/x.csv", "config.yaml", "columns.parquet", "manifest.json"}
    for name in files:
        path = folder / entities[name]["name"]
        assert entities[name]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert entities[name]["contentSize"] == str(path.stat().st_size)
    referenced = [entities["#run"]["instrument"], *entities["#run"]["object"], entities["#run"]["result"]]
    assert all(one["@id"] in entities for one in referenced)
    recorded = json.loads((folder / "manifest.json").read_text())["files"]
    assert entities["columns.parquet"]["identifier"] == recorded["columns.parquet"]


def test_the_crate_is_not_a_result(folder):
    before = changed(folder)
    (folder / NAME).write_text(crate_text(folder, name="Mine", version="1.0"))
    assert changed(folder) == before


def test_no_crate_without_its_files(folder):
    (folder / "a b" / "x.csv").unlink()
    with pytest.raises(InputError, match="gone"):
        crate_text(folder, name="Mine", version="1.0")
    (folder / "manifest.json").unlink()
    with pytest.raises(InputError, match="no manifest"):
        crate_text(folder, name="Mine", version="1.0")
