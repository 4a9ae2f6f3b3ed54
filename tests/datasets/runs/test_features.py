"""Runs as data to learn from: columns by hand, missed documents, notes, and the artifacts of a data set."""

from __future__ import annotations

import numpy as np
import pytest

from qdrank.datasets.columns import reference_column
from qdrank.datasets.importing import import_runs
from qdrank.datasets.judged import load_judged
from qdrank.datasets.runs.features import KINDS, judged_runs
from qdrank.datasets.runs.model import Qrels, Run
from qdrank.errors import InputError
from qdrank.evaluation.runs import measure_run
from qdrank.measures import measure
from qdrank.store import read


def objects(*values):
    return np.array(values, dtype=object)


A = Run(objects("2", "2", "1", "9"), objects("x", "y", "x", "z"), np.array([3.0, 1.0, 5.0, 7.0]), "a")
B = Run(objects("1", "1", "1"), objects("x", "y", "w"), np.array([4.0, 2.0, 0.0]), "b")
QRELS = Qrels(objects("1", "1", "1", "2", "3"), objects("x", "v", "u", "y", "x"), np.array([2, 1, 2, -1, 1]))
PART = {"1": "S1", "2": "S2", "3": "S3"}


def test_columns_by_hand():
    made = judged_runs([A, B], QRELS, PART, max_label=4)
    judged = made.judged
    assert judged.query_id.tolist() == ["1", "2"], "query 3 has no documents, query 9 no judgments"
    assert judged.part.tolist() == ["S1", "S2"]
    assert judged.doc_id.tolist() == ["w", "x", "y", "x", "y"]
    assert judged.y.tolist() == [0, 2, 0, 0, 0]
    assert [tuple(own) for own in judged.missed] == [(2, 1), ()]
    assert [tuple(own) for own in judged.missed_id] == [("u", "v"), ()]
    assert made.names == [f"{kind} of {tag}" for tag in "ab" for kind in KINDS]
    spread = np.sqrt(8 / 3)
    expected = [
        # min-max, z-score, rank, 1/rank, returned: of a, then of b
        [0, 0, 2, 0, 0, 0, -2 / spread, 3, 1 / 3, 1],
        [1, 0, 1, 1, 1, 1, 2 / spread, 1, 1, 1],
        [0, 0, 2, 0, 0, 0.5, 0, 2, 0.5, 1],
        [1, 1, 1, 1, 1, 0, 0, 1, 0, 0],
        [0, -1, 2, 0.5, 1, 0, 0, 1, 0, 0],
    ]
    np.testing.assert_allclose(judged.X, expected, rtol=1e-6)


def test_what_is_missing_is_counted():
    notes = judged_runs([A, B], QRELS, PART, max_label=4).notes
    assert notes[0].startswith("2 of 3 judged queries have documents")
    assert notes[1].startswith("4 of 5 documents are not judged")
    assert notes[2].startswith("2 of 3 relevant documents are in no run")
    assert "run a (arrays): 2 queries, 3 documents, at most 2 a query; it lacks 2 documents" in notes[3]


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([A, A], "two runs have the same tag"),
        ([Run(objects("9"), objects("x"), np.array([1.0]), "c")], "none of the judged queries"),
        ([Run(objects("1"), objects("x"), np.array([np.inf]), "c")], "infinite score"),
    ],
)
def test_what_cannot_be_joined_is_said(runs, said):
    with pytest.raises(InputError, match=said):
        judged_runs(runs, QRELS, PART, max_label=4)
    with pytest.raises(InputError, match="a grade is above 1"):
        judged_runs([A], QRELS, PART, max_label=1)


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 3, (40, 12))
    (tmp_path / "qrels").write_text(
        "".join(f"q{q} 0 d{d} {g}\n" for q, own in enumerate(grades) for d, g in enumerate(own))
    )
    for name, share in (("good", 2.0), ("poor", 0.1)):
        rows = [
            f"q{q} Q0 d{d} 1 {share * grades[q, d] + rng.random():.5f} {name}\n"
            for q in range(40)
            for d in rng.permutation(12)[:9]
        ]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    (tmp_path / "queries").write_text("".join(f"q{q}\twhat is {q}\n" for q in range(40)))
    return {"qrels": tmp_path / "qrels", "runs.1": tmp_path / "good.run", "runs.2": tmp_path / "poor.run"}


def test_the_artifacts_of_a_data_set(files, tmp_path):
    out = {name: tmp_path / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    notes = import_runs({**files, "queries": tmp_path / "queries"}, out, seed=1)
    assert any("run good (TREC run)" in note for note in notes)
    judged = load_judged(out["judged"])
    assert judged.folds == [f"fold{i}" for i in range(1, 6)]
    assert judged.X.shape[1] == 10
    assert reference_column(out["columns"]) < 5, "the good run"
    assert "what is 7" in read(out["topics"], "topics").column("text").to_pylist()
    import_runs(files, out, seed=1, reference="poor")
    assert reference_column(out["columns"]) == 5
    with pytest.raises(InputError, match="none of the runs"):
        import_runs(files, out, seed=1, reference="bm25")


def test_a_runs_column_measures_as_the_run_itself(files, tmp_path):
    """Documents of the other run come behind its own, and missed relevant documents count."""
    from qdrank.datasets.runs.reading import read_qrels, read_run

    out = {name: tmp_path / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    import_runs(files, out, seed=1)
    judged = load_judged(out["judged"])
    unranked, returned = judged.unranked, judged.X[:, 4]
    scores = np.where(returned > 0, -judged.X[:, 2], -np.inf)
    ours = measure(["ap@9"], judged.y, scores, judged.offsets, unranked=unranked)["ap@9"]
    queries, theirs = measure_run(["AP"], read_run(files["runs.1"]), read_qrels(files["qrels"]))
    assert queries == judged.query_id.tolist()
    np.testing.assert_allclose(ours, theirs["ap/trec"], atol=1e-12)


def test_folds_from_a_file(files, tmp_path):
    out = {name: tmp_path / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    (tmp_path / "folds").write_text("".join(f"q{q} S{q % 5 + 1}\n" for q in range(40)))
    import_runs({**files, "folds": tmp_path / "folds"}, out, seed=1)
    judged = load_judged(out["judged"])
    assert judged.part.tolist() == [f"S{int(name[1:]) % 5 + 1}" for name in judged.query_id]
    (tmp_path / "folds").write_text("q1 S1\n")
    with pytest.raises(InputError, match="39 judged queries have no part"):
        import_runs({**files, "folds": tmp_path / "folds"}, out, seed=1)
