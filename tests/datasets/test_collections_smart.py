"""Readers of SMART form and of TREC-9's OHSUMED, and the real collections of the mirror."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from qdrank.datasets.collections.beir import read_nfcorpus
from qdrank.datasets.collections.smart import SmartForm, read_ohsumed, read_smart
from qdrank.errors import InputError

DOCUMENTS = """.I 1
.T
wing in a
slipstream .
.A
brenckman,m.
.W
wing in a slipstream .
  an experimental study of a wing
.introduction is no marker
.I 2
.T
flat plate
.A
ting
.W
shear flow past a plate
.I 3
.T
.A
.W
"""
QUERIES = ".I 001\r\n.W\r\nwing study\r\n.I 004\r\n.W\r\nplate flow\r\n"
CRANFIELD = SmartForm("all", "qry", "rel", judgments="cranfield", queries_by="position", title_in_text=True)
LISTED = SmartForm("all", "qry", "rel")


def write(folder: Path, rel: str, documents: str = DOCUMENTS, queries: str = QUERIES) -> Path:
    for name, text in (("all", documents), ("qry", queries), ("rel", rel)):
        (folder / name).write_bytes(text.encode())
    return folder


def judged(collection) -> dict[tuple[str, str], int]:
    qrels = collection.qrels
    return {
        (collection.queries[q].query_id, collection.documents.doc_id[d]): g
        for q, d, g in zip(qrels.query.tolist(), qrels.document.tolist(), qrels.grade.tolist(), strict=True)
    }


def test_cranfields_traps(tmp_path):
    """Grades run backwards, judgments count queries by position, the text opens with the title."""
    found = read_smart(write(tmp_path, "1 1 1\n1 2 4\n2 2 3 \n2 1 -1\n"), CRANFIELD)
    assert found.documents.fields["title"] == ["wing in a slipstream .", "flat plate", ""]
    assert found.documents.fields["body"][0] == "an experimental study of a wing .introduction is no marker"
    assert [query.query_id for query in found.queries] == ["1", "2"]
    assert judged(found) == {("1", "1"): 4, ("1", "2"): 1, ("2", "2"): 2}
    assert {note.kind: note.examples for note in found.notes} == {
        "code -1: drop": ("2 1",),
        "empty document, kept": ("3",),
        "text does not begin with the title": ("2",),
    }


def test_listed_pairs_are_relevant_and_queries_go_by_their_number(tmp_path):
    found = read_smart(write(tmp_path, "  1  2\t0\t0.000000\n4 1 0 0.0\n"), LISTED)
    assert judged(found) == {("1", "2"): 1, ("4", "1"): 1}


def test_trec_judgments(tmp_path):
    form = replace(LISTED, judgments="trec")
    assert judged(read_smart(write(tmp_path, "1 0 2 1\n4 0 1 0\n"), form)) == {("1", "2"): 1, ("4", "1"): 0}
    with pytest.raises(InputError, match="the second column is not 0"):
        read_smart(write(tmp_path, "1 2 0 0\n"), form)


@pytest.mark.parametrize(
    ("change", "problem", "line"),
    [
        ({"documents": "text\n"}, "text before the first .I", 1),
        ({"documents": ".I 1\ntext\n"}, "text before the first field", 2),
        ({"documents": ".I\n.W\nx\n"}, ".I is not followed by one number", 1),
        ({"documents": ".I 1\n.W\nx\n.I 1\n.W\ny\n"}, "record 1 is in line 1 already", 4),
        ({"documents": "\n"}, "no documents", None),
        ({"queries": ".I 1\n.T\nx\n"}, "the query has no .W", 1),
        ({"rel": "1 1 6\n"}, "the code is not 1 to 5 or -1", 1),
        ({"rel": "1 1\n"}, "2 columns, not 3", 1),
        ({"rel": "1 1 a\n"}, "the code is not a small whole number", 1),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(tmp_path, change, problem, line):
    with pytest.raises(InputError) as caught:
        read_smart(write(tmp_path, **({"rel": "1 1 1\n"} | change)), CRANFIELD)
    assert problem in caught.value.problem
    assert caught.value.line == line


def test_unknown_collections_are_refused(tmp_path):
    with pytest.raises(InputError, match="did you mean cranfield"):
        read_smart(tmp_path, "cranfeld")
    with pytest.raises(InputError, match="unknown judgments"):
        read_nfcorpus(tmp_path, qrels="1-2-3")


OHSUMED = """.I 1
.U
88000001
.S
Am J 8801; 1(1):1
.M
Human; Lipids/BL.
.T
Estrogen replacement and lipids.
.P
JOURNAL ARTICLE.
.W
Adverse effects of progesterone on lipids.
.A
Smith J.
.I 2
.U
88000002
.T
Title only.
.A
Doe J.
"""
TOPICS = """<top>
<num> Number: OHSU1
<title> 60 year old menopausal woman
<desc> Description:
Are there adverse effects
on lipids
</top>

