import csv
import gzip
import io
import json
import os
import threading

import numpy as np
import pytest

from qdrank.cli import main
from qdrank.datasets.runs.reading import read_run


@pytest.fixture
def files(tmp_path):
    """Judgments of 120 queries, a good run, a worse one, and one that is as good as the worse."""
    rng = np.random.default_rng(0)
    qrels, runs = [], {"good": [], "worse": [], "same": []}
    for q in range(120):
        grades = rng.integers(0, 3, 20)
        qrels += [f"q{q} 0 d{i} {grade}\n" for i, grade in enumerate(grades)]
        noise = rng.normal(0, 1, 20)
        for name, share in (("good", 1.0), ("worse", 0.3), ("same", 0.3)):
            scores = share * grades + noise + (rng.normal(0, 0.05, 20) if name == "same" else 0)
            order = np.argsort(-scores)
            runs[name] += [f"q{q} Q0 d{i} {r + 1} {scores[i]:.6f} {name}\n" for r, i in enumerate(order)]
    (tmp_path / "qrels").write_text("".join(qrels))
    for name, lines in runs.items():
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def said(capsys, *arguments, code=0):
    assert main([str(word) for word in arguments]) == code
    captured = capsys.readouterr()
    return captured.out if code == 0 else captured.err


def test_a_table_of_runs(files, capsys):
    out = said(capsys, "evaluate", files / "qrels", files / "good.run", files / "worse.run")
    lines = out.splitlines()
    assert lines[0] == "TREC judgments: 120 queries, 2,400 judged documents; ndcg@10/trec and 5 more"
    assert lines[1] == "TREC run: good, worse"
    assert lines[3].split() == [
        "run",
        "ndcg@10/trec",
        "ap/trec",
        "rr/trec",
        "p@10/trec",
        "r@100/trec",
        "judged@10/trec",
    ]
    good, worse = (dict(zip(lines[3].split(), line.split(), strict=True)) for line in lines[4:6])
    assert float(good["ndcg@10/trec"]) > float(worse["ndcg@10/trec"])
    assert good["r@100/trec"] == good["judged@10/trec"] == "1.0000"


def test_differences_from_a_baseline(files, capsys):
    runs = [files / f"{name}.run" for name in ("good", "worse", "same")]
    asked = ["--baseline", runs[1], "--measure", "MAP", "--measure", "ndcg@5", "--format"]
    rows = list(csv.DictReader(io.StringIO(said(capsys, "evaluate", files / "qrels", *runs, *asked, "csv"))))
    found = {(row["run"], row["ir_measures"]): row for row in rows}
    assert list(found) == [(run, name) for run in ("good", "worse", "same") for name in ("AP", "nDCG@5")]
    assert found["worse", "AP"]["difference"] == ""
    good = found["good", "AP"]
    assert float(good["difference"]) == pytest.approx(float(good["mean"]) - float(found["worse", "AP"]["mean"]))
    assert float(good["low"]) > 0
    assert float(good["p_corrected"]) < 0.05 <= float(found["same", "nDCG@5"]["p_corrected"])
    assert float(good["p_corrected"]) >= float(good["p"])
    text = said(capsys, "evaluate", files / "qrels", *runs, *asked, "table")
    assert "differences from worse; p of a true difference of 0 (t test), corrected after Holm for all 4:" in text
    content = json.loads(said(capsys, "evaluate", files / "qrels", *runs, *asked, "json", "--by-query"))
    assert content["baseline"] == "worse"
    assert content["runs"][0]["form"] == "TREC run"
    assert len(content["per_query"]["good"]) == 120


