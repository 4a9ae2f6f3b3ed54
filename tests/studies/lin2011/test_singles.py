"""The global Ranking SVM: chosen on validation among as many lambdas as the methods have settings, kept and found again."""

from types import SimpleNamespace

import numpy as np
import pytest
from tests.studies.lin2011.lin_world import GRID, documents, fold

from qdrank.measures.compute import average_precision
from qdrank.rankers.documents import FoldDocuments
from qdrank.rankers.stored import from_state_table, state_table
from qdrank.serving.ranking import kind_of
from qdrank.store import read, write
from qdrank.studies.lin2011.bank import Key
from qdrank.studies.lin2011.fold import scores_for
from qdrank.studies.lin2011.methods import METHODS, RANKSVM
from qdrank.studies.lin2011.ranker import ClusterRanker, ranker_of
from qdrank.studies.lin2011.scoring import OfSeed
from qdrank.studies.lin2011.singles import budget_lambdas, choose_single, load_singles, singles_table

LAMBDAS = budget_lambdas(GRID.lambdas, GRID.budget)


def test_validation_chooses_the_lambda():
    singles, choices = choose_single("fold1", documents(), LAMBDAS, tol=1e-6, seed=1)
    part = documents().parts["vali"]
    means = []
    for lam in LAMBDAS:
        scores = part.X.astype(float) @ documents().stored(singles.models[lam].w)
        means.append(average_precision(part.y, scores, part.offsets).mean())
    assert choices.column("value").to_pylist() == pytest.approx(means)
    assert singles.chosen == LAMBDAS[int(np.argmax(np.round(means, 12)))]
    assert [row["lam"] for row in choices.to_pylist() if row["chosen"]] == [singles.chosen]
    assert len(choices) == GRID.budget


def test_models_come_back_from_their_artifact(tmp_path):
    scaled = FoldDocuments(
        documents().parts, documents().mean, np.linspace(0, 2, documents().parts["train"].X.shape[1])
    )
    singles, choices = choose_single("fold1", scaled, [0.1, 0.01], tol=1e-6, seed=1)
    write(tmp_path / "m.parquet", "models", singles_table(singles, scaled))
    write(tmp_path / "c.parquet", "choices", choices)
    found = load_singles(read(tmp_path / "m.parquet", "models"), scaled)
    assert found.chosen == singles.chosen
    for lam, model in singles.models.items():
        # a feature that the learner does not see has no weight either way
        assert found.models[lam].w[1:] == pytest.approx(model.w[1:], rel=1e-12)
    assert set(read(tmp_path / "c.parquet", "choices").column("method").to_pylist()) == {RANKSVM}


def test_without_validation_queries_training_queries_choose():
    parts = dict(documents().parts)
    parts["vali"] = parts["vali"].take(np.zeros(0, dtype=np.int64))
    singles, _ = choose_single(
        "fold1", FoldDocuments(parts, documents().mean, documents().inverse), [0.1, 0.01], tol=1e-6, seed=1
    )
    assert singles.chosen in (0.1, 0.01)


CLUSTERED = [method.name for method in METHODS[1:]]


def tried(method, study):
    """Rankers of a method with the second seed of the clusters."""
    by_name = {one.name: one for one in METHODS}
    return by_name[method].tries(SimpleNamespace(options=OfSeed(study, GRID, 2)))


def study_scores(study, one):
    """Scores of the test documents by the algorithm on the models of the study."""
    local = study.local("test", Key(one.scheme, one.seed, one.m), one.lam)
    return scores_for(local, one.kind, [one.size], one.counted)[one.size]


READINGS = [{}, {"representation": "vote", "membership": "every", "weighting": "gaussian", "confidence_from": "inner"}]


def scores(ranker: ClusterRanker) -> np.ndarray:
    part = documents().parts["test"]
    return ranker.predict(part, np.zeros((part.n_queries, 0)))


@pytest.mark.parametrize("readings", READINGS, ids=["default", "others"])
@pytest.mark.parametrize("method", CLUSTERED)
def test_a_stored_ranker_gives_the_scores_of_the_study(method, readings):
    study = fold(**readings)
    one = tried(method, study)[-1]
    np.testing.assert_array_equal(scores(from_state_table(state_table(one), kind_of)), study_scores(study, one))
    single = from_state_table(state_table(ranker_of(study, kind="single")), kind_of)
    np.testing.assert_array_equal(scores(single), study.roles["test"].single)


@pytest.mark.parametrize("method", CLUSTERED)
def test_rankers_scored_together_score_as_each_alone(method):
    part, rankers = documents().parts["test"], tried(method, fold())
    together = rankers[0].predict_each(rankers, part, np.zeros((part.n_queries, 0)))
    for (one, found), expected in zip(together, rankers, strict=True):
        assert one is expected
        np.testing.assert_array_equal(found, scores(expected))


@pytest.mark.parametrize("method", CLUSTERED)
def test_a_ranker_can_be_fitted_alone(method):
    train, study = documents().parts["train"], fold()
    one = tried(method, study)[-1]
    ranker = one.fresh()
    ranker.single_lam = 0.01
    ranker.fit(train, np.zeros((train.n_queries, 0)))
    assert scores(ranker) == pytest.approx(study_scores(study, one), abs=2e-3)
