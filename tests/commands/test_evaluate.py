import argparse
import bz2
import csv
import gzip
import io
import json
import lzma

import numpy as np
import pytest

from qdrank.commands.evaluate import add_arguments, run
from qdrank.errors import InputError
from qdrank.evaluation.run_files import measured_files, read_labels, read_scores
from qdrank.measures import CONVENTIONS
from qdrank.measures.compute import measure

FEATURES = """\
2 qid:10 1:0.1 2:0.5 #docid = A
0 qid:10 1:0.9 2:0.1 #docid = B
1 qid:10 1:0.4 2:0.2 #docid = C
0 qid:11 1:0.3 2:0.3 #docid = D
0 qid:11 1:0.2 2:0.3 #docid = E
"""
SCORES = "0.1\n0.9\n0.4\n0.3\n0.3\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "test.txt").write_text(FEATURES)
    (tmp_path / "scores.txt").write_text(SCORES)
    return [str(tmp_path / "test.txt"), str(tmp_path / "scores.txt")]


def evaluate(features, scores, names=CONVENTIONS["letor4"]):
    (run,) = measured_files(features, [scores], names)[1]
    return run


def printed(capsys, *arguments):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert run(parser.parse_args(list(arguments))) == 0
    return capsys.readouterr().out


def test_values_are_those_of_the_measures(files):
    evaluation = evaluate(*files)
    expected = measure(CONVENTIONS["letor4"], [2, 0, 1, 0, 0], [0.1, 0.9, 0.4, 0.3, 0.3], [0, 3, 5])
    assert evaluation.query_id == ["10", "11"]
    assert evaluation.n_documents == 5
    for name, values in expected.items():
        np.testing.assert_array_equal(evaluation.values[name], values)
        assert evaluation.means[name] == pytest.approx(values.mean())


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress, bytes])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_compressed_files_and_line_ends(tmp_path, compress, ends):
    (tmp_path / "f").write_bytes(compress(FEATURES.replace("\n", ends).encode()))
    (tmp_path / "s").write_bytes(compress(SCORES.replace("\n", ends).encode()))
    assert evaluate(tmp_path / "f", tmp_path / "s", ["ap"]).means["ap"] == pytest.approx(7 / 24)


def test_scores_may_be_the_last_column_and_end_in_blank_lines(tmp_path):
    (tmp_path / "s").write_text("10\tA\t0.5\n10,B,-1e-3\n 7 \n\n\n")
    np.testing.assert_array_equal(read_scores(tmp_path / "s"), [0.5, -0.001, 7])


def test_labels_of_missing_values_and_sparse_rows(tmp_path):
    (tmp_path / "f").write_text("1 qid:1 1:NULL 2:3 #docid = A\n0 qid:1 1:2 2:NULL #docid = B\n")
    np.testing.assert_array_equal(read_labels(tmp_path / "f").y, [1, 0])
    (tmp_path / "g").write_text("7 qid:q1 3:1\n0 qid:q1 1:2 9:1\n3 qid:q2 2:1\n")
    labels = read_labels(tmp_path / "g")
    np.testing.assert_array_equal(labels.y, [7, 0, 3])
    np.testing.assert_array_equal(labels.offsets, [0, 2, 3])
    assert labels.query_id.tolist() == ["q1", "q2"]


def test_table(files, capsys):
    out = printed(capsys, *files)
    assert out.startswith("LETOR features: 2 queries, 5 documents, 1 queries without a relevant document")
    rows = dict(line.split() for line in out.splitlines()[4:])
    assert list(rows) == list(CONVENTIONS["letor4"])
    assert rows["ap"] == "0.2917"


def test_table_per_query(files, capsys):
    lines = printed(capsys, *files, "--per-query", "--measure", "ap", "--measure", "rr/trec").splitlines()
    assert [line.split() for line in lines[3:]] == [
        ["run", "query", "ap", "rr/trec"],
        ["scores.txt", "10", "0.5833", "0.5000"],
        ["scores.txt", "11", "0.0000", "0.0000"],
        ["scores.txt", "mean", "0.2917", "0.2500"],
    ]


def test_csv_in_full_precision(files, capsys):
    rows = list(csv.DictReader(io.StringIO(printed(capsys, *files, "--format", "csv"))))
    assert float(rows[0]["mean"]) == evaluate(*files).means["ap"]
    rows = list(csv.DictReader(io.StringIO(printed(capsys, *files, "--format", "csv", "--per-query"))))
    assert [row["query"] for row in rows] == ["10", "11"]
    assert [float(row["ap"]) for row in rows] == evaluate(*files).values["ap"].tolist()


def test_json(files, capsys):
    content = json.loads(printed(capsys, *files, "--format", "json", "--convention", "geng", "--per-query"))
    assert (content["queries"], content["runs"][0]["documents"]) == (2, 5)
    assert "1 queries without a relevant document" in content["judgments"]
    means = {row["measure"]: row["mean"] for row in content["measures"]}
    assert set(means) == set(CONVENTIONS["geng"])
    assert content["per_query"]["scores.txt"]["10"]["mean_ndcg/geng"] == 2 * means["mean_ndcg/geng"]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_convention_prints(files, capsys, convention):
    assert CONVENTIONS[convention][0] in printed(capsys, *files, "--convention", convention)


@pytest.mark.parametrize(
    ("scores", "line", "said"),
    [
        ("1\n2\n3\n", None, "3 scores for 5 documents"),
        ("1\n2\nbad\n4\n5\n", 3, "not a number"),
        ("1\n2\nnan\n4\n5\n", 3, "not a number"),
        ("1\n2\n1_000\n4\n5\n", 3, "not a number"),
        ("score\n1\n2\n3\n4\n5\n", 1, "not a number"),
        ("1\n\n2\n3\n4\n5\n", 2, "without a score"),
        ("", None, "0 scores for 5 documents"),
    ],
)
def test_bad_scores_are_named_by_file_and_line(files, scores, line, said):
    with open(files[1], "w") as file:
        file.write(scores)
    with pytest.raises(InputError, match=said) as error:
        evaluate(*files)
    assert error.value.line == line
    assert "scores.txt" in str(error.value)
    assert error.value.fix


def test_an_unknown_measure_is_told_before_scores_are_read(files, capsys):
    with pytest.raises(InputError, match="did you mean ndcg@5/exp"):
        printed(capsys, files[0], "no file", "--measure", "ndgc@5/exp")


@pytest.mark.mirror
def test_the_publishers_figures_from_files(mirror, tmp_path):
    """BM25 of the body (feature 21) on a test set of MQ2008; the figures are those the publisher's script printed."""
    features = mirror / "letor4" / "MQ2008" / "S5.txt.xz"
    with lzma.open(features, "rt") as file:
        (tmp_path / "scores").write_text("".join(line.split()[22].partition(":")[2] + "\n" for line in file))
    means = evaluate(features, tmp_path / "scores").means
    assert f"{means['ap']:.4f} {means['ndcg@10/letor4']:.4f} {means['mean_ndcg/letor4']:.4f}" == "0.4292 0.1933 0.4303"
