"""Scores joined on query and document, means over folds, and what a study ranked as runs that others read."""

import gzip
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.judged import Judged, scores_table
from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.errors import InputError
from qdrank.evaluation.measuring import (
    document_ids,
    joined_refits,
    joined_scores,
    measure_scores,
    retrieved_scores,
    write_runs,
)
from qdrank.evaluation.run_files import judged_run
from qdrank.evaluation.values import fold_means
from qdrank.store import write

QUERY, DOCUMENT, SCORES = ["a", "a", "b", "b"], ["d1", "d2", "d1", "d3"], np.array([0.1, 0.2, 0.3, 0.4])


@pytest.fixture
def ids():
    return document_ids(Judged.from_arrays(np.zeros((4, 1)), [0, 1, 0, 1], QUERY, DOCUMENT))


def stored(path, rows, fit=None):
    """Scores of some rows; those of a further fit are higher by its number."""
    ids = {name: np.array(values, dtype=object)[rows] for name, values in (("query_id", QUERY), ("doc_id", DOCUMENT))}
    if fit is None:
        write(path, "scores", pa.table({**ids, "score": SCORES[rows]}))
    else:
        write(path, "refits", pa.table({**ids, "score": SCORES[rows] + fit, "fit": fit}))


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_scores_are_joined_on_query_and_document(ids, tmp_path, rows):
    stored(tmp_path / "scores.parquet", rows)
    assert joined_scores(ids, tmp_path / "scores.parquet").tolist() == SCORES.tolist()


def test_further_fits_are_joined_each_for_itself(ids, tmp_path):
    stored(tmp_path / "refits.parquet", [0, 1, 2, 3, 3, 1, 0, 2], fit=np.repeat([1, 2], 4))
    first, second = joined_refits(ids, tmp_path / "refits.parquet")
    np.testing.assert_array_equal(first, SCORES + 1)
    np.testing.assert_array_equal(second, SCORES + 2)


def test_documents_of_a_query_stay_in_the_order_they_were_found_in(tmp_path):
    stored(tmp_path / "scores.parquet", [3, 2, 1, 0])
    documents = Judged.from_arrays(np.zeros((2, 1)), [0, 1], ["a", "b"], ["d1", "d3"])
    found, scores = retrieved_scores(documents, tmp_path / "scores.parquet")
    assert found.doc_id.tolist() == ["d2", "d1", "d3", "d1"]
    assert scores.tolist() == [0.2, 0.1, 0.4, 0.3]


def test_a_document_without_a_score_is_named(ids, tmp_path):
    stored(tmp_path / "scores.parquet", [0, 1, 2])
    with pytest.raises(InputError, match=r"no score for query and document \('b', 'd3'\)"):
        joined_scores(ids, tmp_path / "scores.parquet")


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["fold1", "fold2", "fold3"])), min_size=1, max_size=20))
def test_means_are_those_of_the_lists(rows):
    lists = {name: [value for value, fold in rows if fold == name] for _, name in rows}
    means = fold_means(np.array([value for value, _ in rows]), np.array([fold for _, fold in rows]))
    by_fold = {name: sum(values) / len(values) for name, values in lists.items()}
    assert means.folds == pytest.approx(by_fold)
    assert means.published == pytest.approx(sum(by_fold.values()) / len(by_fold))
    assert means.pooled == pytest.approx(sum(value for value, _ in rows) / len(rows))


@pytest.mark.parametrize(
    ("values", "fold"), [([], []), ([1.0, 2.0], ["a"]), ([[1.0], [2.0]], [["a"], ["b"]])], ids=["none", "short", "2d"]
)
def test_other_shapes_are_refused(values, fold):
    with pytest.raises(InputError, match="one of each per query"):
        fold_means(np.array(values), np.array(fold))


MEASURES = ["ap", "ndcg@10/linear", "ndcg@10/exp", "ndcg@5/letor4", "ap/trec", "p@5/trec", "ndcg/trec", "rr/trec"]
METHODS = ["reference", "tied", "wide", "rm3"]


def lists(*values):
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


