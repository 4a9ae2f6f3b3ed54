import bz2
import gzip
import lzma

import numpy as np
import pytest

from qdrank.datasets import letor_rows as letor
from qdrank.datasets.letor import document_names, load_letor, read_letor

DENSE = """\
2 qid:10 1:0.5 2:-1 3:1e-3 #docid = GX000-00 inc = 1 prob = 0.02
0 qid:10 1:0 2:.25 3:+7. #docid = GX000-01 inc = 1 prob = 0.02
1 qid:9 1:3 2:2 3:1 #docid = GX000-00 inc = 1 prob = 0.02
"""


def wrote(tmp_path, text, name="data.txt"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_dense_rows_with_docids(tmp_path):
    judged = load_letor(wrote(tmp_path, DENSE), part="S1")
    np.testing.assert_array_equal(judged.X, np.float32([[0.5, -1, 1e-3], [0, 0.25, 7], [3, 2, 1]]))
    assert judged.X.dtype == np.float32
    assert judged.y.tolist() == [2, 0, 1]
    assert judged.query_id.tolist() == ["10", "9"]
    assert judged.offsets.tolist() == [0, 2, 3]
    assert judged.doc_id.tolist() == ["GX000-00", "GX000-01", "GX000-00"]
    assert judged.part.tolist() == ["S1", "S1"]


@pytest.mark.parametrize(
    "text",
    [
        DENSE.replace("\n", "\r\n"),
        DENSE.rstrip("\n"),
        "\ufeff" + DENSE,
        "# a header\n\n" + DENSE.replace("\n", "\n  \r\n# between\n"),
        DENSE.replace(" ", "\t"),
        DENSE.replace(" ", "   ").replace("\n", "  \n"),
        DENSE.replace("2 qid", "+2.0 qid"),
    ],
    ids=["crlf", "no last line feed", "byte-order mark", "comments and empty lines", "tabs", "blanks", "label 2.0"],
)
def test_variants_of_the_same_text(tmp_path, text):
    expected, found = load_letor(wrote(tmp_path, DENSE, "expected")), load_letor(wrote(tmp_path, text))
    np.testing.assert_array_equal(found.X, expected.X)
    assert found.doc_id.tolist() == expected.doc_id.tolist()
    assert found.y.tolist() == expected.y.tolist()


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress])
@pytest.mark.parametrize("name", ["data.txt", "data.txt.gz"])
def test_compression_is_seen_from_the_content(tmp_path, compress, name):
    judged = load_letor(wrote(tmp_path, compress(DENSE.encode()), name))
    assert judged.doc_id.tolist() == ["GX000-00", "GX000-01", "GX000-00"]


def test_sparse_rows_without_docids(tmp_path):
    judged = load_letor(wrote(tmp_path, "0 qid:7 2:.5 5:1\n1 qid:7\n4 qid:abc 6:2\n"))
    np.testing.assert_array_equal(judged.X, np.float32([[0, 0.5, 0, 0, 1, 0], [0] * 6, [0, 0, 0, 0, 0, 2]]))
    assert judged.doc_id.tolist() == ["7-1", "7-2", "abc-1"]


def test_number_of_features_may_be_given(tmp_path):
    path = wrote(tmp_path, "0 qid:7 1:1 2:2\n1 qid:7 2:3\n")
    assert load_letor(path, n_features=4, sparse=True).X.tolist() == [[1, 2, 0, 0], [0, 3, 0, 0]]


def test_missing_values(tmp_path):
    path = wrote(tmp_path, "0 qid:7 1:NULL 2:3\n1 qid:7 1:1.79769313486232E308 2:-1.797693134862315e+308\n")
    np.testing.assert_array_equal(load_letor(path, missing=True).X, np.float32([[np.nan, 3], [np.nan, np.nan]]))


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("#docid = a b", "a"),
        ("# docid=a", "a"),
        ("#inc = 1 docid = a#b", "a#b"),
        ("#docid = käse", "käse"),
        ("# mydocid = a", "1-1"),
        ("# 7555 rambo", "7555"),
        ("#\t7555\trambo", "7555"),
        ("#1A", "1A"),
        ("# inc=1 prob", "1-1"),
        ("# 7555 docid = a", "a"),
        ("#docid a", "1-1"),
        ("#", "1-1"),
    ],
)
def test_docid_in_the_comment(tmp_path, comment, expected):
    assert load_letor(wrote(tmp_path, f"0 qid:1 1:0 {comment}\n")).doc_id.tolist() == [expected]


def test_a_comment_may_follow_without_blank(tmp_path):
    assert load_letor(wrote(tmp_path, "0 qid:1 1:5#docid = a\n")).X.tolist() == [[5]]


