"""An encoder in the real workflow: vectors in shards, the first stage, features and vectors of queries, also of new ones."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")

from qdrank.cli import main
from qdrank.datasets.judged import load_judged
from qdrank.datasets.letor import load_letor
from qdrank.store import read
from qdrank.store.tables import list_matrix
from qdrank.text.encoder import Encoder, encoder_form
from qdrank.text.encoding import load_vectors
from tests.text.tiny_encoder import WORDS, write_encoder
from tests.workflow.project import copy_project

KNOWN = WORDS[5:]
CONFIG = {
    "datasets": ["mine"],
    "own": {"mine": {"kind": "beir", "folder": "collection"}},
    "encoder": {"folder": "encoder", "documents": "lion "},
    "queries": {"vectors": "dense", "scale": "none"},
    "text": {"candidates": 9, "features": ["first", "dense"]},
    "studies": ["geng"],
    "folds": ["fold1"],
}
TARGETS = ("vectors", "fold1/scores/dense", "fold1/neighbours")


def written(folder: Path) -> list[str]:
    """A collection in BEIR's form; the words of its queries."""
    (folder / "qrels").mkdir(parents=True)
    documents = [
        {"_id": f"d{i:02d}", "title": KNOWN[i % 7], "text": f"{KNOWN[(i * 3 + 1) % 7]} {KNOWN[(i * 5 + 2) % 7]}"}
        for i in range(40)
    ]
    asked = [f"{KNOWN[i % 7]} {KNOWN[(i + 3) % 7]}" for i in range(30)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in documents))
    rows = (json.dumps({"_id": f"q{i}", "text": text}) + "\n" for i, text in enumerate(asked))
    (folder / "queries.jsonl").write_text("".join(rows))
    judged = (f"q{i}\td{j:02d}\t1\n" for i in range(30) for j in {i, (i + 7) % 40})
    (folder / "qrels" / "test.tsv").write_text("".join(judged))
    return asked