@pytest.fixture
def study(tmp_path):
    """Thirty queries; scores that tie, that differ only in double precision, that are far apart; a retriever's documents."""
    rng = np.random.default_rng(4)
    sizes = rng.integers(3, 15, 30)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    docs = np.concatenate([rng.permutation(20)[:n] for n in sizes])
    judged = Judged(
        query_id=np.array([f"q{i}" for i in range(30)], dtype=object),
        part=np.array([f"S{i % 5 + 1}" for i in range(30)], dtype=object),
        offsets=offsets,
        doc_id=np.array([f"d{i}" for i in docs], dtype=object),
        y=rng.choice([0, 0, 0, 1, 2], len(docs)),
        X=np.empty((len(docs), 1), dtype=np.float32),
        missed=lists(*[(2, 1) if i % 4 == 0 else () for i in range(30)]),
        missed_id=lists(*[("m1", "m2") if i % 4 == 0 else () for i in range(30)]),
    )
    write(tmp_path / "judged.parquet", "judged", judged.to_table())
    test = judged.of_role("fold1", "test")
    scores = {
        "reference": rng.random(test.n_documents),
        "tied": rng.integers(0, 3, test.n_documents).astype(float),
        "wide": 1 + 1e-12 * rng.integers(0, 9, test.n_documents),
    }
    for name, values in scores.items():
        write(tmp_path / f"{name}.parquet", "scores", scores_table(test, values))
    brought = test.take(np.arange(test.n_queries))
    brought.doc_id[:] = [f"r{i}" if i % 2 else name for i, name in enumerate(brought.doc_id)]
    brought.doc_id[brought.offsets[:-1]] = "m1"
    write(tmp_path / "rm3.parquet", "scores", scores_table(brought, rng.random(brought.n_documents)))
    files = {name: tmp_path / f"{name}.parquet" for name in METHODS}
    inputs = {"judged": tmp_path / "judged.parquet", "scores": list(files.values())}
    out = tmp_path / "runs"
    write_runs(inputs, out, "fold1", dataset="mine", title="Mine", methods=METHODS, measures=MEASURES)
    table = measure_scores(MEASURES, judged, {("fold1", name): path for name, path in files.items()}, ["fold1"])
    return out, table


def of_method(table, method, name):
    rows = [row for row in table.to_pylist() if row["method"] == method]
    return {row["query_id"]: row[name] for row in rows}


@pytest.mark.parametrize("method", METHODS)
def test_a_run_read_back_has_the_studys_measures(study, method):
    """All of them, whatever their rule for ties: what is written has none. Measures that break ties by name had others."""
    out, table = study
    names = [name for name in MEASURES if method in ("reference", "rm3") or not name.endswith("/trec")]
    joined = judged_run(read_run(out / f"{method}.run.gz"), read_qrels(out / "judgments.qrels.gz"))
    queries, values = joined.query_id, joined.measured(names)
    for name in names:
        expected = of_method(table, method, name)
        assert sorted(expected) == sorted(queries)
        np.testing.assert_allclose(values[name], [expected[query] for query in queries], atol=1e-12, err_msg=name)


def test_written_scores_have_no_ties(study):
    run = read_run(study[0] / "tied.run.gz")
    for a, b in pairwise(run.offsets.tolist()):
        assert (np.diff(run.score[a:b].astype(np.float32)) < 0).all()


def test_the_metadata_say_how_a_run_was_made(study):
    out, _ = study
    with open(out / "tied.ir-metadata.yml", encoding="utf-8") as file:
        described = yaml.safe_load(file)
    assert described["tag"] == "tied"
    assert described["data"]["test collection"] == {
        "name": "mine",
        "title": "Mine",
        "fold": "fold1",
        "qrels": "judgments.qrels.gz",
    }
    assert described["method"]["retrieval"] == [{"name": "tied", "reranks": "reference"}]
    assert described["research goal"]["evaluation"]["reported measures"] == MEASURES


@pytest.mark.parametrize("method", METHODS)
def test_trec_eval_prints_the_studys_measures(study, method):
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="trec_eval is not here: pip install pytrec-eval-terrier")
    out, table = study
    with gzip.open(out / "judgments.qrels.gz", "rt") as qrels, gzip.open(out / f"{method}.run.gz", "rt") as run:
        judgments, ranked = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)
    theirs = pytrec_eval.RelevanceEvaluator(judgments, {"map", "ndcg_cut", "recip_rank", "P"}).evaluate(ranked)
    # Our names for the same, with ties in the study's order.
    same = {"map": "ap", "ndcg_cut_10": "ndcg@10/linear"}
    same |= {"P_5": "p@5/trec", "recip_rank": "rr/trec"} if method in ("reference", "rm3") else {}
    for name, ours in same.items():
        for query, value in of_method(table, method, ours).items():
            assert f"{theirs[query][name]:.4f}" == f"{value:.4f}", (name, query)
