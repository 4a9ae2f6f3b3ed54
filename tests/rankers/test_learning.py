"""Every classic method: tuned on made data, kept as an artifact, read again."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from qdrank.datasets.judged import Judged, judged_table, load_judged
from qdrank.evaluation.measuring import document_ids, joined_refits, joined_scores
from qdrank.learners import LEARNERS
from qdrank.learners.choose import ValidationQueries, fit_seed
from qdrank.queries.recipe import Queries
from qdrank.rankers.bilinear import Mixture
from qdrank.rankers.documents import fold_documents
from qdrank.rankers.learned import LearnerRanker
from qdrank.rankers.learning import (
    choices_table,
    fit_method,
    learn_method,
    model_table,
    rank_documents,
    with_query_vectors,
)
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.methods import CLASSIC
from qdrank.rankers.one_model import LinearRanker, TreeRanker
from qdrank.rankers.stored import from_state_table, state_table
from qdrank.serving.ranking import kind_of
from qdrank.store import read, write
from qdrank.workflow.script import Job

SMALL = {
    "rankboost": {"rounds": [5], "thresholds": [10]},
    "adarank-map": {"rounds": [5]},
    "adarank-ndcg": {"rounds": [5], "objective": ["ndcg@5/letor4"]},
    "lambdamart": {"rounds": [5], "leaves": [4], "min_leaf": [2]},
    "boosted-regression": {"rounds": [5], "leaves": [4], "min_leaf": [2]},
    "listnet": {"l2": [0.1, 0.01]},
    "bordacount": {},
}
PER_QUERY, PARTS = 12, ("train",) * 12 + ("vali",) * 5 + ("test",) * 5


def judged(*, raw: bool = False) -> Judged:
    """Grades follow the first two of four features."""
    rng = np.random.default_rng(3)
    n = PER_QUERY * len(PARTS)
    X = rng.random((n, 4))
    y = np.digitize(X[:, 0] + X[:, 1] + 0.3 * rng.random(n), [1.1, 1.5])
    if raw:
        X = X * [1000, 0.01, 1, 1] + [5, 0, -9, 0]
    return Judged(
        query_id=np.array([f"q{i}" for i in range(len(PARTS))], dtype=object),
        part=np.array(PARTS, dtype=object),
        offsets=np.arange(0, n + 1, PER_QUERY),
        doc_id=np.arange(n).astype(str).astype(object),
        y=y,
        X=X.astype(np.float32),
    )


def rankings() -> Judged:
    """Ranks by each feature, some documents left out."""
    data = judged()
    by_query = data.X.reshape(-1, PER_QUERY, 4)
    ranks = 1.0 + np.argsort(np.argsort(-by_query, axis=1), axis=1).reshape(data.X.shape)
    ranks[np.random.default_rng(4).random(ranks.shape) < 0.1] = np.nan
    return data.with_features(ranks)


def query_vectors(data: Judged) -> Queries:
    n = data.n_queries
    order = np.random.default_rng(5).permutation(n)
    index = np.where(data.part == "train", np.arange(n), -1).astype(np.int32)
    vectors = np.column_stack([np.arange(n), -np.arange(n)]).astype(np.float64)
    none = np.full(n, None, dtype=object)
    return Queries(data.query_id[order], data.part[order], none, index[order], vectors[order])


def documents_for(name: str, *, raw: bool = False):
    method = CLASSIC[name]
    if method.aggregates:
        return rank_documents(rankings(), "fold1")
    documents = fold_documents(judged(raw=raw), "fold1")
    return with_query_vectors(documents, query_vectors(judged())) if method.query_vectors else documents


def learned(name: str, *, raw: bool = False):
    method, documents = CLASSIC[name], documents_for(name, raw=raw)
    grid = method.grid(SMALL.get(method.learner))
    choice = fit_method(method.learner, grid, documents, measure="ap", seed=1)
    return documents, grid, choice, LearnerRanker(learner=choice.chosen)


def scored(ranker: LearnerRanker, documents: Judged):
    return ranker.predict(documents, np.zeros((documents.n_queries, 0)))


def test_every_learner_and_aggregator_is_a_method():
    # SER, SSER and aTVT belong to studies of their own.
    assert {method.learner for method in CLASSIC.values()} == set(LEARNERS) - {"ser", "sser", "atvt"}


@pytest.mark.parametrize("name", CLASSIC)
def test_a_model_read_again_scores_the_same(name, tmp_path):
    documents, grid, choice, ranker = learned(name, raw=True)
    path, inverse = tmp_path / "model.parquet", documents.inverse
    write(path, "models", model_table(name, choice.chosen, inverse, documents.parts["train"]))
    test = documents.seen("test")
    scores = scored(ranker, test)
    write(tmp_path / "ranker.parquet", "rankers", state_table(ranker))
    stored = from_state_table(read(tmp_path / "ranker.parquet", "rankers"), kind_of)
    np.testing.assert_array_equal(scored(stored, test), scores)
    assert np.ptp(scores) > 0
    row = read(path, "models").to_pylist()[0]
    assert (row["model"], row["k"]) == (name, 12)
    assert row["pairs"] == documents.parts["train"].pairs.sum()
    table = choices_table("fold1", name, grid, choice, "ap")
    write(tmp_path / "choices.parquet", "choices", table)
    assert sum(table.column("chosen").to_pylist()) == 1


def test_weights_apply_to_the_features_as_they_are():
    documents, _, choice, ranker = learned("ranksvm", raw=True)
    table = model_table("ranksvm", choice.chosen, documents.inverse, documents.parts["train"])
    weights = np.array(table.column("weights")[0].as_py())
    difference = scored(ranker, documents.seen("test")) - documents.parts["test"].X @ weights
    np.testing.assert_allclose(difference, difference[0], atol=1e-4)  # one constant for all: no ranking changes


def test_query_vectors_reach_every_document_of_their_query():
    documents = documents_for("lambdamart-queries")
    for part in documents.parts.values():
        number = np.array([int(name[1:]) for name in part.query_id])[part.query_index]
        np.testing.assert_array_equal(np.asarray(part.X)[:, 4:], np.column_stack([number, -number]))
    assert len(documents.mean) == len(documents.inverse) == 6


def test_the_two_readings_of_rankings_are_opposites():
    low, high = (scored(learned(name)[3], rankings()) for name in ("bordacount", "bordacount-high"))
    assert np.corrcoef(low, high)[0, 1] < -0.5


def test_without_validation_queries_the_training_queries_decide():
    data = judged()
    documents = fold_documents(data, "fold1")
    empty = data.select([])
    parts = dict(documents.parts) | {"vali": empty}
    choice = fit_method(
        "regression",
        {"l2": [1.0, 1e6]},
        type(documents)(parts, documents.mean, documents.inverse),
        measure="ap",
        seed=1,
    )
    assert len(choice.values) == 2


@pytest.mark.parametrize("name", ["regression", "lambdamart"])
def test_missed_documents_count_in_the_choice(name):
    data = judged()
    missed = np.empty(data.n_queries, dtype=object)
    missed[:] = [[1, 2, 1] if i % 2 else [] for i in range(data.n_queries)]
    documents = fold_documents(replace(data, missed=missed), "fold1")
    grid = {"l2": [10.0, 1.0]} if name == "regression" else {"rounds": [3], "min_leaf": [2]}
    choice = fit_method(name, grid, documents, measure="ap", seed=1)
    vali = documents.parts["vali"]
    scores = scored(LearnerRanker(learner=choice.chosen), documents.seen("vali"))
    assert choice.value == ValidationQueries.of(vali, measure="ap", seed=1).mean(scores)
    assert choice.value < ValidationQueries(vali.y, vali.offsets, measure="ap", seed=1).mean(scores)


def options_of(learner, grid):
    options = {"learner": learner, "grid": grid, "ranks": False, "queries": None}
    return options | {"scale": "zscore", "measure": "ap", "seed": 1, "log": lambda *_: None}


def judged_file(folder, data):
    path = str(folder / "judged.parquet")
    columns = (data.query, data.doc_id, np.repeat(data.part, PER_QUERY))
    query_id, doc_id, part = (pa.array(column.tolist()) for column in columns)
    write(path, "judged", judged_table(query_id, doc_id, data.y, part, data.X))
    return path


def test_folds_that_one_job_learns_are_as_if_learned_alone(tmp_path):
    data = replace(judged(), part=np.array([f"S{number % 3 + 1}" for number in range(len(PARTS))], dtype=object))
    files, options = {"judged": judged_file(tmp_path, data)}, options_of("regression", CLASSIC["regression"].grid())
    folds, kinds = ["fold1", "fold2", "fold3"], ("models", "choices", "scores", "served")
    out = {kind: [str(tmp_path / f"results/data/{fold}/{kind}.parquet") for fold in folds] for kind in kinds}
    outputs = [path for paths in out.values() for path in paths]
    for path in outputs:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    whole = Job(files, [], out, outputs, {}, {"dataset": "data"}, {}, print)
    for one in whole.folds:
        learn_method(one.files, one.out, one.wildcards["fold"], "regression", **options)
    for place, fold in enumerate(folds):
        alone = {kind: str(tmp_path / f"{kind}.parquet") for kind in kinds}
        learn_method(files, alone, fold, "regression", **options)
        for kind in kinds:
            assert Path(alone[kind]).read_bytes() == Path(out[kind][place]).read_bytes()
    assert len({Path(path).read_bytes() for path in out["scores"]}) == len(folds)


def test_further_fits_have_the_chosen_settings_and_other_seeds(tmp_path):
    files, options = {"judged": judged_file(tmp_path, judged())}, options_of("lambdamart", SMALL["lambdamart"])
    out = {kind: str(tmp_path / f"{kind}.parquet") for kind in ("models", "choices", "scores", "served", "refits")}
    learn_method(files, out, "fold1", "it", **options, refits=3)
    test = load_judged(files["judged"]).of_role("fold1", "test")
    first = joined_scores(document_ids(test), out["scores"])
    further = list(joined_refits(document_ids(test), out["refits"]))
    documents = fold_documents(judged(), "fold1", "zscore")
    chosen = fit_method("lambdamart", SMALL["lambdamart"], documents, measure="ap", seed=1).chosen
    train, vali = (documents.seen(role) for role in ("train", "vali"))
    for scores, seed in zip([first, *further], [chosen.seed, fit_seed(1, 1), fit_seed(1, 2)], strict=True):
        learner = replace(chosen, seed=seed).fit(train.X, train.y, train.query, (vali.X, vali.y, vali.query))
        np.testing.assert_array_equal(learner.predict(documents.seen("test").X), scores)
    assert (further[0] != further[1]).any()


def test_seeds_reach_every_ranker_inside():
    mixture = Mixture(bases=[LinearRanker(), TreeRanker(seed=1), LocalRanker(random=3), LocalRanker()], seed=2)
    drawn = mixture.redrawn(9)
    assert (drawn.seed, drawn.bases[1].seed, drawn.bases[2].random, drawn.bases[3].random) == (9, 9, 9, None)
    assert (mixture.seed, mixture.bases[1].seed, mixture.bases[2].random) == (2, 1, 3)
