"""A user's own collections in SMART and TREC form, from a configuration to the collection that is read."""

import gzip
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.collections.forms import read_collection
from qdrank.datasets.collections.model import Collection, Notebook
from qdrank.datasets.collections.trec import read_documents, read_topics
from qdrank.errors import InputError
from qdrank.text.extract import extract_features
from qdrank.workflow.config_files import resolve
from qdrank.workflow.plan import plan

# As CACM writes them: records with many fields, some without a text, judgments with leading zeros.
CACM_DOCUMENTS = """.I 1
.T
Preliminary Report-International Algebraic Language
.B
CACM December, 1958
.A
Perlis, A. J.
Samelson,K.
.N
CA581203 JB March 22, 1978  8:28 PM
.X
100\t5\t1
123\t5\t1
.I 2
.T
Extraction of Roots by Repeated Subtractions for Digital Computers
.W
Roots are extracted by
subtractions.
.B
CACM December, 1958
"""
CACM_QUERIES = """.I 1
.W
 What articles exist which deal with TSS (Time Sharing System)?
.N
 1. Richard Alexander, Comp Serv, Langmuir Lab (TSS)

.I 2
.W
 Extraction of roots
.A
Someone
.N
 2. Somebody
"""
CACM_QRELS = "01 1  0 0\n02 2  0 0\n02 1  0 0\n"

TREC_DOCUMENTS = """<DOC>
<DOCNO> FT911-1 </DOCNO>
<PROFILE>_AN-BEOA7AAIFT</PROFILE>
<DATE>910514
</DATE>
<HEADLINE>
FT  14 MAY 91 / Jigs &amp; fixtures
</HEADLINE>
<TEXT>
Contigas, the <F P=100> German</F> gas group, said.
</TEXT>
<TEXT>More of it.</TEXT>
</DOC>
<DOC><DOCNO>FT911-2</DOCNO>
compact memories have flexible capacities
</DOC>
"""
# With labels and without closing tags, and as Vaswani's are written.
TOPICS = """<top>

<num> Number: 051
<title> Topic: Airbus Subsidies

<desc> Description:
Document will discuss government assistance.

<narr> Narrative:
A relevant document will cite it.

</top>
<top>
<num>52</num><title>
COMPACT MEMORIES
</title><desc>of any kind</desc>
</top>
"""
QRELS = "51 0 FT911-1 1\n052 0 FT911-2 2\n52 0 FT911-1 0\n"


def read(folder: Path, kind: str, files: dict[str, Any], **options: Any) -> Collection:
    """Read a collection as a run would: by way of the configuration."""
    entry = {"kind": kind, **files, **options}
    found = plan(resolve({"datasets": ["mine"], "own": {"mine": entry}}), [folder]).datasets["mine"]
    assert found.kind == "text"
    return read_collection(**found.options)


def judged(collection: Collection) -> dict[tuple[str, str], int]:
    qrels = collection.qrels
    return {
        (collection.queries[q].query_id, collection.documents.doc_id[d]): g
        for q, d, g in zip(qrels.query.tolist(), qrels.document.tolist(), qrels.grade.tolist(), strict=True)
    }


def smart(folder: Path, qrels: str = CACM_QRELS, **options: Any) -> Collection:
    for name, text in (("cacm.all", CACM_DOCUMENTS), ("query.text", CACM_QUERIES), ("qrels.text", qrels)):
        (folder / name).write_text(text)
    files = {"documents": "cacm.all", "queries": "query.text", "qrels": "qrels.text"}
    return read(folder, "smart", files | options)


def test_a_collection_like_cacm(tmp_path: Path) -> None:
    found = smart(tmp_path)
    assert found.documents.doc_id == ["1", "2"]
    assert found.documents.fields["body"] == ["", "Roots are extracted by subtractions."]
    assert found.documents.fields["title"][0].startswith("Preliminary Report")
    assert [query.text for query in found.queries][1] == "Extraction of roots"
    assert judged(found) == {("1", "1"): 1, ("2", "2"): 1, ("2", "1"): 1}


def test_the_empty_last_record_of_cacms_queries_is_dropped_and_noted(tmp_path: Path) -> None:
    smart(tmp_path)
    files = {"documents": "cacm.all", "queries": "query.text", "qrels": "qrels.text"}
    for end in (".I 0\n", ".I 0", ".I 00 \n\n"):
        (tmp_path / "query.text").write_text(CACM_QUERIES + end)
        found = read(tmp_path, "smart", files)
        assert [query.query_id for query in found.queries] == ["1", "2"]
        line = CACM_QUERIES.count("\n") + 1
        assert f"query.text: empty last record .I 0, dropped: 1 (line {line})" in map(str, found.notes)


