"""A number that two commands print is the same number: a run alone in evaluate, compare, advise, fuse and the study `hybrid`."""

import json

import numpy as np
import pytest

from qdrank.cli import main
from qdrank.datasets.runs.reading import read_all_runs, read_qrels
from qdrank.datasets.runs.run import judged_runs
from qdrank.rankers.run_scores import OneRun
from qdrank.rankers.tuning import query_values_of


def lists(rng, depth, *, step=None, kept=None, queries=40):
    """Run of 60 documents' scores: lists of some depth, scores in steps if asked, of the first ``kept`` queries."""
    made = {}
    for q in range(kept or queries):
        docs = rng.choice(60, size=depth, replace=False).tolist()
        scores = np.round(rng.random(depth) / step) * step if step else rng.random(depth)
        made[f"q{q}"] = {f"d{doc}": float(score) for doc, score in zip(docs, scores, strict=True)}
    return made


def graded(rng, judged=60, queries=43):
    """Judgments of 43 queries, three of which no run answers."""
    return {f"q{q}": {f"d{doc}": int(rng.integers(0, 3)) for doc in range(judged)} for q in range(queries)}


def irrelevant(qrels, run):
    """The run's documents that are not relevant, at least one for a query."""
    made = {q: {doc: s for doc, s in docs.items() if not qrels[q].get(doc)} for q, docs in run.items()}
    return {q: docs for q, docs in made.items() if docs}


PAIRS = {
    "lists of three": lambda rng: (graded(rng), lists(rng, 3), lists(rng, 3)),
    "missing queries": lambda rng: (graded(rng), lists(rng, 12), lists(rng, 12, kept=5)),
    "ties": lambda rng: (graded(rng), lists(rng, 20, step=0.25), lists(rng, 20, step=0.5)),
    "one document": lambda rng: (graded(rng), lists(rng, 1), lists(rng, 1)),
    "unjudged documents": lambda rng: (graded(rng, judged=12), lists(rng, 15), lists(rng, 5)),
    "nothing relevant": lambda rng: (q := graded(rng), lists(rng, 12), irrelevant(q, lists(rng, 12))),
}


def printed(capsys, *words):
    assert main([*map(str, words), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def evaluated(capsys, qrels, run):
    """The mean and the values of queries, in the order of the judgments, by the first measure of `qdrank evaluate`."""
    said = printed(capsys, "evaluate", qrels, run, "--by-query")
    (values,) = said["per_query"].values()
    first = said["measures"][0]
    assert first["measure"] == "ndcg@10/trec"
    return first["mean"], np.array([one["ndcg@10/trec"] for one in values.values()])


def hold_against_each_other(capsys, tmp_path, qrels, runs):
    """The means of the runs alone, which all commands have."""
    means, values = zip(*(evaluated(capsys, qrels, run) for run in runs), strict=True)
    advised = printed(capsys, "advise", qrels, *runs)
    assert (advised["measure"], advised["queries"]) == ("ndcg@10/trec", len(values[0]))
    assert advised["alone"] == pytest.approx(list(means), abs=1e-12)
    compared = printed(capsys, "compare", qrels, *runs[:2], "--margin", ".01")["verdicts"][0]
    assert list(compared["mean"].values()) == pytest.approx(list(means[:2]), abs=1e-12)
    for i, run in enumerate(runs[:3]):
        weights = ["1" if other == run else "0" for other in runs]
        for norm in ("min-max", "z-score"):
            asked = ["fuse", *runs, "--method", "weights", "--weights", *weights, "--norm", norm]
            assert main([*map(str, asked), "--output", str(tmp_path / "fused")]) == 0
            np.testing.assert_allclose(evaluated(capsys, qrels, tmp_path / "fused")[1], values[i])
    known = read_qrels(qrels)
    judged = judged_runs(read_all_runs(runs), known, dict.fromkeys(known.by_query, "all"), max_label=4).judged
    place = [list(known.by_query).index(name) for name in judged.query_id]
    for i, of_run in enumerate(values):
        ours = query_values_of("ndcg@10/linear", judged, OneRun(run=i).predict(judged, np.zeros((len(place), 0))))
        np.testing.assert_allclose(ours, of_run[place])
        assert not np.delete(of_run, place).any()
    return means


@pytest.mark.parametrize("kind", PAIRS)
def test_commands_agree_on_pairs_of_runs(kind, tmp_path, capsys):
    rng = np.random.default_rng(4)
    for name, content in zip(("qrels", "a", "b"), PAIRS[kind](rng), strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    means = hold_against_each_other(
        capsys, tmp_path, tmp_path / "qrels.json", [tmp_path / "a.json", tmp_path / "b.json"]
    )
    assert means[0] > 0
    assert (means[1] == 0) == (kind == "nothing relevant")


@pytest.mark.mirror
def test_commands_agree_on_runs_of_dl_2019(mirror, tmp_path, capsys):
    folder = mirror / "runs" / "trec-dl" / "2019"
    runs = sorted(folder.glob("*.run.xz"))
    means = hold_against_each_other(capsys, tmp_path, folder / "qrels.txt.xz", runs)
    assert len(means) == 19
    assert max(means) == pytest.approx(0.7384, abs=1e-4), "as trec_eval has it"


def test_a_run_that_answers_no_judged_query_is_refused_by_all(tmp_path, capsys):
    rng = np.random.default_rng(4)
    other = {f"other{q}": docs for q, docs in lists(rng, 3).items()}
    for name, content in {"qrels": graded(rng), "a": lists(rng, 3), "b": other}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    files = [str(tmp_path / f"{name}.json") for name in ("qrels", "a", "b")]
    for asked in (["evaluate", *files], ["advise", *files], ["compare", *files, "--margin", ".01"]):
        assert main(asked) == 2
        said = capsys.readouterr().err
        assert "the run has none of the judged queries" in said
        assert "b" in said.splitlines()[0].split(":")[1]
