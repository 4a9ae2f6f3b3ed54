"""Query-performance predictors against brute force, and the control that takes another query's."""

import itertools

import numpy as np
import pytest

from qdrank.datasets.runs.run import judged_runs
from qdrank.datasets.simulated.features import two_runs
from qdrank.errors import InputError
from qdrank.queries.predictors import RunPredictors, first_scores, margins, text_predictors
from qdrank.rankers.base import other_rows


def test_first_scores_and_margins_against_brute_force():
    rng = np.random.default_rng(1)
    offsets = np.array([0, 4, 19, 31])
    scores = rng.random((31, 2))
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        for run in range(2):
            ranked = np.sort(scores[a:b, run])[::-1]
            ranked = np.append(ranked, np.full(10, ranked[-1]))[:10]
            assert np.allclose(first_scores(scores, offsets, 10)[q, run], ranked)
            assert margins(scores, offsets)[q, run] == pytest.approx(ranked[0] - ranked[9])


def test_raw_scores_are_found_again():
    runs, qrels = two_runs(queries=12, documents=20)
    made = judged_runs(runs, qrels, dict.fromkeys(qrels.by_query, "all"), max_label=1)
    judged = made.judged
    plain = RunPredictors().vectors(judged.X, judged.offsets)
    raw = RunPredictors(raw=True).vectors(judged.X, judged.offsets, made.scores)[:, plain.shape[1] :]
    for q, name in enumerate(judged.query_id):
        scores = np.sort(runs[0].score[runs[0].query == name])[::-1]
        nqc = scores[:10].std() / abs(scores.mean())
        wanted = [scores.mean(), scores.std(), scores[0], nqc, scores[:5].mean() - scores.mean()]
        assert np.allclose(raw[q, :5], wanted, rtol=1e-3, atol=1e-5)
    with pytest.raises(InputError, match="raw scores"):
        RunPredictors(raw=True).vectors(judged.X, judged.offsets)


def test_of_many_runs_each_has_its_mean_overlap_with_the_others():
    rng, offsets = np.random.default_rng(1), np.array([0, 25, 60])
    X = np.zeros((60, 5 * 4), dtype=np.float32)
    for a, b in itertools.pairwise(offsets):
        X[a:b, 2::5] = np.argsort(rng.random((b - a, 4)), axis=0) + 1
    X[:, 4::5] = rng.random((60, 4)) < 0.8  # whether a run retrieves a document
    made = RunPredictors().vectors(X, offsets)[:, -4:]
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        first = [{i for i in range(a, b) if X[i, 5 * run + 2] <= 10 and X[i, 5 * run + 4]} for run in range(4)]
        wanted = [np.mean([len(one & other) for other in first if other is not one]) / 10 for one in first]
        np.testing.assert_allclose(made[q], wanted)


def test_words_give_length_and_rarity():
    runs, qrels = two_runs(queries=3, documents=12)
    judged = judged_runs(runs, qrels, dict.fromkeys(qrels.by_query, "all"), max_label=1).judged
    texts = ["common word", "common", "common rare rare"]
    recipe = text_predictors(texts, raw=False)
    columns = recipe.vectors(judged.X, judged.offsets, None, texts)[:, -3:]
    assert columns[:, 0].tolist() == [2, 1, 3]
    assert columns[1, 1] == pytest.approx(np.log(4 / 4) + 1)
    assert columns[2, 2] == pytest.approx(np.log(4 / 2) + 1)
    assert text_predictors([None, ""], raw=True).terms is None
    with pytest.raises(InputError, match="texts"):
        recipe.vectors(judged.X, judged.offsets)


def test_nobody_keeps_the_own_row():
    rows = np.arange(20.0)[:, None]
    others = other_rows(rows, 1)
    assert (others != rows).all()
    assert sorted(others[:, 0]) == sorted(rows[:, 0])