@pytest.mark.parametrize(
    ("qrels", "options", "expected"),
    [
        ("1 2\n2 1\n", {}, {("1", "2"): 1, ("2", "1"): 1}),
        ("1 2 0 0.0\n2 1 0 0.0 x\n", {}, {("1", "2"): 1, ("2", "1"): 1}),
        ("1 0 2 3\n2 0 1 0\n", {}, {("1", "2"): 3, ("2", "1"): 0}),
        ("1 1 2\n\n2  2\n", {}, {("1", "1"): 1, ("1", "2"): 1, ("2", "2"): 1}),  # as TIME's
        ("1 1 2 -1\n2 2 -1\n", {"judgments": "rows"}, {("1", "1"): 1, ("1", "2"): 1, ("2", "2"): 1}),
        ("1 1 2\n2 2 0\n", {"judgments": "graded"}, {("1", "1"): 2, ("2", "2"): 0}),
        ("1 1 2\n2 2 5\n", {"judgments": "cranfield"}, {("1", "1"): 3, ("2", "2"): 0}),
    ],
)
def test_forms_of_judgments(tmp_path: Path, qrels: str, options: dict[str, str], expected: dict[Any, int]) -> None:
    assert judged(smart(tmp_path, qrels, **options)) == expected


def test_too_few_judged_queries_name_the_file_of_the_judgments(tmp_path: Path) -> None:
    smart(tmp_path)
    entry = {"kind": "smart", "documents": "cacm.all", "queries": "query.text", "qrels": "qrels.text"}
    chosen = resolve({"datasets": ["mine"], "own": {"mine": entry}})
    source = plan(chosen, [tmp_path]).datasets["mine"].options
    paths = {name: tmp_path / name for name in ("judged", "columns", "topics")}
    with pytest.raises(InputError, match=r"qrels\.text: 2 judged queries cannot be put into 5 parts"):
        extract_features(paths, source, seed=0, **chosen.text.model_dump())


def test_a_smart_collection_in_latin_1(tmp_path: Path) -> None:
    """The message names the key, and the key is there."""
    (tmp_path / "all.smart").write_bytes(".I 1\n.T\nCafé\n.W\nDéjà vu\n".encode("latin-1"))
    (tmp_path / "asked.smart").write_bytes(".I 1\n.W\ncafé\n".encode("latin-1"))
    (tmp_path / "judged.smart").write_text("1 1 0 0\n")
    form = {"documents": "all.smart", "queries": "asked.smart", "qrels": "judged.smart"}
    with pytest.raises(InputError, match="may also name their encoding, as in encoding: latin-1"):
        read(tmp_path, "smart", form)
    found = read(tmp_path, "smart", form | {"encoding": "latin-1"})
    assert found.documents.fields == {"title": ["Café"], "body": ["Déjà vu"]}
    assert [query.text for query in found.queries] == ["café"]


def test_documents_in_several_compressed_files(tmp_path: Path) -> None:
    first, second = CACM_DOCUMENTS.split(".I 2")
    with gzip.open(tmp_path / "a.gz", "wt") as file:
        file.write(first)
    (tmp_path / "b").write_text(".I 2" + second)
    assert smart(tmp_path, documents=["a.gz", "b"]).documents.doc_id == ["1", "2"]
    (tmp_path / "b").write_text(first)
    with pytest.raises(InputError, match="record 1 "):
        smart(tmp_path, documents=["a.gz", "b"])


def trec(folder: Path, **options: Any) -> Collection:
    with gzip.open(folder / "docs.gz", "wt") as file:
        file.write(TREC_DOCUMENTS)
    (folder / "topics").write_text(TOPICS)
    (folder / "qrels").write_text(QRELS)
    return read(folder, "trec", {"documents": "docs.gz", "topics": "topics", "qrels": "qrels"} | options)


def test_a_collection_in_trec_form(tmp_path: Path) -> None:
    found = trec(tmp_path)
    assert found.documents.doc_id == ["FT911-1", "FT911-2"]
    assert found.documents.fields["title"] == ["FT 14 MAY 91 / Jigs & fixtures", ""]
    assert found.documents.fields["body"] == [
        "Contigas, the German gas group, said. More of it.",
        "compact memories have flexible capacities",
    ]
    assert {query.query_id: query.text for query in found.queries} == {
        "51": "Airbus Subsidies",
        "52": "COMPACT MEMORIES",
    }
    assert judged(found) == {("51", "FT911-1"): 1, ("52", "FT911-1"): 0, ("52", "FT911-2"): 2}


