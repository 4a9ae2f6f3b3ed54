"""Weights of runs as rankers: against the fusion of runs, brute force, and their stored form."""

import numpy as np
import pytest

from qdrank.datasets.runs.run import judged_runs
from qdrank.datasets.simulated.features import two_runs
from qdrank.errors import InputError
from qdrank.evaluation.run_files import judged_run
from qdrank.learners.choose import ValidationQueries
from qdrank.learners.fusion import fuse
from qdrank.queries.predictors import RunPredictors
from qdrank.rankers.run_scores import FusedRuns, RunScores, normalised
from qdrank.rankers.run_weights import (
    FixedWeights,
    MarginWeights,
    NeighbourWeights,
    PredictedWeights,
    SplitWeights,
    measured_curves,
    settings_for,
    weight_grid,
)
from qdrank.rankers.stored import from_state_table, state_table
from qdrank.serving.ranking import kind_of

NORMS = ("min-max", "z-score", "rank")


@pytest.fixture(scope="module")
def world():
    runs, qrels = two_runs(queries=40, documents=25, dependence=0.5)
    runs[1] = type(runs[1])(runs[1].query[3:], runs[1].doc[3:], runs[1].score[3:], runs[1].tag)  # it lacks documents
    judged = judged_runs(runs, qrels, dict.fromkeys(qrels.by_query, "all"), max_label=1).judged
    return runs, judged, RunPredictors().vectors(judged.X, judged.offsets), qrels


def in_order(fused, judged):
    """Scores of a fused run in the order of the judged documents; minus infinity for those that it lacks."""
    score = dict(zip(zip(fused.query, fused.doc, strict=True), fused.score, strict=True))
    return np.array([score.get(pair, -np.inf) for pair in zip(judged.query, judged.doc_id, strict=True)])


@pytest.mark.parametrize(("n_runs", "settings"), [(2, 21), (3, 66)])
def test_the_grid_has_every_setting_once_and_starts_at_equal_weights(n_runs, settings):
    grid = weight_grid(n_runs)
    assert grid.shape == (settings, n_runs)
    assert np.allclose(grid.sum(axis=1), 1)
    assert len({tuple(row) for row in grid.round(6)}) == settings
    assert np.abs(grid[0] - 1 / n_runs).max() < 0.07


@pytest.mark.parametrize("norm", NORMS)
def test_scores_are_those_of_the_fusion_of_runs(world, norm):
    runs, judged, _, qrels = world
    ours, weights = RunScores.of(judged, norm), np.array([[0.3, 0.7], [1.0, 0.0], [0.0, 1.0]])
    queries = ValidationQueries.of(judged, measure="ndcg@10/trec", seed=1)
    curves = measured_curves(queries, ours, weights)
    for place, of_runs in enumerate(weights):
        fused = fuse(runs, "weights", norm=norm, weights=of_runs.tolist())
        np.testing.assert_allclose(curves[:, place], judged_run(fused, qrels).measured(["nDCG@10"])["ndcg@10/trec"])
        theirs = in_order(fused, judged)
        np.testing.assert_array_equal(ours.by(np.tile(of_runs, (judged.n_documents, 1))), ours.at(of_runs[None])[:, 0])
        if of_runs.all():
            assert np.allclose(ours.at(of_runs[None])[:, 0], theirs, atol=1e-6)
        else:  # the run itself, in its own order
            np.testing.assert_array_equal(ours.at(of_runs[None])[:, 0] == -np.inf, theirs == -np.inf)
            alone = judged_run(runs[int(np.argmax(of_runs))], qrels).measured(["nDCG@10"])["ndcg@10/trec"]
            np.testing.assert_array_equal(curves[:, place], alone)
    for method in ("combsum", "combmnz", "rrf"):
        if (method, norm) != ("combmnz", "z-score"):
            theirs = in_order(fuse(runs, method, norm=norm), judged)
            assert np.allclose(
                FusedRuns(method=method, norm=norm).predict(judged, np.zeros((40, 0))), theirs, atol=1e-5
            )


def test_fixed_weights_are_the_best_on_average_and_all_neighbours_have_them(world):
    _, judged, vectors, _ = world
    fixed = FixedWeights().fit(judged, vectors)
    values = measured_curves(
        ValidationQueries.of(judged, measure=fixed.measure, seed=1), RunScores.of(judged, "min-max"), fixed.settings_
    ).mean(axis=0)
    assert values[fixed.place] == pytest.approx(values.max())
    for similarity in ("candidates", "vectors"):
        everyone = NeighbourWeights(k=1.0, similarity=similarity).fit(judged, vectors)
        assert (everyone.models(judged, vectors) == fixed.tuned).all()


