"""A finished run as an RO-Crate: what the specification demands, and the files of the manifest, no more and no less."""

import hashlib
import json

import pyarrow as pa
import pytest

from qdrank.errors import InputError
from qdrank.store import write
from qdrank.store.manifest import NAME, changed, crate_text, manifest_text


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
