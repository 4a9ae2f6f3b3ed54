from pathlib import Path

import numpy as np
import pytest

from qdrank.datasets.collections.model import Document, Judgment, Notebook, Query, assemble
from qdrank.datasets.judged import load_judged
from qdrank.errors import InputError
from qdrank.store import read
from qdrank.store.schemas import conform
from qdrank.text import rank_features
from qdrank.text.extract import TextSettings, judged_text, write_judged_text
from qdrank.text.index import build_index
from qdrank.text.rank_features import column_names, letor46_columns

HERE = Path("made.txt")


def made(*, title: bool = True, web: bool = False, backwards: bool = False):
    rng = np.random.default_rng(5)
    words = np.array([f"w{i}" for i in range(30)])

    def text(n: int) -> str:
        return " ".join(rng.choice(words, size=n, p=np.arange(30, 0, -1) / 465))

    documents = []
    for i in range(60):
        fields = {"title": text(2 + i % 2) if title else "", "body": text(int(rng.integers(0, 20)))}
        if web:
            fields |= {"anchor": text(1 + i % 2), "url": "http://" + text(1 + i % 3).replace(" ", "/")}
        documents.append(Document(f"d{i:02}", fields, tuple(f"d{j:02}" for j in rng.integers(0, 60, 3)) if web else ()))
    queries = [Query(f"q{i}", text(2), "topic" if i % 2 else None) for i in range(10)]
    queries += [Query("q-empty", ""), Query("q-ghost", "ghost"), Query("q-unjudged", "w1")]
    judgments = [
        Judgment(f"q{i}", f"d{j:02}", int(rng.integers(0, 3)), HERE, 1) for i in range(10) for j in range(0, 60, 7)
    ]
    judgments += [Judgment(name, "d00", 1, HERE, 1) for name in ("q-empty", "q-ghost")]
    turn = reversed if backwards else list
    return assemble(turn(documents), turn(queries), judgments, Notebook(), HERE)


def values(table) -> np.ndarray:
    return table["features"].combine_chunks().flatten().to_numpy().reshape(table.num_rows, -1)


def test_the_tables_have_the_registered_shapes():
    found = judged_text(made(), TextSettings(n_top=20, lsa=3))
    for name, table in (("judged", found.judged), ("columns", found.columns), ("topics", found.topics)):
        assert conform(table, name).num_rows == table.num_rows
    assert np.isfinite(values(found.judged)).all()
    assert set(found.judged["part"].to_pylist()) <= {"S1", "S2", "S3", "S4", "S5"}
    assert found.topics["query_id"].to_pylist() == sorted(set(found.judged["query_id"].to_pylist()))
    assert found.topics["type"].to_pylist() == [None, "topic"] * 5
    assert {len(own) for own in found.topics["query_columns"].to_pylist()} == {len(found.topic_columns)} == {11}
    assert found.columns.filter(found.columns["reference"])["name"].to_pylist() == ["first.BM25"]


def test_the_artifacts_are_written_and_read_back(tmp_path):
    out = {name: tmp_path / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    notes = write_judged_text(out, made(), TextSettings(n_top=5))
    assert [note.kind for note in notes] == [note.kind for note in judged_text(made()).notes]
    judged = load_judged(out["judged"])
    assert judged.X.shape[1] == read(out["columns"], "columns").num_rows == 40
    assert read(out["topics"], "topics")["query_id"].to_pylist() == judged.query_id.tolist()


def test_queries_that_take_no_part_are_counted():
    kinds = {note.kind: note.examples for note in judged_text(made()).notes}
    assert kinds["query without judgments, left out"] == ("q-unjudged",)
    assert kinds["query without a candidate (no word of it occurs), left out"] == ("q-empty", "q-ghost")
    assert "q-ghost" in kinds["query with unknown words"]
    both = judged_text(made(), TextSettings(judged=True))
    assert "q-ghost" in both.judged["query_id"].to_pylist()


def test_neither_the_order_of_the_documents_nor_the_blocks_change_a_bit(monkeypatch):
    one = judged_text(made(), TextSettings(n_top=20, lsa=2))
    monkeypatch.setattr(rank_features, "_BLOCK", 7)
    other = judged_text(made(backwards=True), TextSettings(n_top=20, lsa=2))
    assert one.judged.equals(other.judged)
    assert one.topics.equals(other.topics)


def test_hois_columns_are_25_and_a_field_without_text_gives_none():
    full, plain = (build_index(made(title=title).documents) for title in (True, False))
    assert column_names(full, ["letor25"]) == rank_features.letor25_columns()
    assert len(column_names(full, ["letor25"])) == 25
    assert len(column_names(full, ["letor25", "extra", "letor25"])) == 39
    assert [name for name in column_names(plain, ["letor25", "extra"]) if name.startswith("title")] == []
    with pytest.raises(InputError, match="did you mean letor46"):
        column_names(full, ["letor4"])


def test_letors_layout_has_its_numbers_and_the_web_fills_it():
    names = letor46_columns()
    numbered = {
        1: "body.TF",
        10: "whole.IDF",
        13: "title.TFIDF",
        21: "body.BM25",
        23: "body.LMIR.DIR",
        25: "anchor.BM25",
    }
    numbered |= {37: "whole.BM25", 40: "whole.LMIR.JM", 41: "link.pagerank", 44: "url.slashes", 46: "url.children"}
    assert len(names) == 46
    assert {number: names[number - 1] for number in numbered} == numbered
    found = judged_text(made(web=True), TextSettings(feature_sets=("letor46",)))
    assert found.columns["name"].to_pylist() == names
    assert found.columns["reference"].to_pylist().index(True) == 36
    spread = values(found.judged).std(axis=0)
    assert (spread > 0).all()
    wide = judged_text(made(web=True), TextSettings(feature_sets=("letor46",), searched="whole"))
    assert wide.judged.num_rows > found.judged.num_rows
    with pytest.raises(InputError, match="has no field 'whole'"):
        judged_text(made(), TextSettings(searched="whole"))


def test_a_plain_collection_keeps_letors_layout_with_zeros():
    found = judged_text(made(), TextSettings(feature_sets=("letor25", "letor46")))
    names = found.columns["name"].to_pylist()
    assert not values(found.judged)[:, names.index("anchor.BM25")].any()
    assert values(found.judged)[:, names.index("body.BM25")].any()
    with pytest.raises(InputError, match="no column ranks like BM25"):
        judged_text(made(), TextSettings(feature_sets=()))


def test_settings_are_checked():
    for wrong in ({"n_top": 0}, {"lsa": -1}):
        with pytest.raises(InputError, match="bad settings"):
            TextSettings(**wrong)
