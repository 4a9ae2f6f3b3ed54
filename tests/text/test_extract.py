import json
from pathlib import Path

import pytest

from qdrank.datasets.judged import load_judged
from qdrank.figures.text_notes import notes_table
from qdrank.store import read
from qdrank.text.extract import extract_features, text_settings
from qdrank.workflow.config import Text

WORDS = ["wing", "flow", "heat", "lift", "drag", "mach", "layer", "shock"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A collection in BEIR form: 24 documents, 10 queries, one of them with an unknown word."""
    (tmp_path / "qrels").mkdir()
    documents = [
        {"_id": f"d{i:02d}", "title": WORDS[i % 8], "text": f"{WORDS[i % 8]} {WORDS[(i * 3 + 1) % 8]} and more text"}
        for i in range(24)
    ]
    queries = [{"_id": f"q{i}", "text": f"{WORDS[i % 8]} {'zyx' if i == 9 else ''}"} for i in range(10)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(q) + "\n" for q in queries))
    rows = [f"q{i}\td{j:02d}\t{1 + (j > 11)}\n" for i in range(10) for j in (i % 8, i % 8 + 8)]
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    return tmp_path


def test_a_folder_in_beir_form_becomes_the_artifacts(folder: Path, tmp_path: Path) -> None:
    out = {name: tmp_path / "out" / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    notes = extract_features(out, {"like": "beir", "folder": folder}, seed=1, **Text().model_dump())
    judged = load_judged(out["judged"])
    assert judged.n_queries == 10
    assert judged.folds == ["fold1", "fold2", "fold3", "fold4", "fold5"]
    assert set(judged.y.tolist()) >= {0, 1}
    columns = read(out["columns"], "columns").to_pylist()
    assert [row["name"] for row in columns if row["reference"]] == ["first.BM25"]
    assert len(columns) == judged.X.shape[1]
    assert read(out["topics"], "topics").column("text").to_pylist()[0] == "wing "
    published = {"collection": 25, "queries": 10, "pairs": 7}
    table = notes_table(
        Text().model_dump(), notes, {"MAP of the first stage over all relevant documents": 0.25}, published
    ).to_pylist()
    assert table[:5] == [
        {"what": "documents read", "value": "24 (published: 25)"},
        {"what": "queries read", "value": "10 (published: 10)"},
        {"what": "queries with judgments", "value": "10"},
        {"what": "judgments read, of known queries and documents", "value": "20"},
        {"what": "candidates to rank, which tables call documents", "value": str(judged.n_documents)},
    ]
    assert table[5] == {"what": "MAP of the first stage over all relevant documents", "value": "0.2500"}
    assert [str(note) for note in notes][:2] == ["documents read: 24", "queries read: 10"]
    assert {"what": "setting stemmer", "value": "english"} in table
    assert any("unknown words" in row["what"] for row in table)


def test_settings_come_from_the_configuration() -> None:
    options = Text(
        stemmer="porter", k1=1.2, constants="ohsumed", folds="split", candidates=7, features=["letor25"]
    ).model_dump()
    settings = text_settings(options, seed=3)
    assert (settings.analyser.stemmer, settings.bm25.k1, settings.n_top, settings.folds) == ("porter", 1.2, 7, None)
    assert settings.constants.idf_over == "query"
    assert settings.feature_sets == ("letor25",)
