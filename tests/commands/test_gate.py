"""`qdrank gate`, and what it shares with `compare`: verdicts at the sizes people have, missing queries, unjudged documents."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from tests.evaluation.test_error_rates import WORLDS, wrong

from qdrank.cli import main
from qdrank.commands.evaluate import explained
from qdrank.datasets.runs.run import Qrels, Run
from qdrank.evaluation.declared import HOLDS, RULES_OF_RUNS
from qdrank.evaluation.run_files import judged_run
from qdrank.evaluation.two_runs import Question, TwoRuns
from qdrank.evaluation.unjudged import first_documents, weights, with_grades

ROWS = 12


@pytest.fixture
def folder(tmp_path):
    """Judgments of 60 queries, a run, a better one, and the better one without the queries from 30 on."""
    rng = np.random.default_rng(0)
    qrels, runs = [], {"old": [], "new": [], "half": []}
    for q in range(60):
        grades, noise = rng.integers(0, 3, ROWS), rng.normal(0, 1, ROWS)
        qrels += [f"q{q} 0 d{i} {grade}\n" for i, grade in enumerate(grades)]
        for name, share in (("old", 0.3), ("new", 1.5), ("half", 1.5)):
            lines = [f"q{q} Q0 d{i} 1 {share * grades[i] + noise[i]:.6f} {name}\n" for i in range(ROWS)]
            runs[name] += [] if name == "half" and q >= 30 else lines
    (tmp_path / "qrels").write_text("".join(qrels))
    for name, lines in runs.items():
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


def gate(folder, capsys, baseline, candidate, *words):
    files = [str(folder / name) for name in ("qrels", baseline, candidate)]
    status = main(["gate", *files, "--margin", ".01", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out or captured.err


def test_the_exit_status_is_the_verdict_on_the_candidate(folder, capsys):
    status, out = gate(folder, capsys, "old", "new")
    assert (status, out.splitlines()[0][:47]) == (0, "PASS: new is as good as old, or better; ndcg@10")
    status, out = gate(folder, capsys, "new", "old")
    assert (status, out.splitlines()[0][:35]) == (1, "FAIL: old is worse than new; ndcg@1")
    assert "queries that lost most:" in out
    assert gate(folder, capsys, "old", "new", "--claim", "better")[0] == 0
    assert gate(folder, capsys, "new", "old", "--claim", "better")[0] == 1
    few = "".join((folder / "qrels").read_text().splitlines(keepends=True)[: 20 * ROWS])
    (folder / "qrels").write_text(few)
    status, out = gate(folder, capsys, "old", "new")
    assert status == 3
    assert "too few queries: 20, and 25 are needed" in out.splitlines()[0]
    assert [gate(folder, capsys, "old", "new", "--cannot-tell", word)[0] for word in ("pass", "fail")] == [0, 1]


def test_compare_says_what_the_gate_says(folder, capsys):
    asked = ["--measure", "nDCG@10", "--measure", "AP", "--claim", "as-good"]
    gate(folder, capsys, "old", "new", *asked, "--json", folder / "said.json")
    said = json.loads((folder / "said.json").read_text())
    files = [str(folder / name) for name in ("qrels", "new", "old")]
    assert main(["compare", *files, "--margin", ".01", *asked, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdicts"] == said["verdicts"]
    assert [one["level"] for one in said["verdicts"]] == [0.05, 0.05]  # the first decides, one other is corrected alone


def test_a_run_that_lacks_queries_gets_no_verdict(folder, capsys):
    status, out = gate(folder, capsys, "new", "half", "--cannot-tell", "pass")
    assert status == 3
    assert "half lacks 30 of 60 judged queries, such as q30, q31, q32, q33, q34; say how they count" in out
    assert gate(folder, capsys, "new", "half", "--missing", "empty")[0] == 1
    status, out = gate(folder, capsys, "old", "half", "--missing", "skip")
    assert (status, "on 30 queries" in out.splitlines()[0]) == (0, True)


def test_a_further_measure_and_a_group_can_only_stop(folder, capsys):
    lines = (folder / "new").read_text().splitlines(keepends=True)
    # Without its last documents the list has the same first ones, and finds less.
    short = [line for i in range(0, len(lines), ROWS) for line in sorted(lines[i : i + ROWS], key=_score)[:5]]
    (folder / "short").write_text("".join(short).replace(" new", " short"))
    status, out = gate(folder, capsys, "new", "short", "--measure", "nDCG@5")
    assert (status, "no query differs" in out) == (0, True)
    assert gate(folder, capsys, "new", "short", "--measure", "nDCG@5", "--claim", "better")[0] == 1
    status, out = gate(folder, capsys, "new", "short", "--measure", "nDCG@5", "--measure", "R@100")
    assert status == 1
    assert out.startswith("FAIL: short is worse than new in r@100/trec: ")
    # A group of queries in which the better run is upside down.
    turned = [line if int(line[1 : line.index(" ")]) % 10 else _turned(line) for line in lines]
    (folder / "turned").write_text("".join(turned).replace(" new", " turned"))
    (folder / "groups").write_text("".join(f"q{q} g{min(q % 10, 1)}\n" for q in range(60)))
    assert gate(folder, capsys, "old", "turned")[0] == 0
    status, out = gate(folder, capsys, "old", "turned", "--groups", folder / "groups")
    assert status == 1
    assert out.startswith("FAIL: turned is worse than old in ndcg@10/trec, group g0: ")


def _score(line):
    return -float(line.split()[4])


def _turned(line):
    words = line.split()
    return " ".join([*words[:4], str(-float(words[4])), words[5]]) + "\n"


def test_the_files_for_a_build(folder, capsys):
    summary = folder / "summary.md"
    summary.write_text("before\n")
    asked = ["--measure", "nDCG@10", "--measure", "AP", "--junit", folder / "a<b.xml", "--summary", summary]
    _, out = gate(folder, capsys, "new", "old", *asked)
    suite = ElementTree.parse(folder / "a<b.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert suite[0].find("failure").get("message") == out.splitlines()[0]
    text = summary.read_text()
    assert text.startswith(f"before\n### {out.splitlines()[0]}\n")
    assert text.count("| ndcg@10/trec | fail |") == 1
    assert gate(folder, capsys, "new", "old", "--json", folder / "no" / "such")[0] == 2


@pytest.mark.parametrize(
    ("runs", "options", "status", "tags"),
    [
        (("old", "new"), "", 0, [None, None]),
        (("new", "old"), "", 1, ["failure", "failure"]),
        (("new", "half"), "--cannot-tell pass", 3, ["failure", "failure"]),
        (("old", "few"), "--missing skip", 3, ["failure", None]),
        (("old", "few"), "--missing skip --cannot-tell fail", 1, ["failure", None]),
        (("old", "few"), "--missing skip --cannot-tell pass", 0, ["skipped", None]),
        (("old", "no-such"), "", 2, ["error"]),
    ],
)
def test_the_report_shows_what_stopped_the_build(folder, capsys, runs, options, status, tags):
    few = (folder / "new").read_text().splitlines(keepends=True)[: 20 * ROWS]
    (folder / "few").write_text("".join(few).replace(" new", " few"))
    found, out = gate(
        folder, capsys, *runs, "--measure", "RR@10", "--measure", "AP", *options.split(), "--junit", folder / "x"
    )
    suite = ElementTree.parse(folder / "x").getroot()
    shown = [next((child for child in case if child.tag != "system-out"), None) for case in suite]
    assert (found, [None if one is None else one.tag for one in shown]) == (status, tags)
    counts = [int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == [len(tags), *(tags.count(tag) for tag in ("failure", "error", "skipped"))]
    if tags[0]:
        assert shown[0].get("message").split()[-1] in out


# ---- documents that nobody judged ----------------------------------------------------------------------------------------


def made(seed, n=30):
    """Judgments of half of the documents, and two runs of all of them."""
    rng = np.random.default_rng(seed)
    query = np.repeat([f"q{i}" for i in range(n)], ROWS).astype(object)
    doc = np.tile([f"d{i}" for i in range(ROWS)], n).astype(object)
    known = rng.random(len(doc)) < 0.5
    known[::ROWS] = True
    qrels = Qrels(query[known], doc[known], rng.integers(0, 3, known.sum()))
    return qrels, *(Run(query, doc, rng.random(len(doc)).round(2), tag) for tag in ("a", "b"))


@pytest.mark.parametrize("name", ["ndcg@5/trec", "ap/trec", "p@5/trec", "rr@5/trec"])
def test_the_weight_of_a_pair_is_what_its_judgment_moves(name):
    qrels, a, b = made(1, n=4)
    found = weights(a, b, qrels, name)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    grade = int(np.median(qrels.grade[qrels.grade > 0]))

    def difference(query, doc, value):
        more = with_grades(qrels, [(query, doc, value)])
        at = list(more.place).index(query)
        return np.subtract(*(judged_run(run, more).measured([name])[name][at] for run in (a, b)))

    unjudged = {
        (q, d)
        for run in (a, b)
        for q, docs in first_documents(run, qrels, 100).items()
        for d, (r, k) in docs.items()
        if not k and (r <= 5 or name == "ap/trec")
    }
    assert set(found) == unjudged
    for (query, doc), weight in found.items():
        moved = difference(query, doc, grade) - difference(query, doc, 0)
        assert weight == pytest.approx(abs(moved), abs=1e-12)


def test_the_first_documents_are_in_the_order_of_trec_eval():
    qrels, run, _ = made(2, n=2)
    for query, docs in first_documents(run, qrels, 5).items():
        own = [(np.float32(s), d) for q, d, s in zip(run.query, run.doc, run.score, strict=True) if q == query]
        assert list(docs) == [d for _, d in sorted(own, reverse=True)[:5]]


def test_a_verdict_that_rests_on_what_nobody_judged_is_said_to_turn():
    rng = np.random.default_rng(3)
    query, doc = (
        np.repeat([f"q{i}" for i in range(40)], 10).astype(object),
        np.tile([f"d{i}" for i in range(10)], 40).astype(object),
    )
    first = np.tile(np.arange(10) < 5, 40)
    qrels = Qrels(query[first], doc[first], rng.integers(0, 2, first.sum()))
    a = Run(query, doc, np.where(first, 1.0, 0.0) + rng.random(400) / 2, "a")
    b = Run(query, doc, -a.score, "b")
    question = Question(TwoRuns.of(qrels, [a, b], ["p@5/trec"]), "better", 0.01)
    (report,) = question.reports()
    assert report["verdict"] == HOLDS
    assert report["unjudged"]["judged"] == {"a": 1.0, "b": 0.0}
    assert report["unjudged"]["turned"] == "does not hold"
    known = Qrels(query, doc, np.where(first, 1, 0))
    (report,) = Question(TwoRuns.of(known, [a, b], ["p@5/trec"]), "better", 0.01).reports()
    assert report["unjudged"]["turned"] is None


def test_the_queries_that_differ_most_come_first():
    qrels, a, b = made(5)
    question = Question(TwoRuns.of(qrels, [a, b], ["ndcg@5/trec"]), "better", 0.01)
    shown = [abs(row["a"] - row["b"]) for row in question.reports()[0]["queries_that_differ_most"]]
    gaps = np.abs(question.two.pairs("ndcg@5/trec").differences)
    np.testing.assert_allclose(shown, np.sort(gaps)[::-1][: len(shown)])


def test_pairs_to_judge_are_judged_and_the_same_command_goes_on(folder, capsys):
    lines = (folder / "qrels").read_text().splitlines(keepends=True)
    (folder / "qrels").write_text("".join(line for i, line in enumerate(lines) if i % 3))
    file = folder / "judge.csv"
    gate(folder, capsys, "old", "new", "--to-judge", "15", file)
    rows = list(csv.reader(file.open()))
    assert rows[0][:3] == ["query", "document", "grade"]
    assert len(rows) == 16
    grades = {tuple(line.split()[::2]): line.split()[3] for line in lines}
    known = [
        [q, d, next(g for line in lines for a, _, b, g in [line.split()] if (a, b) == (q, d)), *rest]
        for q, d, _, *rest in rows[1:]
    ]
    assert grades
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([rows[0], *known])
    gate(folder, capsys, "old", "new", "--to-judge", "15", file, "--json", folder / "said.json")
    again = list(csv.reader(file.open()))
    assert again[1:16] == known
    assert len(again) == 31
    assert not {(q, d) for q, d, *_ in again[16:]} & {(q, d) for q, d, *_ in known}
    assert "720" not in json.loads((folder / "said.json").read_text())["judgments"]
    theirs = file.read_text().replace(",", ";").replace("\n", "\r\n")
    file.write_bytes(("\ufeff" + theirs).encode())  # as a spreadsheet writes it
    assert gate(folder, capsys, "old", "new", "--to-judge", "1", file)[0] != 2
    assert list(csv.reader(file.open())) == again[:17]
    file.write_text("query,document,grade\nq1,d1,x\n")
    status, err = gate(folder, capsys, "old", "new", "--to-judge", "15", file)
    assert status == 2
    assert "judge.csv, line 2: the grade is not a whole number" in err


@pytest.mark.parametrize("name", ["ndcg@5/trec", "ap/trec", "rr/trec", "p@5/trec", "r@5/trec", "rbp/trec"])
def test_what_the_ranks_add_is_the_value(name):
    qrels, run, _ = made(4, n=3)
    joined = judged_run(run, qrels)
    for i, query in enumerate(joined.query_id):
        value, rows = explained(run, qrels, query, name)
        assert value == joined.measured([name])[name][i]
        assert sum(float(adds) for *_, adds in rows) == pytest.approx(value, abs=1e-3)
        assert [doc for doc, *_ in rows][:5] == list(first_documents(run, qrels, 5)[query])


def test_explain_puts_runs_side_by_side(folder, capsys):
    files = [str(folder / name) for name in ("qrels", "old", "half")]
    assert main(["evaluate", *files, "--explain", "q45", "--measure", "nDCG@5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("query q45, ndcg@5/trec: old ")
    assert lines[0].endswith("half 0.0000")
    assert [line.split()[0] for line in lines[1:]] == ["rank", "1", "2", "3", "4", "5"]
    assert main(["evaluate", *files, "--explain", "q450"]) == 2
    assert "did you mean q" in capsys.readouterr().err


# ---- how often a verdict is wrong ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("n", [25, 43])
def test_verdicts_on_few_queries_are_wrong_no_more_often_than_stated(world, n):
    """But where rare large changes hide behind noise, of which the sample knows nothing: the page says so."""
    runs = 100
    allowed = 0.3 if "noise" in world else 0.035 + 3 * np.sqrt(0.035 / runs)
    assert wrong(world, n, family=1, runs=runs, rules=RULES_OF_RUNS).max() <= allowed


# ---- the action ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("runs", "options", "status", "outcome"),
    [
        (("old", "new"), "", 0, "pass"),
        (("new", "old"), "--claim better", 1, "fail"),
        (("new", "half"), "", 3, "cannot tell"),
    ],
)
def test_the_action_says_it_to_a_build(folder, runs, options, status, outcome):
    action = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][1]
    inputs = dict(zip(("baseline", "candidate"), runs, strict=True)) | {
        "qrels": "qrels",
        "margin": ".01",
        "options": options,
    }
    inputs["measure"] = "nDCG@10 AP"
    given = {name: inputs[words.split(".")[1].rstrip("} ")] for name, words in step["env"].items()}
    given |= {"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output"}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    ran = subprocess.run(
        command, cwd=folder, env=os.environ | given | {"PATH": path}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == status, ran.stderr
    assert (folder / "output").read_text() == f"outcome={outcome}\n"
    assert (folder / "summary.md").read_text().startswith(f"### {outcome.upper()}: ")
    assert "ap/trec" in ran.stdout
    assert ("::" in ran.stdout) == (status > 0)