def test_parts_of_topics_and_splits(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("51 0 FT911-1 1\n")
    (tmp_path / "two").write_text("52 0 FT911-2 1\n")
    found = trec(tmp_path, topic_fields=["title", "desc"], qrels={"train": "one", "test": "two"})
    assert found.queries[0].text == "Airbus Subsidies Document will discuss government assistance."
    assert [query.split for query in found.queries] == ["train", "test"]


def test_tags_with_attributes_in_lower_case_over_several_lines(tmp_path: Path) -> None:
    docs = """<doc id="7">
<docno>
X-1
</docno>
<!-- PJG FTAG 4700 -->
<headline lang=en>
Jigs
</headline>
<text lang="en">
gas <!-- PJG
ITAG --> group
</text>
</doc >
<DOC><DOCNO>X-2</DOCNO> plain <!-- aside --> words </DOC>
"""
    topics = """<top lang='en'>
<num type="id">
  Number: 013
</num>
<title lang=en>
what is a jig
</title>
<desc>Description:
none
</desc>
</top>
"""
    (tmp_path / "low").write_bytes(docs.replace("\n", "\r\n").encode())
    (tmp_path / "asked").write_bytes(topics.replace("\n", "\r\n").encode())
    (tmp_path / "judged").write_text("13\t0\tX-1\t1\n")
    found = trec(tmp_path, documents="low", topics="asked", qrels="judged")
    assert found.documents.doc_id == ["X-1", "X-2"]
    assert [found.documents.fields[name] for name in ("title", "body")] == [["Jigs", ""], ["gas group", "plain words"]]
    assert [(query.query_id, query.text) for query in found.queries] == [("13", "what is a jig")]


def test_topics_of_the_first_years(tmp_path: Path) -> None:
    """Their fields have other neighbours, which are no part of them."""
    (tmp_path / "topics").write_text(
        "<top>\n<head> Tipster Topic Description\n<num> Number: 051\n<dom> Domain: International Economics\n"
        "<title> Topic: Airbus Subsidies\n<desc> Description:\nOf a dispute.\n<smry> Summary:\nOf it.\n"
        "<narr> Narrative:\nA relevant document.\n<con> Concept(s):\n1. Airbus\n<fac> Factor(s):\n<def> Definition(s):\n</top>\n"
    )
    (query,) = read_topics(tmp_path / "topics", ("title", "desc", "narr"))
    assert query.query_id == "51"
    assert query.text == "Airbus Subsidies Of a dispute. A relevant document."


def test_a_folder_of_documents(tmp_path: Path) -> None:
    (tmp_path / "disk" / "ft").mkdir(parents=True)
    for i, block in enumerate(TREC_DOCUMENTS.split("<DOC>")[1:]):
        (tmp_path / "disk" / "ft" / f"ft{i}").write_text("<DOC>" + block)
    assert trec(tmp_path, documents="disk").documents.doc_id == ["FT911-1", "FT911-2"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"topics": "nowhere"}, r"own\.mine\.topics: no such file"),
        ({"documents": "nowhere"}, r"own\.mine\.documents: no such file or folder"),
        ({"qrels": {"train": "nowhere"}}, r"own\.mine\.qrels\.train: no such file"),
        ({"documents": ["docs.gz", "nowhere"]}, r"own\.mine\.documents\.2: no such file"),
        ({"topic_fields": ["narr"]}, "query 52 has no <narr>"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, files: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        trec(tmp_path, **files)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("words\n<DOC></DOC>", "line 1: text outside <DOC>"),
        ("<DOC>\n<DOCNO></DOCNO>\n</DOC>", "line 1: the document has no id"),
        ("<DOC>\n<DOCNO>1</DOCNO>", "the last <DOC> is not closed"),
        (
            "<DOC>\n<DOCNO>1</DOCNO>\nwords\n<DOC>\n<DOCNO>2</DOCNO>\n</DOC>",
            r"line 4: a second <DOC> before the <DOC> of line 1 is closed\n.*\n  fix:   add </DOC> above",
        ),
        ("<DOC><DOCNO>1</DOCNO> words <DOC><DOCNO>2</DOCNO></DOC>", "line 1: a second <DOC> before"),
        (
            "<DOC>\n<DOCNO>1</DOCNO>\nwords\n<DOCNO>2</DOCNO>\n</DOC>",
            r"line 4: a second <DOCNO> in the document that begins in line 1\n  found: <DOCNO>2</DOCNO>\n  fix:   add </DOC>",
        ),
    ],
)
def test_broken_documents_are_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "docs").write_text(text)
    with pytest.raises(InputError, match=words):
        list(read_documents(tmp_path / "docs", Notebook()))


@given(st.text(alphabet="<>/DOCtopnumTEXT 1\n&;", max_size=80))
def test_any_text_is_read_or_refused_in_words(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_text(text)
    with suppress(InputError):
        list(read_documents(path, Notebook()))
    with suppress(InputError):
        list(read_topics(path))
