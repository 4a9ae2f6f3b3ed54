"""Runs as data to learn from: columns by hand, missed documents, notes, and the artifacts of a data set."""

from dataclasses import replace

import numpy as np
import pytest

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.datasets.runs.dataset import import_runs, read_texts, read_vectors
from qdrank.datasets.runs.run import COLUMNS, Qrels, Run, judged_runs
from qdrank.errors import InputError
from qdrank.evaluation.run_files import judged_run
from qdrank.measures.compute import measure
from qdrank.queries.recipe import VectorOptions, describe_queries, document_vectors
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
    assert made.names == [f"{column} {tag}" for tag in "ab" for column in COLUMNS]
    spread = np.sqrt(8 / 3)
    expected = [
        # min-max, z-score, rank, 1/rank, retrieved: of a, then of b
        [0, 0, 2, 0, 0, 0, -2 / spread, 3, 1 / 3, 1],
        [1, 0, 1, 1, 1, 1, 2 / spread, 1, 1, 1],
        [0, 0, 2, 0, 0, 0.5, 0, 2, 0.5, 1],
        [1, 1, 1, 1, 1, 0, 0, 1, 0, 0],
        [0, -1, 2, 0.5, 1, 0, 0, 1, 0, 0],
    ]
    np.testing.assert_allclose(judged.X, expected, rtol=1e-6)
    np.testing.assert_allclose(made.scores, [[5, 0, 2, spread], [2, 1, 0, 0]])


def test_what_is_missing_is_counted():
    notes = dict(judged_runs([A, B], QRELS, PART, max_label=4).notes)
    assert notes["judged queries with documents; the others are left out"] == "2 of 3"
    assert notes["documents that are not judged: grade 0"] == "4 of 5"
    assert notes["relevant documents that no run retrieves: measures count them"] == "2 of 3"
    said = "2 queries, 3 documents, at most 2 a query; 2 documents of the other runs are missing"
    assert notes["run a (arrays)"] == said


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


def test_the_artifacts_of_a_data_set(files, out, tmp_path):
    notes = import_runs({**files, "queries": tmp_path / "queries"}, out, seed=1)
    assert "run good (TREC run)" in dict(notes)
    assert ("queries with a text", "40 of 40") in notes
    judged = load_judged(out["judged"])
    assert judged.folds == [f"fold{i}" for i in range(1, 6)]
    assert judged.X.shape[1] == 10
    assert reference_column(out["columns"]) < 5, "the good run"
    assert "what is 7" in read(out["topics"], "topics").column("text").to_pylist()
    import_runs(files, out, seed=1, reference="poor")
    assert reference_column(out["columns"]) == 5
    with pytest.raises(InputError, match="none of the runs"):
        import_runs(files, out, seed=1, reference="bm25")


def test_a_runs_column_measures_as_the_run_itself(files, out):
    """Documents of the other run come behind its own, and missed relevant documents count."""
    from qdrank.datasets.runs.reading import read_qrels, read_run

    import_runs(files, out, seed=1)
    judged = load_judged(out["judged"])
    unranked, returned = judged.unranked, judged.X[:, 4]
    scores = np.where(returned > 0, -judged.X[:, 2], -np.inf)
    ours = measure(["ap@9"], judged.y, scores, judged.offsets, unranked=unranked)["ap@9"]
    joined = judged_run(read_run(files["runs.1"]), read_qrels(files["qrels"]))
    queries, theirs = joined.query_id, joined.measured(["AP"])
    assert queries == judged.query_id.tolist()
    np.testing.assert_allclose(ours, theirs["ap/trec"], atol=1e-12)


@pytest.fixture
def out(tmp_path):
    return {name: tmp_path / f"{name}.parquet" for name in ("judged", "columns", "topics")}


def test_folds_from_a_file(files, out, tmp_path):
    (tmp_path / "folds").write_text("".join(f"q{q} S{q % 5 + 1}\n" for q in range(40)))
    import_runs({**files, "folds": tmp_path / "folds"}, out, seed=1)
    judged = load_judged(out["judged"])
    assert judged.part.tolist() == [f"S{int(name[1:]) % 5 + 1}" for name in judged.query_id]
    (tmp_path / "folds").write_text("".join(f"q{q} {('train', 'dev', 'test')[q % 3]}\n" for q in range(40)))
    import_runs({**files, "folds": tmp_path / "folds"}, out, seed=1)
    assert load_judged(out["judged"]).parts == ["train", "vali", "test"]
    (tmp_path / "folds").write_text("".join(f"q{q} {('S1', 'left')[q % 2]}\n" for q in range(40)))
    with pytest.raises(InputError, match=r"folds: the parts make no folds"):
        import_runs({**files, "folds": tmp_path / "folds"}, out, seed=1)
    (tmp_path / "folds").write_text("q1 S1\n")
    with pytest.raises(InputError, match="39 judged queries have no part"):
        import_runs({**files, "folds": tmp_path / "folds"}, out, seed=1)