@pytest.mark.parametrize("block_bytes", [1, 50, 150])
def test_queries_cut_by_chunks(tmp_path, block_bytes, monkeypatch):
    monkeypatch.setattr("qdrank.datasets.textfiles._STEP", 40)
    rows = [f"{i % 3} qid:{i // 7} 1:{i} 2:1\n" for i in range(30)]
    chunks = list(read_letor(wrote(tmp_path, "".join(rows)), block_bytes=block_bytes))
    assert len(chunks) > 2
    assert any(c.continues for c in chunks)
    assert np.concatenate([c.X[:, 0] for c in chunks]).tolist() == list(range(30))
    documents = [name for c in chunks for name in c.doc_id.to_pylist()]
    assert documents == [f"{i // 7}-{i % 7 + 1}" for i in range(30)]
    joined = [name for c in chunks for name in c.query_id[c.continues :]]
    assert joined == ["0", "1", "2", "3", "4"]


def test_wide_rows_are_cut_into_small_matrices(tmp_path, monkeypatch):
    monkeypatch.setattr(letor, "_CHUNK_BYTES", 4 * 1000 * 3)
    path = wrote(tmp_path, "".join(f"0 qid:1 {i + 1}:1\n" for i in range(1, 10)) + "0 qid:1 1000:1\n")
    chunks = list(read_letor(path))
    assert [len(c.y) for c in chunks] == [3, 3, 3, 1]
    judged = load_letor(path)
    assert judged.n_queries == 1
    assert np.nonzero(judged.X)[1].tolist() == [*range(1, 10), 999]


def test_many_numbers_that_need_python(tmp_path):
    # Half way between two float32, and the next doubles on either side of it.
    tie = ["1.000000059604644775390625", "1.0000000596046449974353", "-1.0000000596046445533461"]
    rows = ["0 qid:1 " + " ".join(f"{i}:{text}" for i, text in enumerate(tie, 1)) + "\n"] * 3000
    X = load_letor(wrote(tmp_path, "".join(rows))).X
    above = np.nextafter(np.float32(1), np.float32(2))
    np.testing.assert_array_equal(X, np.tile(np.float32([1, above, -1]), (3000, 1)))


MIRRORED = {
    "letor4/MQ2008/S1.txt.xz": (2933, 157, 46, [2316, 427, 190]),
    "letor4/MQ2007-partial/S5.partial.txt.xz": (11585, 336, 46, [8372, 2440, 773]),
    "letor4/MQ2007-agg/A5.txt.xz": (13652, 336, 21, [9882, 2855, 915]),
    "ohsumed-letor/QueryLevelNorm/S5.txt.xz": (3383, 22, 45, [2794, 274, 315]),
    "ohsumed-letor/Feature-min/S2.txt.xz": (3076, 21, 45, [2162, 501, 413]),
    "ohsumed-letor/letor2/S3.txt.xz": (3573, 21, 25, [2139, 813, 621]),
}


@pytest.mark.mirror
@pytest.mark.parametrize("name", MIRRORED)
def test_published_counts(mirror, name):
    n_rows, n_queries, n_features, labels = MIRRORED[name]
    judged = load_letor(mirror / name, missing="agg" in name)
    assert judged.X.shape == (n_rows, n_features)
    assert judged.n_queries == n_queries
    assert np.bincount(judged.y).tolist() == labels
    assert "-" not in judged.doc_id[0] or judged.doc_id[0].startswith("GX")


@pytest.mark.mirror
def test_equals_a_plain_python_reader(mirror):
    judged = load_letor(mirror / "ohsumed-letor/letor2/S1.txt.xz")
    with lzma.open(mirror / "ohsumed-letor/letor2/S1.txt.xz", "rt") as file:
        rows = [line.partition("#") for line in file]
    X = np.float32([[float(token.split(":")[1]) for token in row.split()[2:]] for row, _, _ in rows])
    np.testing.assert_array_equal(judged.X, X)
    assert judged.doc_id.tolist() == [comment.split()[2] for _, _, comment in rows]
    assert judged.query.tolist() == [row.split()[1].removeprefix("qid:") for row, _, _ in rows]


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        (" #docid = GX1 inc = 1", "#docid = NAME"),
        (" # 7555\trambo", "first word"),
        ("", "QUERY-POSITION"),
        (" # inc = 1", "QUERY-POSITION"),
    ],
)
def test_it_is_said_where_names_of_documents_come_from(tmp_path, comment, said):
    path = wrote(tmp_path, f"# a header\n1 qid:1 1:5{comment}\n")
    assert said in document_names(path)
    made = load_letor(path).doc_id.tolist()
    assert (made == ["1-1"]) == (said == "QUERY-POSITION")