def test_a_baseline_may_be_a_file_of_its_own_and_several_tags_may_be_in_one(files, capsys):
    both = files / "both.run"
    both.write_text((files / "good.run").read_text() + (files / "worse.run").read_text())
    out = said(capsys, "evaluate", files / "qrels", both, "--baseline", files / "same.run", "--measure", "AP")
    assert "TREC run: good, worse, same" in out
    out = said(capsys, "evaluate", files / "qrels", both, both, files / "good.run", "--measure", "AP")
    assert "TREC run: both:good, worse, good\n" in out
    other = files / "other.run"
    other.write_text((files / "same.run").read_text().replace("same", "good"))
    asked = ["--measure", "AP", "--baseline", "other"]
    assert "differences from other;" in said(capsys, "evaluate", files / "qrels", files / "good.run", other, *asked)
    asked = ["--margin", ".01"]
    assert "good is better than other" in said(capsys, "compare", files / "qrels", files / "good.run", other, *asked)
    err = said(capsys, "evaluate", files / "qrels", both, "--baseline", "other", code=2)
    assert "name one of: good, worse" in err


def test_ties(files, capsys):
    (files / "tied.run").write_text("".join(f"q{q} Q0 d{i} 1 1 tied\n" for q in range(120) for i in range(20)))
    asked = ["--ties", "--measure", "P@5", "--format", "json"]
    content = json.loads(said(capsys, "evaluate", files / "qrels", files / "tied.run", *asked))
    (entry,) = content["measures"]
    assert entry["worst"] < entry["expected"] < entry["best"]
    grades = np.array([int(line.split()[3]) for line in (files / "qrels").read_text().splitlines()])
    assert entry["expected"] == pytest.approx((grades > 0).mean())
    assert "worst" in said(capsys, "evaluate", files / "qrels", files / "tied.run", *asked[:3])


def test_letor_files_with_ties_and_several_scores(tmp_path, capsys):
    (tmp_path / "test.txt").write_text("2 qid:1 1:1 #docid = A\n0 qid:1 1:0 #docid = B\n1 qid:2 1:1 #docid = C\n")
    (tmp_path / "a.txt").write_text("1\n1\n1\n")
    (tmp_path / "b.txt").write_text("2\n1\n1\n")
    asked = ["--ties", "--measure", "MAP", "--measure", "ndcg@1", "--format", "json"]
    scores = [tmp_path / "a.txt", tmp_path / "b.txt"]
    content = json.loads(said(capsys, "evaluate", tmp_path / "test.txt", *scores, *asked))
    by_run = {(entry["run"], entry["measure"]): entry for entry in content["measures"]}
    assert by_run["a.txt", "ap"]["expected"] == pytest.approx((0.75 + 1) / 2)
    assert by_run["b.txt", "ndcg@1/letor4"]["worst"] == 1


@pytest.mark.parametrize("piped", ["qrels", "good.run", "baseline"])
def test_judgments_runs_and_baseline_may_be_compressed_pipes(files, piped, capsys):
    measure, paths = ["--measure", "AP"], {"qrels": files / "qrels", "good.run": files / "good.run"}
    usual = said(capsys, "evaluate", *paths.values(), *measure)
    pipe = files / "pipe"
    os.mkfifo(pipe)
    content = gzip.compress((files / paths.get(piped, "good.run")).read_bytes())
    threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True).start()
    if piped == "baseline":
        assert "good" in said(capsys, "evaluate", *paths.values(), "--baseline", pipe, *measure)
    else:
        printed = said(capsys, "evaluate", *(paths | {piped: pipe}).values(), *measure)
        assert printed.replace("pipe", piped) == usual


def test_a_run_without_a_judged_document_is_named(files, capsys):
    (files / "bad.run").write_text("q1 Q0 other 1 1 t\n")
    err = said(capsys, "evaluate", files / "qrels", files / "bad.run", code=2)
    for words in ("bad.run", "none of the judged documents", "found: document other in the run, d0 in the judgments"):
        assert words in err