def test_three_folds_are_drawn_alike_every_time(files, out):
    import_runs(files, out, seed=1, n_parts=3)
    first = load_judged(out["judged"])
    import_runs(files, out, seed=1, n_parts=3)
    assert first.folds == ["fold1", "fold2", "fold3"]
    assert load_judged(out["judged"]).part.tolist() == first.part.tolist()


def test_a_split_as_beir_has_it(files, out, tmp_path):
    rows = files.pop("qrels").read_text().splitlines(keepends=True)
    for i, name in enumerate(("train", "dev", "test")):
        files[f"qrels.{name}"] = tmp_path / name
        files[f"qrels.{name}"].write_text("".join(row for row in rows if int(row.split()[0][1:]) % 3 == i))
    import_runs(files, out, seed=1)
    judged = load_judged(out["judged"])
    assert judged.folds == ["fold1"]
    assert judged.of_role("fold1", "vali").query_id[0] == "q1"
    files["qrels.test"] = files["qrels.train"]
    with pytest.raises(InputError, match=r"train: a query is in two parts\n  found: q0"):
        import_runs(files, out, seed=1)


def test_given_vectors_are_the_query_vectors(files, out, tmp_path):
    """The studies' vectors are the numbers of the file, standardised on the training queries."""
    given = np.random.default_rng(2).random((40, 3)).round(3)
    (tmp_path / "vectors").write_text("".join(f"q{q} {' '.join(map(str, row))}\n" for q, row in enumerate(given)))
    notes = import_runs({**files, "vectors": tmp_path / "vectors"}, out, seed=1)
    assert ("numbers in the vector of a query", "3") in notes
    topics = read(out["topics"], "topics")
    options = VectorOptions(top=50, pooling="none", view="given", query_columns=True, scale="zscore")
    made, scaler = describe_queries(load_judged(out["judged"]), topics, 0, "fold1", options)
    rows = given[[int(name[1:]) for name in made.column("query_id").to_pylist()]]
    train = rows[: made.column("role").to_pylist().count("train")]
    expected = (rows - train.mean(axis=0)) / train.std(axis=0)
    np.testing.assert_allclose(made.column("vector").to_pylist(), expected, atol=1e-12)
    recipe = document_vectors(options, scaler, topics, reference=0, missing=False)
    alike = recipe.vectors(np.zeros((40, 10), dtype=np.float32), np.arange(41), rows)
    assert np.array_equal(alike, np.array(made.column("vector").to_pylist()))
    with pytest.raises(InputError, match="the queries have no vectors"):
        describe_queries(load_judged(out["judged"]), topics, 0, "fold1", replace(options, query_columns=False))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q0 1 2\nq1 1 x\n", "query q1: not a number"),
        ("q0 1 2\nq1 1 nan\n", "query q1: its vector is not finite"),
        ("q0 1 2\nq1 1\n", "query q0 has 2 numbers, query q1 has 1"),
        ("q0 1 2\nq0 1 2\n", "line 2: query q0 comes again"),
        ("q0\n", "line 1: query q0 has no vector"),
        ("q0 1 2\n", "1 of 2 queries have no vector\n  found: query q1"),
    ],
)
def test_bad_vectors_are_named(tmp_path, text, said):
    (tmp_path / "vectors").write_text(text)
    with pytest.raises(InputError, match=said):
        read_vectors(tmp_path / "vectors", ["q0", "q1"])


def test_texts_in_two_forms(tmp_path):
    (tmp_path / "tsv").write_text("q1\tboiled eggs \n\nq2 tea\n")
    (tmp_path / "json").write_text('{"_id": "q1", "text": "boiled eggs"}\n{"_id": "q2", "text": "tea"}\n')
    assert read_texts(tmp_path / "tsv") == read_texts(tmp_path / "json") == {"q1": "boiled eggs", "q2": "tea"}