def test_two_fixed_weights_are_each_the_best_of_its_part(world):
    _, judged, vectors, _ = world
    lists = [
        judged.X[judged.query_index == q, 4::5] for q in range(judged.n_queries)
    ]  # the last column: retrieved or not
    least = np.array([(of > 0).sum(axis=0).min() for of in lists])
    few = int(least.max())  # one run lacks documents of a query
    split = SplitWeights(few=few).fit(judged, vectors)
    queries = ValidationQueries.of(judged, measure=split.measure, seed=1)
    curves = measured_curves(queries, RunScores.of(judged, "min-max"), split.settings_)
    for part in (least < few, least >= few):
        assert part.any()
        best = split.settings_[np.argmax(curves[part].mean(axis=0).round(12))]
        assert (split.models(judged, vectors)[part] == best).all()
    none_short = SplitWeights(few=0).fit(judged, vectors)
    assert (none_short.models(judged, vectors) == FixedWeights().fit(judged, vectors).tuned).all()


def test_the_nearest_query_of_a_training_query_is_itself_and_a_random_one_is_not(world):
    _, judged, vectors, _ = world
    one = NeighbourWeights(k=1.5, similarity="vectors").fit(judged, vectors)
    assert (one.neighbours(judged, vectors)[:, 0] == np.arange(40)).all()
    drawn = NeighbourWeights(k=5, random=3).fit(judged, vectors).neighbours(judged, vectors)
    assert (drawn[:, 0] == np.arange(40)).mean() < 0.3


def test_ridge_is_least_squares_with_penalty(world):
    _, judged, vectors, _ = world
    ranker = PredictedWeights(lam=0.1).fit(judged, vectors)
    queries = ValidationQueries.of(judged, measure=ranker.measure, seed=1)
    curves = measured_curves(queries, RunScores.of(judged, "min-max"), ranker.settings_)
    target = curves - curves.mean(axis=1, keepdims=True)
    kept = vectors.std(axis=0) > 1e-12
    Z = ((vectors - vectors.mean(axis=0)) / np.where(kept, vectors.std(axis=0), 1))[:, kept]
    rows = np.vstack([Z, np.sqrt(0.1 * len(Z)) * np.eye(Z.shape[1])])
    wanted = np.vstack([target - target.mean(axis=0), np.zeros((Z.shape[1], target.shape[1]))])
    brute = target.mean(axis=0) + Z @ np.linalg.lstsq(rows, wanted, rcond=None)[0]
    assert np.allclose(ranker.estimates(judged, vectors), brute, atol=1e-8)


def test_margins_move_weight_to_the_run_that_is_sure_of_its_first(world):
    _, judged, vectors, _ = world
    ranker = MarginWeights(power=1.0).fit(judged, vectors)
    weights, fixed = ranker.models(judged, vectors), FixedWeights().fit(judged, vectors).tuned
    assert np.allclose(weights.sum(axis=1), 1)
    assert np.allclose(MarginWeights(power=1e-9).fit(judged, vectors).models(judged, vectors), fixed, atol=1e-6)


@pytest.mark.parametrize(
    "ranker",
    [
        FixedWeights(norm="rank"),
        SplitWeights(),
        NeighbourWeights(k=5),
        PredictedWeights(),
        PredictedWeights(single=True),
        MarginWeights(),
    ],
)
def test_a_stored_ranker_gives_the_same_scores(world, ranker):
    _, judged, vectors, _ = world
    fitted = ranker.fit(judged, vectors)
    again = from_state_table(state_table(fitted), kind_of)
    assert (again.predict(judged, vectors) == fitted.predict(judged, vectors)).all()


def test_many_runs_have_settings_around_tuned_weights(world):
    _, judged, _, _ = world
    other = np.repeat(np.random.default_rng(1).random((judged.n_documents, 3)), 5, axis=1)
    scores = RunScores.of(judged.with_features(np.hstack([judged.X, other])), "min-max")
    queries = ValidationQueries.of(judged, measure="ndcg@10/linear", seed=1)
    settings = settings_for(queries, scores)
    assert settings.shape == (1 + 4 * 5, 5)
    assert np.allclose(settings.sum(axis=1), 1)
    assert queries.mean(scores.at(settings[:1])[:, 0]) >= queries.mean(scores.scores.mean(axis=1))


def test_other_columns_and_other_runs_are_refused(world):
    _, judged, vectors, _ = world
    with pytest.raises(InputError, match="not the columns of runs"):
        normalised(judged.with_features(judged.X[:, :7]), "min-max")
    fitted = FixedWeights().fit(judged, vectors)
    with pytest.raises(InputError, match="weights are for 2 runs"):
        fitted.predict(judged.with_features(np.tile(judged.X, (1, 2))[:, :15]), vectors)