@pytest.fixture(scope="module")
def run(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the stages that an encoder serves have been run."""
    folder = tmp_path_factory.mktemp("dense")
    copied = copy_project(project, folder)
    written(folder / "collection")
    write_encoder(folder / "encoder")
    (folder / "dense.yaml").write_text(yaml.safe_dump(CONFIG))
    files = [
        "results/config.yaml",
        "results/first-stages.parquet",
        *(f"results/mine/{name}.parquet" for name in TARGETS),
    ]
    copied.snakemake("--cores", "2", "--set-scatter", "encode=3", "--configfile", "dense.yaml", "--", *files)
    return folder


def encoder_in(folder: Path) -> Encoder:
    return Encoder(encoder_form(folder / "encoder", documents="lion "))


def test_vectors_are_the_encoders_and_shards_do_not_stay(run: Path):
    vectors = load_vectors(run / "results/mine/vectors.parquet")
    texts = [json.loads(line) for line in (run / "collection/corpus.jsonl").read_text().splitlines()]
    whole = [f"{one['title']} {one['text']}" for one in texts]
    np.testing.assert_allclose(vectors.documents, encoder_in(run).encode(whole, "documents"), atol=1e-6)
    assert not list((run / "results/mine").glob("vectors/*"))


def test_the_dense_row_ranks_the_whole_collection(run: Path):
    vectors = load_vectors(run / "results/mine/vectors.parquet")
    rows = read(run / "results/mine/fold1/scores/dense.parquet", "scores").to_pylist()
    for query in {row["query_id"] for row in rows}:
        scores = (vectors.documents.astype(float) @ vectors.of_queries([query])[0].astype(float)).round(12)
        best = np.lexsort((np.arange(40), -scores))[:9]
        assert {row["doc_id"] for row in rows if row["query_id"] == query} == {*vectors.doc_id[best]}


def test_it_is_measured_beside_the_other_first_stages(run: Path):
    table = read(run / "results/first-stages.parquet", "table").to_pylist()
    assert "dense encoder" in str(table)
    values = read(run / "results/mine/first-stages.parquet", "measures").to_pandas()
    of_dense = values[values["method"] == "dense"].set_index("query_id")["ap"]
    rows = read(run / "results/mine/fold1/scores/dense.parquet", "scores").to_pandas()
    judged = {f"q{i}": {f"d{i:02d}", f"d{(i + 7) % 40:02d}"} for i in range(30)}
    for query, group in rows.groupby("query_id"):
        group["relevant"] = group["doc_id"].isin(judged[query])
        worst, best = (
            average_precision(
                group.sort_values(["score", "relevant"], ascending=[False, rising])["relevant"].to_numpy()
            )
            for rising in (True, False)
        )
        assert worst - 1e-9 <= of_dense[query] <= best + 1e-9, "ties are in any order"


def average_precision(ranked: np.ndarray) -> float:
    """Of a ranking of a query with two relevant documents."""
    return (ranked.cumsum() / np.arange(1, len(ranked) + 1))[ranked].sum() / 2


def test_features_are_cosines_and_query_vectors_the_encoders(run: Path):
    judged = load_judged(run / "results/mine/judged.parquet")
    vectors = load_vectors(run / "results/mine/vectors.parquet")
    names = read(run / "results/mine/columns.parquet", "columns")["name"].to_pylist()
    place = [vectors.doc_id.tolist().index(name) for name in judged.doc_id]
    asked = vectors.of_queries(judged.query_id)[judged.query_index]
    for name, texts in (("both.dense", vectors.documents), ("title.dense", vectors.titles)):
        expected = (asked * texts[place]).sum(axis=1)
        np.testing.assert_allclose(judged.X[:, names.index(name)], expected, atol=1e-6)
    queries = read(run / "results/mine/fold1/queries.parquet", "queries")
    expected = vectors.of_queries(queries["query_id"].to_numpy(zero_copy_only=False))
    np.testing.assert_allclose(list_matrix(queries["vector"]), expected, atol=1e-6)


def test_new_queries_get_the_same(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(run)
    judged = load_judged("results/mine/judged.parquet")
    topics = read("results/mine/topics.parquet", "topics")
    new, found = tmp_path / "new.txt", tmp_path / "features.txt"
    pairs = zip(topics["query_id"].to_pylist(), topics["text"].to_pylist(), strict=True)
    new.write_text("".join(f"{name}\t{text}\n" for name, text in pairs))
    arguments = ["--data", "results/mine", "--queries", str(new), "--output", str(found)]
    assert main(["features", *arguments, "--topics", str(tmp_path / "topics.parquet")]) == 0
    np.testing.assert_array_equal(load_letor(found).X, judged.X)
    made = read(tmp_path / "topics.parquet", "topics")["query_columns"]
    np.testing.assert_allclose(list_matrix(made), list_matrix(topics["query_columns"]), atol=1e-7)


def test_the_encoder_searches_for_new_queries(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(run)
    rows = read("results/mine/fold1/scores/dense.parquet", "scores").to_pylist()
    topics = read("results/mine/topics.parquet", "topics")
    texts = dict(zip(topics["query_id"].to_pylist(), topics["text"].to_pylist(), strict=True))
    new, found = tmp_path / "new.txt", tmp_path / "dense.run"
    new.write_text("".join(f"{name}\t{texts[name]}\n" for name in dict.fromkeys(row["query_id"] for row in rows)))
    arguments = ["rank", "--models", "results/mine/fold1", "--method", "dense", "--output", str(found)]
    assert main([*arguments, "--queries", str(new), "--format", "trec"]) == 0
    fields = [line.split() for line in found.read_text().splitlines()]
    ranked = {(row["query_id"], row["doc_id"]): row["score"] for row in rows}
    assert {(query, document): pytest.approx(float(score)) for query, _, document, _, score, _ in fields} == ranked
    assert {line[-1] for line in fields} == {"qdrank-dense"}


def test_without_an_encoder_or_queries_the_command_says_what_lacks(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(run)
    dense = ["rank", "--models", "results/mine/fold1", "--method", "dense"]
    assert main([*dense, "--input", "features.txt"]) == 2
    assert "give --queries FILE --format trec" in capsys.readouterr().err
    other, new = tmp_path / "results", tmp_path / "new.txt"
    (other / "mine").mkdir(parents=True)
    config = yaml.safe_load((run / "results" / "config.yaml").read_text())
    config["own"]["mine"]["folder"] = str(run / "collection")
    (other / "config.yaml").write_text(yaml.safe_dump({**config, "encoder": None, "queries": {}, "text": {}}))
    new.write_text("q1\tlion\n")
    asked = ["--queries", str(new), "--data", str(other / "mine"), "--format", "trec"]
    assert main([*dense, *asked]) == 2
    assert "the run has no encoder" in capsys.readouterr().err
