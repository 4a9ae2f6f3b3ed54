"""A stored ranker is fitted again as it was tuned: the same seed gives the same scores, another one other scores."""

from __future__ import annotations

import numpy as np
import pytest

from qdrank.datasets.folds import ROLES
from qdrank.datasets.judged import load_judged
from qdrank.datasets.simulated.tables import write_simulated
from qdrank.learners.refits import fit_seed
from qdrank.queries.artifacts import VectorOptions, describe_queries, load_queries
from qdrank.queries.recipe import document_vectors
from qdrank.rankers import RANKERS
from qdrank.rankers.documents import fold_documents
from qdrank.rankers.learned import LearnerRanker, WithQueryVectors
from qdrank.rankers.learning import fit_method, with_query_vectors
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.mixture import Mixture
from qdrank.rankers.one_model import LinearRanker, TreeRanker
from qdrank.rankers.served import ServedRanker, write_ranker
from qdrank.serving.refitting import refit_methods, refit_scores
from qdrank.store import read, write

OPTIONS = VectorOptions(top=20, pooling="mean", view="given", query_columns=False, scale="zscore")
GRID = {"rounds": [20], "leaves": [4, 7], "min_leaf": [5], "patience": [5]}


@pytest.fixture(scope="module")
def fold(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refits")
    files = {name: folder / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    write_simulated(files, like="sim1", seed=3, train=30, vali=10, test=10, features=8)
    judged, topics = load_judged(files["judged"]), read(files["topics"], "topics")
    table, scaler = describe_queries(judged, topics, 2, "fold1", OPTIONS)
    write(folder / "queries.parquet", "queries", table)
    recipe = document_vectors(OPTIONS, scaler, topics, reference=2, missing=False)
    return judged, topics, load_queries(folder / "queries.parquet"), recipe, files


@pytest.mark.parametrize("vectors", [False, True])
def test_a_tuned_learner_is_fitted_again(fold, vectors):
    judged, topics, queries, recipe, _ = fold
    documents = fold_documents(judged, "fold1", "zscore")
    view = documents.view()
    documents = with_query_vectors(documents, queries) if vectors else documents
    learner = fit_method("lambdamart", GRID, documents, measure="ap", seed=4).chosen
    test = documents.seen("test")
    first = learner.predict(test.X)
    alone = LearnerRanker(learner=learner)
    served = ServedRanker(
        method="lambdamart",
        fold="fold1",
        documents=view,
        queries=recipe if vectors else None,
        ranker=WithQueryVectors(base=alone) if vectors else alone,
    )
    parts = {role: judged.of_role("fold1", role) for role in ROLES}
    same, other = refit_scores(served, parts, topics, [4, 5])
    np.testing.assert_array_equal(same, first)
    assert (other != first).any()
    np.testing.assert_array_equal(learner.predict(test.X), first)  # the stored one is left as it is


def test_seeds_reach_every_ranker_inside():
    mixture = Mixture(bases=[LinearRanker(), TreeRanker(seed=1), LocalRanker(random=3), LocalRanker()], seed=2)
    drawn = mixture.redrawn(9)
    assert (drawn.seed, drawn.bases[1].seed, drawn.bases[2].random, drawn.bases[3].random) == (9, 9, 9, None)
    assert (mixture.seed, mixture.bases[1].seed, mixture.bases[2].random) == (2, 1, 3)


def test_random_neighbours_are_drawn_anew(fold):
    judged, topics, _, recipe, _ = fold
    documents = fold_documents(judged, "fold1", "given")
    ranker = LocalRanker(k=0.3, lam=0.1, random=1)
    served = ServedRanker(method="random", fold="fold1", documents=documents.view(), queries=recipe, ranker=ranker)
    parts = {role: judged.of_role("fold1", role) for role in ROLES}
    first, again, other = refit_scores(served, parts, topics, [1, 1, 2])
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_stored_rankers_are_fitted_again(fold, tmp_path):
    judged, topics, _, recipe, files = fold
    about = {"fold": "fold1", "documents": fold_documents(judged, "fold1", "given").view(), "queries": recipe}
    stored = {}
    for name, lam in {"one": 0.1, "other": 1.0}.items():
        ranker = LocalRanker(k=0.3, lam=lam, random=1).fit(*judged_and_vectors(fold))
        stored[name] = ServedRanker(method=name, ranker=ranker, **about)
        write_ranker(tmp_path / f"{name}.parquet", stored[name])
    kinds = {kind: RANKERS.targets[kind] for kind in ("local", "documents", "document-vectors")}
    out = {name: tmp_path / f"{name}-again.parquet" for name in stored}
    given = {**files, **{name: tmp_path / f"{name}.parquet" for name in stored}}
    refit_methods(given, out, "fold1", kinds=dict.fromkeys(stored, kinds), refits=3, seed=1)
    parts = {role: judged.of_role("fold1", role) for role in ROLES}
    for name, path in out.items():
        expected = refit_scores(stored[name], parts, topics, [fit_seed(1, 1), fit_seed(1, 2)])
        assert read(path, "refits").column("score").to_pylist() == np.concatenate(expected).tolist()


def judged_and_vectors(fold):
    judged, _, queries, *_ = fold
    train = judged.of_role("fold1", "train")
    return train, queries.vectors[queries.is_train]