def test_the_verdict_on_two_runs(files, capsys):
    asked = [files / "qrels", files / "good.run", files / "worse.run", "--margin", ".005"]
    out = said(capsys, "compare", *asked)
    assert "ndcg@10/trec: good is better than worse (margin 0.005): HOLDS" in out
    assert "queries needed" not in out  # the verdict holds with those that there are
    assert out.splitlines()[1:3] == [f"{name} answers 120 of 120 judged queries" for name in ("good", "worse")]
    back = said(capsys, "compare", files / "qrels", files / "worse.run", files / "good.run", "--margin", ".005")
    assert "DOES NOT HOLD" in back
    same = said(capsys, "compare", files / "qrels", files / "same.run", files / "worse.run", "--margin", ".0001")
    assert "CANNOT TELL" in same
    assert "queries needed for the margin, were it the true difference (power .8): " in same
    equal = [files / "qrels", files / "same.run", files / "worse.run", "--margin", ".05", "--claim", "equal"]
    assert "HOLDS" in said(capsys, "compare", *equal)


def test_a_run_with_few_queries_is_told(files, capsys):
    lines = (files / "good.run").read_text().splitlines(keepends=True)
    (files / "few.run").write_text("".join(lines[: 43 * 20]).replace("good", "few"))
    asked = ["compare", files / "qrels", files / "few.run", files / "worse.run", "--margin", ".005"]
    assert "few answers 43 of 120 judged queries; the other 77 count as empty lists" in said(capsys, *asked)
    content = json.loads(said(capsys, *asked, "--format", "json"))
    answered = [(run["run"], run["judged_queries_answered"]) for run in content["runs"]]
    assert answered == [("few", 43), ("worse", 120)]


def test_every_difference_without_a_verdict_has_its_reason(files, capsys):
    names = ("good", "worse", "same")
    for name in names:
        lines = (files / f"{name}.run").read_text().splitlines(keepends=True)
        (files / f"{name}.run").write_text("".join(lines[: 30 * 20]))
    (files / "few").write_text("".join((files / "qrels").read_text().splitlines(keepends=True)[: 30 * 20]))
    out = said(capsys, "evaluate", files / "few", *(files / f"{name}.run" for name in names), "--baseline", "same")
    rows = [line for line in out.splitlines() if line.endswith(" [1]")]
    assert len(rows) == 2 * 5
    assert not any("judged@10" in row for row in rows)  # not a measure of quality
    assert "corrected after Holm for all 10:" in out
    assert out.splitlines()[-1].startswith("[1] cannot tell: too few queries: 30, and ")


def test_the_queries_that_differ_most_and_groups(files, capsys):
    (files / "groups").write_text("".join(f"q{q} g{q % 3}\n" for q in range(120)))
    asked = ["--margin", ".005", "--measure", "nDCG@10", "--groups", files / "groups", "--format", "json"]
    content = json.loads(said(capsys, "compare", files / "qrels", files / "good.run", files / "worse.run", *asked))
    (report,) = content["verdicts"]
    gaps = [abs(row["a"] - row["b"]) for row in report["queries_that_differ_most"]]
    assert len(gaps) == 5
    assert gaps == sorted(gaps, reverse=True)
    assert [one["n"] for one in report["groups"]] == [40, 40, 40]
    assert not any(one["differs"] for one in report["groups"])
    text = said(capsys, "compare", files / "qrels", files / "good.run", files / "worse.run", *asked[:-2])
    assert "0 of 3 groups differ from it" in text
    (files / "groups").write_text("q1 g1\n")
    err = said(capsys, "compare", files / "qrels", files / "good.run", files / "worse.run", *asked, code=2)
    assert "119 queries have no group" in err


def test_a_fused_run(files, capsys):
    runs = [files / "good.run", files / "worse.run"]
    out = said(capsys, "fuse", *runs)
    said(capsys, "fuse", *runs, "--output", files / "fused.run")
    assert (files / "fused.run").read_text() == out
    assert read_run(files / "fused.run").tag == "qdrank-fused"
    measured = said(capsys, "evaluate", files / "qrels", files / "fused.run", "--measure", "AP")
    assert "qdrank-fused" in measured
    err = said(capsys, "fuse", *runs, "--method", "weights", code=2)
    assert "one for each run" in err
