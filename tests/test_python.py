"""What commands for runs do, in Python: the same from paths, dictionaries and frames, and the same as the commands print."""

import json

import numpy as np
import pandas as pd
import pytest

import qdrank
from qdrank.cli import main
from qdrank.errors import InputError


@pytest.fixture
def given(tmp_path):
    """Judgments and two runs of 40 queries: as dictionaries, and as files."""
    rng, qrels, runs = np.random.default_rng(0), {}, {"old": {}, "new": {}}
    for q in range(40):
        grades, noise = rng.integers(0, 3, 10), rng.normal(0, 1, 10)
        qrels[f"q{q}"] = {f"d{i}": int(grade) for i, grade in enumerate(grades)}
        for name, share in (("old", 0.3), ("new", 1.5)):
            runs[name][f"q{q}"] = {f"d{i}": round(float(share * grades[i] + noise[i]), 6) for i in range(10)}
    for name, content in {"qrels": qrels, **runs}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return qrels, runs["old"], runs["new"], tmp_path


def frame(content, third="score"):
    rows = [(q, d, number) for q, docs in content.items() for d, number in docs.items()]
    return pd.DataFrame(rows, columns=["qid", "docno", third]).sample(frac=1, random_state=1)


def printed(capsys, *words):
    assert main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def test_one_verdict_from_every_form_and_from_the_command(given, capsys):
    qrels, old, new, folder = given
    forms = [
        (qrels, new, old),
        (frame(qrels, "label"), frame(new), frame(old)),
        tuple(folder / f"{name}.json" for name in ("qrels", "new", "old")),
    ]
    made = [qdrank.compare(*form, margin=0.01, measures=["nDCG@10", "AP"], names=["new", "old"]) for form in forms]
    assert {one.verdict for one in made} == {"holds"}
    files = [folder / f"{name}.json" for name in ("qrels", "new", "old")]
    out = printed(
        capsys, "compare", *files, "--margin", ".01", "--measure", "nDCG@10", "--measure", "AP", "--format", "json"
    )
    said = json.loads(out)["verdicts"]
    for one in made:
        assert one.reports == said
        assert one.frame()["difference"].tolist() == [report["difference"] for report in said]
    assert "new is better than old (margin 0.01): HOLDS" in str(made[0])
    assert "<table" in made[0]._repr_html_()


def test_measures_are_those_of_the_command(given, capsys):
    qrels, old, new, folder = given
    made = qdrank.evaluate(qrels, old, frame(new), measures=["nDCG@5", "P@3"], names=["old", "new"], baseline="old")
    files = [folder / f"{name}.json" for name in ("qrels", "old", "new")]
    said = json.loads(
        printed(capsys, "evaluate", *files, "--measure", "nDCG@5", "--measure", "P@3", "--format", "json")
    )
    assert made.frame()[["ndcg@5/trec", "p@3/trec"]].to_numpy().ravel().tolist() == [
        one["mean"] for one in said["measures"]
    ]
    by_query = made.by_query().groupby("run", sort=False)["ndcg@5/trec"].mean()
    np.testing.assert_allclose(by_query, made.frame()["ndcg@5/trec"])
    assert "differences from old; " in str(made)


def test_fused_and_advised(given, capsys):
    qrels, old, new, folder = given
    fused = qdrank.fuse(old, new)
    fused.write(folder / "fused.run")
    out = printed(capsys, "fuse", folder / "old.json", folder / "new.json")
    assert (folder / "fused.run").read_text() == out
    assert fused.frame().columns.tolist() == ["qid", "docno", "score", "rank"]
    assert qdrank.evaluate(qrels, fused).frame()["run"].tolist() == ["qdrank-fused"]
    advised = qdrank.advise(qrels, old, new, names=["old", "new"])
    assert str(advised) + "\n" == printed(
        capsys, "advise", *(folder / f"{name}.json" for name in ("qrels", "old", "new"))
    )
    assert advised.frame()["run"].tolist() == ["old", "new"]


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        (pd.DataFrame({"qid": ["q1"], "score": [1.0]}), "no column of the document"),
        (
            pd.DataFrame({"qid": ["q1", "q1"], "docno": ["d1", "d1"], "score": [1.0, 2.0]}),
            "document d1 comes again for query q1",
        ),
        ({"q1": {"d1": float("nan")}}, "the score is not a number"),
        ({}, "has no documents"),
        ([1, 2], "no scores can be read from it"),
    ],
)
def test_wrong_input_is_our_error(given, run, problem):
    with pytest.raises(InputError, match=problem):
        qdrank.evaluate(given[0], run)


def test_groups_and_missing_queries(given):
    qrels, old, new, _ = given
    half = {query: docs for query, docs in new.items() if int(query[1:]) < 30}
    assert qdrank.compare(qrels, half, old, margin=0.01).verdict == "cannot tell"
    assert qdrank.compare(qrels, half, old, margin=0.01, missing="skip").frame()["n"].tolist() == [30]
    groups = {query: str(int(query[1:]) % 2) for query in qrels}
    (report,) = qdrank.compare(qrels, new, old, margin=0.01, groups=groups).reports
    assert [one["n"] for one in report["groups"]] == [20, 20]
