"""Readers of TIME's blocks and of SciFact's table of abstracts, and both collections of the mirror."""

from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.collections.beir import read_scifact
from qdrank.datasets.collections.forms import read_collection
from qdrank.datasets.collections.smart import read_time
from qdrank.errors import InputError

TIME = {
    "TIME.ALL": "*TEXT 017 01/04/63 PAGE 020\r\n\r\nTHE ALLIES\r\n\r\nAFTER NASSAU\r\n*TEXT 018 X\nRUSSIA\n*STOP\nrest\n",
    "TIME.QUE": "*FIND     1\n\n KENNEDY .\n\nTWO LINES\n*FIND     2\nDIEM\n*STOP\n",
    "TIME.REL": "1  2 1\n\n2  1 3\n",
}
SCIFACT = {
    "corpus_train.csv": 'doc_id,title,abstract,structured\n7,One,"[\'First \\n\'\n ""It\'s second.""]",False\n8,"Two, too",[\'A.\'],True\n',
    "beir/queries.jsonl": '{"_id": "1", "text": "claim"}\n{"_id": "2", "text": "denial"}\n',
    "beir/train.tsv": "query-id\tcorpus-id\tscore\n1\t7\t1\n",
    "beir/test.tsv": "query-id\tcorpus-id\tscore\n2\t8\t1\n",
}


def written(folder: Path, files: dict[str, str], **changed: str) -> Path:
    for name, text in {**files, **changed}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return folder


def pairs(collection) -> list[tuple[str, str]]:
    qrels, names = collection.qrels, collection.documents.doc_id
    rows = zip(qrels.query.tolist(), qrels.document.tolist(), strict=True)
    return [(collection.queries[q].query_id, names[d]) for q, d in rows]


def test_documents_of_time_go_by_position(tmp_path):
    time = read_time(written(tmp_path, TIME))
    assert time.documents.fields == {"body": ["THE ALLIES AFTER NASSAU", "RUSSIA"]}
    assert [query.text for query in time.queries] == ["KENNEDY . TWO LINES", "DIEM"]
    assert pairs(time) == [("1", "1"), ("1", "2"), ("2", "1")]
    assert [note.count for note in time.notes if "unknown document" in note.kind] == [1]


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("TIME.ALL", "before\n*TEXT 1\n", "text before the first"),
        ("TIME.QUE", "*FIND 1\na\n*FIND 1\nb\n", "occurs twice"),
        ("TIME.QUE", "*FIND\na\n", "no number"),
    ],
)
def test_faults_of_time_are_named(tmp_path, file, text, problem):
    with pytest.raises(InputError, match=problem):
        read_time(written(tmp_path, TIME, **{file: text}))


def test_sentences_of_an_abstract_are_joined(tmp_path):
    scifact = read_scifact(written(tmp_path, SCIFACT))
    assert scifact.documents.fields == {"title": ["One", "Two, too"], "body": ["First It's second.", "A."]}
    assert [(query.query_id, query.split) for query in scifact.queries] == [("1", "train"), ("2", "test")]
    assert pairs(scifact) == [("1", "7"), ("2", "8")]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("doc_id,title,abstract\n7,One\n", "column is missing"),
        ("doc_id,title,abstract\n7,One,['A.']\n7,Two,['B.']\n", "occurs twice"),
        ("doc_id,title,abstract\n7,One,plain words\n", "not sentences in quotes"),
    ],
)
def test_faults_of_scifact_are_named(tmp_path, rows, problem):
    with pytest.raises(InputError, match=problem):
        read_scifact(written(tmp_path, SCIFACT, **{"corpus_train.csv": rows}))


piece = st.sampled_from(
    ["*TEXT 1", "*FIND 1", "*STOP", "word", "1 1", "doc_id,title,abstract", "['a' 'b']", '"', "7,t,x"]
)
content = st.lists(piece, max_size=8).map("\n".join) | st.text(max_size=20)


@given(texts=st.tuples(content, content, content))
def test_whatever_the_files_hold_only_input_errors_come(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("fuzz")
    for read, files in ((read_time, TIME), (read_scifact, SCIFACT)):
        with suppress(InputError):
            read(written(folder, files, **dict(zip(files, texts, strict=False))))


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("name", "documents", "queries", "grades", "unknown"),
    [
        ("time", 423, 83, {1: 321}, 3),
        ("scifact", 5183, 1109, {1: 1258}, 0),
        ("squad-dev", 2067, 10570, {1: 10570}, 0),
        ("worldtree2", 5642, 965, {0: 64, 1: 3210, 2: 2558}, 0),
    ],
)
def test_collections_have_their_published_counts(mirror, name, documents, queries, grades, unknown):
    found = read_collection(name, mirror / "raw" / name)
    assert (len(found.documents), len(found.queries)) == (documents, queries)
    assert Counter(found.qrels.grade.tolist()) == grades
    assert sum(note.count for note in found.notes if "unknown document" in note.kind) == unknown
