"""Vectors of a collection: in blocks and shards, of the same bytes however they are divided; the run made of them."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")

from tests.text.tiny_encoder import write_encoder

from qdrank.cli import main
from qdrank.datasets.collections.forms import read_collection
from qdrank.datasets.collections.model import Collection, Documents, JudgedPairs, Query
from qdrank.datasets.runs.reading import read_runs
from qdrank.datasets.sources import load, load_encoders
from qdrank.errors import InputError
from qdrank.text import encoding
from qdrank.text.encoder import Encoder, encoder_form
from qdrank.text.encoding import (
    encoded,
    gather_vectors,
    kept_vectors,
    load_vectors,
    text_vectors,
    texts_of,
    write_shard,
)
from qdrank.text.first_runs import first_runs
from qdrank.workflow.provenance import code_modules

TITLES = ["zebra", "", "piano", "", "river", "tiger"]
BODIES = ["lion tiger", "lion lion", "violin", "cello cello", "", "zebra river"]
IDS = [f"d{i}" for i in range(6)]
QUERIES = [Query("q1", "zebra"), Query("unjudged", "piano"), Query("q2", "violin cello")]
COLLECTION = Collection(
    Documents(IDS, {"title": TITLES, "body": BODIES}),
    QUERIES,
    JudgedPairs(np.array([0, 2]), np.array([0, 3]), np.array([1, 2])),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_encoder(tmp_path / "encoder")


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """The collection as a folder in BEIR's form."""
    place = tmp_path / "beir"
    (place / "qrels").mkdir(parents=True)
    documents = [{"_id": i, "title": t, "text": b} for i, t, b in zip(IDS, TITLES, BODIES, strict=True)]
    queries = [{"_id": one.query_id, "text": one.text} for one in QUERIES]
    for name, rows in (("corpus", documents), ("queries", queries)):
        (place / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td0\t1\nq2\td3\t2\n")
    return place


def test_texts_are_judged_queries_whole_documents_and_titles():
    texts = texts_of(COLLECTION)
    assert [one.id for one in texts if one.kind == "query"] == ["q1", "q2"]
    assert [one.text for one in texts if one.kind == "document"][:3] == [
        "zebra lion tiger",
        "lion lion",
        "piano violin",
    ]
    assert [one[1:] for one in texts if one.kind == "title"][:2] == [("d0", "zebra"), ("d2", "piano")]


def test_vectors_are_the_encoders_with_the_prompt_of_their_kind(folder):
    encoder = Encoder(encoder_form(folder))
    made = text_vectors([encoded(encoder, texts_of(COLLECTION))])
    np.testing.assert_array_equal(made.of_queries(["q2"]), encoder.encode(["violin cello"], "queries"))
    np.testing.assert_array_equal(made.documents[[0]], encoder.encode(["zebra lion tiger"], "documents"))
    np.testing.assert_array_equal(made.titles[[4]], encoder.encode(["river"], "documents"))
    assert not made.titles[1].any()
    with pytest.raises(InputError, match="unjudged"):
        made.of_queries(["unjudged"])


def test_kept_vectors_are_made_once(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "BLOCK", 3)
    encoder, told = Encoder(encoder_form(folder)), []
    first = kept_vectors(encoder, COLLECTION, tmp_path / "kept", told.append)
    assert [line.partition(",")[0] for line in told] == [f"encoded {i} of 3 blocks of texts" for i in (1, 2, 3)]
    (lost, *_) = (tmp_path / "kept").iterdir()
    lost.unlink()
    again = kept_vectors(encoder, COLLECTION, tmp_path / "kept", told.append)
    assert len(told) == 4, "only the lost block is made again"
    assert again.documents.tobytes() == first.documents.tobytes()
    other = Encoder(encoder_form(folder, queries="lion "))
    kept_vectors(other, COLLECTION, tmp_path / "kept", told.append)
    assert len(told) == 7, "another prompt is another encoder"


def test_a_job_reads_what_a_command_left_and_leaves_nothing(folder, beir, tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "kept_folder", lambda: tmp_path / "kept")
    given = {"source": {"like": "beir", "folder": str(beir)}, "encoder": {"folder": folder}, "log": lambda *_: None}
    write_shard(tmp_path / "made.parquet", (0, 1), **given)
    assert not (tmp_path / "kept").exists()
    encoder = Encoder(encoder_form(folder))
    kept_vectors(encoder, read_collection("beir", beir), tmp_path / "kept")
    asked = []
    monkeypatch.setattr(encoding, "encoded", lambda encoder, texts: asked.append(texts) or encoded(encoder, texts))
    write_shard(tmp_path / "read.parquet", (0, 1), **given)
    assert (tmp_path / "read.parquet").read_bytes() == (tmp_path / "made.parquet").read_bytes()
    assert {text.kind for texts in asked for text in texts} == {"title"}


def test_texts_are_not_encoded_again_where_features_change():
    covered = code_modules({"call": "qdrank.text.encoding:write_shard"})
    assert "qdrank.text.encoder" in covered
    assert not {"qdrank.text.rank_features", "qdrank.text.encoder_search", "qdrank.text.analyser"} & covered


def test_shards_change_no_byte(folder, beir, tmp_path, monkeypatch):
    monkeypatch.setattr(encoding, "BLOCK", 3)
    source, whole = {"like": "beir", "folder": str(beir)}, []
    for total in (1, 2, 7):
        paths = [tmp_path / f"{i}-of-{total}.parquet" for i in range(total)]
        for number, path in enumerate(paths):
            write_shard(path, (number, total), source=source, encoder={"folder": folder}, log=lambda *_: None)
        gather_vectors({"shards": list(map(str, paths))}, {"vectors": str(tmp_path / "vectors.parquet")})
        whole.append((tmp_path / "vectors.parquet").read_bytes())
    assert whole[0] == whole[1] == whole[2]
    read = load_vectors(tmp_path / "vectors.parquet")
    assert read.doc_id.tolist() == IDS
    encoder = Encoder(encoder_form(folder))
    np.testing.assert_allclose(
        read.documents,
        encoder.encode(
            ["zebra lion tiger", *BODIES[1:2], "piano violin", "cello cello", "river", "tiger zebra river"], "documents"
        ),
        atol=1e-6,
    )


def test_the_dense_run_ranks_by_inner_products(folder):
    made = text_vectors([encoded(Encoder(encoder_form(folder)), texts_of(COLLECTION))])
    (run,) = first_runs(COLLECTION, ["dense"], 4, made)
    scores = made.queries.astype(float) @ made.documents.T.astype(float)
    expected = [
        (query, IDS[d]) for q, query in enumerate(["q1", "q2"]) for d in np.argsort(-scores[q], kind="stable")[:4]
    ]
    assert list(zip(run.query, run.doc, strict=True)) == expected
    np.testing.assert_allclose(run.score, np.sort(scores, axis=1)[:, :-5:-1].ravel(), atol=1e-12)


def test_the_command_writes_it_beside_the_others(folder, beir, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main(["retrieve", str(beir), "--output", str(tmp_path / "out"), "--encoder", str(folder)]) == 0
    assert "encoded 2 of 2 blocks" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "out/runs").iterdir()) == [
        f"{name}.run.gz" for name in ("bm25", "dense", "lsa", "rm3")
    ]
    (run,) = read_runs(tmp_path / "out/runs/dense.run.gz")
    assert set(run.query) == {"q1", "q2"}
    prompts = f"{{folder: '{folder}', queries: 'lion '}}"
    arguments = ["retrieve", str(beir), "--output", str(tmp_path / "prompt"), "--method", "dense", "--encoder", prompts]
    assert main(arguments) == 0
    (other,) = read_runs(tmp_path / "prompt/runs/dense.run.gz")
    assert other.score.tolist() != run.score.tolist()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "the method dense needs an encoder"),
        (["--encoder", "miniln"], "did you mean minilm?"),
        (["--encoder", "{folder: x, query: y}"], "folder, queries and documents"),
    ],
)
def test_a_mistake_in_the_encoder_is_named(beir, tmp_path, capsys, given, words):
    assert main(["retrieve", str(beir), "--output", str(tmp_path), "--method", "dense", *given]) != 0
    assert words in capsys.readouterr().err


def test_registered_encoders_have_digests_and_names_of_their_own():
    encoders = load_encoders()
    assert not {*encoders} & {*load()}
    assert all(file.has_sha256 for one in encoders.values() for file in one.files)


@pytest.mark.mirror
def test_a_registered_encoder_is_in_the_mirror_as_known(mirror, tmp_path):
    from qdrank.datasets.fetching.fetch import fetch_all

    fetch_all(load_encoders()["minilm"], tmp_path, mirror=mirror)
    assert encoder_form(tmp_path).longest == 256