<top>
<num> Number: OHSU2
<title> prolonged prothrombin time
<desc> Description:
anticoagulants
</top>
"""


def write_ohsumed(folder: Path, documents=OHSUMED, topics=TOPICS, qrels="OHSU1\t88000001\t2\nOHSU2\t0\t88000002\t1\n"):
    (folder / "ohsumed.88-91").write_text(documents)
    (folder / "query.ohsu.1-63").write_text(topics)
    (folder / "qrels.ohsu.88-91").write_text(qrels)
    return folder


def test_ohsumed(tmp_path):
    found = read_ohsumed(write_ohsumed(tmp_path))
    assert found.documents.doc_id == ["88000001", "88000002"]
    assert found.documents.fields["body"] == ["Adverse effects of progesterone on lipids.", ""]
    assert found.queries[0].text == "60 year old menopausal woman Are there adverse effects on lipids"
    assert judged(found) == {("OHSU1", "88000001"): 2, ("OHSU2", "88000002"): 1}
    assert [note.kind for note in found.notes] == ["document without .W"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"documents": ".I 1\n.T\nno id\n"}, "no MEDLINE id"),
        ({"documents": OHSUMED.replace("88000002", "88000001")}, "the MEDLINE id occurs twice"),
        ({"topics": "<top>\n<title> x\n<desc> y\n</top>\n"}, "the query has no number"),
        ({"topics": TOPICS + TOPICS}, "the number of the query is used in line 1 already"),
        ({"topics": "<top>\n<num> Number: A\n</top>\n"}, "query A has no <title>"),
        ({"topics": "stray\n"}, "text outside <top>"),
        ({"topics": "<top>\n<num> Number: A\n"}, "the last <top> is not closed"),
        ({"qrels": "OHSU1 88000001\n"}, "2 columns"),
    ],
)
def test_bad_ohsumed_is_refused(tmp_path, change, problem):
    with pytest.raises(InputError, match=problem):
        read_ohsumed(write_ohsumed(tmp_path, **change))


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("name", "documents", "queries", "grades"),
    [
        ("cranfield", 1400, 225, {4: 128, 3: 387, 2: 734, 1: 363}),
        ("cisi", 1460, 112, {1: 3114}),
        ("medline", 1033, 30, {1: 696}),
        ("adi", 82, 35, {1: 170}),
    ],
)
def test_smart_collections_have_their_published_counts(mirror, name, documents, queries, grades):
    found = read_smart(mirror / "raw" / name, name)
    assert (len(found.documents), len(found.queries)) == (documents, queries)
    assert Counter(found.qrels.grade.tolist()) == grades
    assert not any("unknown" in note.kind for note in found.notes)


@pytest.mark.mirror
def test_nfcorpus_has_its_published_counts(mirror):
    found = read_nfcorpus(mirror / "raw/nfcorpus")
    assert (len(found.documents), len(found.queries)) == (3633, 3244)
    assert Counter(found.qrels.grade.tolist()) == {3: 5376, 2: 128918, 1: 35465}
    assert Counter(query.split for query in found.queries) == {"train": 2594, "dev": 325, "test": 325}
    assert Counter(query.type for query in found.queries) == {"topic": 1815, "video": 1016, "page": 413}
    assert sum(note.count for note in found.notes if "missing in BEIR" in note.kind) == 7
    direct = read_nfcorpus(mirror / "raw/nfcorpus", qrels="direct")
    assert Counter(direct.qrels.grade.tolist()) == {3: 5376}


@pytest.mark.mirror
def test_ohsumed_queries_of_the_mirror_are_read(mirror, tmp_path):
    write_ohsumed(tmp_path, documents=OHSUMED.replace("88000001", "91226903"))
    for name in ("query.ohsu.1-63", "qrels.ohsu.88-91"):
        (tmp_path / name).unlink()
        (tmp_path / f"{name}.xz").symlink_to(mirror / "raw/ohsumed-trec9-queries-only" / f"{name}.xz")
    found = read_ohsumed(tmp_path)
    assert len(found.queries) == 63
    assert judged(found) == {("OHSU1", "91226903"): 1, ("OHSU61", "91226903"): 2}
    assert {note.kind: note.count for note in found.notes}["judgment of an unknown document, left out"] == 3203
