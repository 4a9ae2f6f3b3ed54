"""What a study ranked, written as runs: read back, it has the study's own measures, here and in trec_eval."""

import gzip
from itertools import pairwise

import numpy as np
import pytest
import yaml

from qdrank.datasets.judged import Judged, scores_table
from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.evaluation.measuring import measure_scores, write_runs
from qdrank.evaluation.run_files import measure_run
from qdrank.store import write

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
    queries, values = measure_run(names, read_run(out / f"{method}.run.gz"), read_qrels(out / "judgments.qrels.gz"))
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
