"""Readers of BEIR form and the checks that every collection passes."""

import gzip
import json
import lzma
from pathlib import Path

import pytest
from hypothesis import strategies as st

from qdrank.datasets.collections import COLLECTIONS
from qdrank.datasets.collections.beir import read_beir, read_queries
from qdrank.datasets.textfiles import text_lines as lines
from qdrank.errors import InputError

DOCUMENTS = [
    {"_id": "d2", "title": "Two", "text": "second text"},
    {"_id": "d1", "title": "One", "text": "first text"},
    {"_id": "d3", "title": "", "text": ""},
]
QUERIES = [{"_id": "q2", "text": "text"}, {"_id": "q1", "text": "first", "type": "topic"}]
TRAIN = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n"
TEST = "query-id\tcorpus-id\tscore\nq2\td2\t1\n"


def write(folder: Path, documents=DOCUMENTS, queries=QUERIES, train=TRAIN, test=TEST) -> Path:
    def jsonl(records) -> str:
        return "".join(record if isinstance(record, str) else json.dumps(record) + "\n" for record in records)

    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "corpus.jsonl").write_text(jsonl(documents), encoding="utf-8")
    (folder / "queries.jsonl").write_text(jsonl(queries), encoding="utf-8")
    (folder / "qrels/train.tsv").write_text(train)
    (folder / "qrels/test.tsv").write_text(test)
    return folder


def kinds(collection) -> dict[str, int]:
    return {note.kind: note.count for note in collection.notes}


def test_documents_queries_and_judgments_stand_in_the_order_of_their_ids(tmp_path):
    found = read_beir(write(tmp_path))
    assert found.documents.doc_id == ["d1", "d2", "d3"]
    assert found.documents.fields == {"title": ["One", "Two", ""], "body": ["first text", "second text", ""]}
    assert [(q.query_id, q.text, q.type, q.split) for q in found.queries] == [
        ("q1", "first", "topic", "train"),
        ("q2", "text", None, "test"),
    ]
    assert found.qrels.query.tolist() == [0, 0, 1]
    assert found.qrels.document.tolist() == [0, 1, 1]
    assert found.qrels.grade.tolist() == [2, 0, 1]
    assert kinds(found) == {"empty document, kept": 1}


def test_pages_of_the_web_have_urls_anchors_and_links(tmp_path):
    pages = [
        {
            "_id": "a",
            "text": "x",
            "title": "",
            "url": "http://s/",
            "anchor": ["home", "start"],
            "links": ["b", "b", "z"],
        },
        {"_id": "b", "text": "y", "title": "", "url": "http://s/b", "anchor": "page b", "links": ["a"]},
    ]
    found = read_beir(write(tmp_path, pages, train="q1\ta\t1\n", test="q2\tb\t1\n"))
    assert found.documents.fields["anchor"] == ["home start", "page b"]
    assert found.documents.fields["url"] == ["http://s/", "http://s/b"]
    assert found.documents.links.tolist() == [[0, 1], [1, 0]]
    assert kinds(found) == {"link to an unknown document, left out": 1}
    assert "title" not in found.documents.fields


@pytest.mark.parametrize(("suffix", "opener"), [(".xz", lzma.open), (".gz", gzip.open)])
def test_files_may_be_compressed(tmp_path, suffix, opener):
    write(tmp_path)
    for path in [*tmp_path.glob("*.jsonl"), *tmp_path.glob("qrels/*.tsv")]:
        with opener(path.with_name(path.name + suffix), "wb") as handle:
            handle.write(path.read_bytes())
        path.unlink()
    assert read_beir(tmp_path).documents.doc_id == ["d1", "d2", "d3"]


def test_what_is_odd_is_counted_and_said(tmp_path):
    documents = [*DOCUMENTS, {"_id": "d4", "text": "no title"}]
    queries = [*QUERIES, {"_id": "q3", "text": "  "}]
    train = TRAIN + "q1\tunknown\t1\nghost\td1\t1\nq1\td3\t-2\nq1\td1\t2\n"
    found = read_beir(write(tmp_path, documents, queries, train))
    assert kinds(found) == {
        "document without a title": 1,
        "empty document, kept": 1,
        "empty query, kept": 1,
        "grade below 0, read as 0": 1,
        "judgment of an unknown document, left out": 1,
        "judgment of an unknown query, left out": 1,
        "query without judgments, left out": 1,
    }
    assert "train.tsv: judgment of an unknown query, left out: 1 (ghost)" in map(str, found.notes)
    assert found.qrels.grade.min() == 0


@pytest.mark.parametrize(
    ("change", "problem", "line"),
    [
        ({"documents": [{"title": "t", "text": "x"}]}, "_id is missing", 1),
        ({"documents": [{"_id": "d", "title": 3, "text": "x"}]}, "title is not a text", 1),
        ({"documents": [{"_id": "d", "text": "x", "links": [1]}]}, "links is not a list of texts", 1),
        ({"documents": ["[1]\n"]}, "not a JSON object", 1),
        ({"queries": [*QUERIES, {"_id": "q1", "text": "again"}]}, "the id is in line 2 already", 3),
        ({"train": "q1\td1\n"}, "2 columns, not 3", 1),
        ({"train": "q1\td1\tx\n"}, "the grade is not a small whole number", 1),
        ({"train": "q1\td1\t999\n"}, "the grade is above 127", 1),
        ({"train": "a\tb\t1\n", "test": "c\td\t1\n"}, "no judgment names a known query and a known document", 1),
        ({"test": "q1\td2\t1\n"}, "query q1 is in the splits train and test", 1),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(tmp_path, change, problem, line):
    with pytest.raises(InputError) as caught:
        read_beir(write(tmp_path, **change))
    assert problem in caught.value.problem
    assert caught.value.line == line
    assert caught.value.file is not None


def test_missing_and_damaged_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="there are no judgments"):
        read_beir(tmp_path)
    write(tmp_path)
    (tmp_path / "corpus.jsonl").unlink()
    with pytest.raises(InputError, match="there is no such file"):
        read_beir(tmp_path)
    whole = lzma.compress(b"line\n" * 1000)
    (tmp_path / "cut.xz").write_bytes(whole[:-20])
    with pytest.raises(InputError, match="cut short"):
        list(lines(tmp_path / "cut.xz"))


def test_line_ends_and_byte_order_mark_are_no_text(tmp_path):
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfone\r\ntwo\x0bhalf\xe2\x80\xa8\nlast")
    assert list(lines(tmp_path / "f")) == [(1, "one"), (2, "two\x0bhalf\u2028"), (3, "last")]


def test_half_a_surrogate_pair_does_not_break_writing(tmp_path):
    found = read_beir(write(tmp_path, [*DOCUMENTS, '{"_id": "d4", "title": "", "text": "\\ud800 x"}\n']))
    "".join(found.documents.fields["body"]).encode("utf-8")


def test_the_forms_are_registered():
    assert all(callable(COLLECTIONS[name]) for name in COLLECTIONS)
    with pytest.raises(InputError, match="unknown collection form"):
        COLLECTIONS["bier"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)
records = st.dictionaries(st.sampled_from(["_id", "text", "title", "url", "anchor", "links", "type"]), values)


def test_lines_that_end_with_cr_alone_are_named(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_bytes(b'{"_id": "1", "text": "a"}\r{"_id": "2", "text": "b"}\r')
    with pytest.raises(InputError, match="CR alone"):
        list(read_queries(tmp_path / "queries.jsonl"))
