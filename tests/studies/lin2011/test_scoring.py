"""Validation chooses, test queries choose nothing; the controls match what they must match; tables have their shape."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from tests.studies.lin2011.lin_world import GRID, chosen, clustering, documents, fold, singles

from qdrank.datasets.judged import Judged
from qdrank.datasets.simulated.features import REFERENCE
from qdrank.measures.compute import average_precision
from qdrank.rankers.documents import FoldDocuments
from qdrank.rankers.stored import from_state_table, state_table
from qdrank.serving.ranking import kind_of
from qdrank.store import read, write
from qdrank.store.tables import list_matrix
from qdrank.studies.lin2011.bank import FoldBank, Key, gathered_shards
from qdrank.studies.lin2011.fold import LinFold, scores_for
from qdrank.studies.lin2011.methods import BY_NAME, METHODS, NAIVE, PAPER, RANKSVM, Readings
from qdrank.studies.lin2011.ranker import ClusterRanker, ranker_of
from qdrank.studies.lin2011.scoring import (
    Bounds,
    OfSeed,
    clusters_summary,
    directions,
    matched,
    ranked,
    seed_choices,
    seed_runs,
    values_tables,
)
from qdrank.studies.lin2011.settings import Lin
from qdrank.studies.lin2011.singles import budget_lambdas, choose_single, load_singles, singles_table
from qdrank.studies.lin2011.units import Workshop


@pytest.fixture(scope="module")
def study():
    return fold()


@pytest.fixture(scope="module")
def runs(study):
    return seed_runs("fold1", study, GRID, ["ap", "ndcg@5/letor4"])


@pytest.fixture(scope="module")
def bounds(runs):
    """Of both seeds, with five clusters ranked; with them the values of the runs are complete."""
    return [Bounds.of(run, 5) for run in runs]


@pytest.fixture(scope="module")
def values(runs, bounds):
    return pa.concat_tables(values_tables(runs)).to_pylist()


def other_fold(study, **parts):
    """The fold with other documents of some roles."""
    given = FoldDocuments({**documents().parts, **parts}, documents().mean, documents().inverse)
    return LinFold(given, study.reference, study.single, study.bank, study.readings)


def test_every_setting_is_tried_on_validation(study, runs):
    part = documents().parts["vali"]
    for run in runs:
        for name in PAPER:
            tried, sizes = BY_NAME[name].tries(run), GRID.sizes(name.split("-")[1].removesuffix("ranker"))
            wanted = [(m, lam, s) for m in (2, 5) for lam in (0.1, 0.01) for s in sizes]
            assert [(one.m, one.lam, one.size) for one in tried] == wanted
            values = [row["value"] for row in run.choices if row["method"] == name]
            local = study.local("vali", Key(BY_NAME[name].models, run.options.seed, 5), 0.1)
            if name == NAIVE:
                scores = local.scores_of(local.naive([4])[4])
            else:
                scores = local.aggregated(local.select_weights([3])[3] if sizes[0] else local.transform_weights())
            value = values[wanted.index((5, 0.1, sizes[0]))]
            assert value == pytest.approx(average_precision(part.y, scores, part.offsets).mean())


def test_for_each_number_of_clusters_the_first_of_the_best_is_chosen(runs):
    for run in runs:
        values = [row["value"] for row in run.choices if row["method"] == NAIVE]
        tried = BY_NAME[NAIVE].tries(run)
        for m, one in run.options.by_clusters(run, NAIVE).items():
            best = max(value for value, other in zip(values, tried, strict=True) if other.m == m)
            (first, *_) = [o for value, o in zip(values, tried, strict=True) if o.m == m and value == best]
            assert (one.m, one.lam, one.size) == (m, first.lam, first.size)


def test_test_queries_choose_nothing(study, runs, bounds):
    """With other grades on the test queries the same settings are chosen, and the controls are the same."""
    test: Judged = documents().parts["test"]
    turned = other_fold(study, test=replace(test, y=np.roll(test.y, 3)))
    again = seed_runs("fold1", turned, GRID, ["ap"])
    assert [run.choices for run in again] == [run.choices for run in runs]
    sizes = [[row["size"] for row in one.controls] for one in (*bounds, *(Bounds.of(run, 5) for run in again))]
    assert sizes[:2] == sizes[2:]


def test_memberships_count_relevant_documents_that_are_missed():
    """SelectRanker's precisions of training queries are those that the study's other precisions are."""
    train: Judged = documents().parts["train"]
    missed = np.empty(train.n_queries, dtype=object)
    missed[:] = [(1,) * (q % 3) for q in range(train.n_queries)]
    key, readings = Key("pairs", 1, 5), Readings(**Lin().readings())
    found = []
    for part in (train, replace(train, missed=missed)):
        given = FoldDocuments({"train": part}, documents().mean, documents().inverse)
        shop = Workshop(given, REFERENCE, singles(), chosen(), readings)
        found.append(FoldBank(gathered_shards([shop.run([key])])).models(key, 0.1).member_precision)
    query, _ = clustering(key).members("most")
    relevant = np.add.reduceat(train.y > 0, train.offsets[:-1])[query]
    np.testing.assert_allclose(found[1], found[0] * relevant / np.maximum(relevant + query % 3, 1))
    assert (found[1] < found[0]).any()


def test_without_validation_queries_training_queries_choose(study):
    bare = other_fold(study, vali=documents().parts["vali"].take(np.zeros(0, dtype=np.int64)))
    assert bare.validation == "train"
    assert seed_runs("fold1", bare, GRID, ["ap"])[0].made[NAIVE].m in (2, 5)


def test_ranksvm_has_as_many_settings_as_the_methods():
    assert GRID.budget == 8
    found = budget_lambdas(GRID.lambdas, GRID.budget)
    assert len(found) == 8
    assert set(GRID.lambdas) <= set(found)
    assert found == sorted(found, reverse=True)
    assert budget_lambdas([0.1, 0.01], 2) == [0.1, 0.01]


def test_values_are_of_the_chosen_settings(study, runs, values):
    part = documents().parts["test"]
    rows = {(r["method"], r["fit"], r["query_id"]): r for r in values if r["x"] is None}
    assert len(rows) == part.n_queries * (1 + 2 * (len(METHODS) - 1))
    for name in PAPER:
        scores = runs[1].made[name].predict(part, np.zeros((part.n_queries, 0)))
        wanted = average_precision(part.y, scores, part.offsets)
        assert [rows[name, 2, q]["ap"] for q in part.query_id] == pytest.approx(wanted, abs=1e-14)
    single = average_precision(part.y, study.roles["test"].single, part.offsets)
    assert [rows[RANKSVM, 0, q]["ap"] for q in part.query_id] == pytest.approx(single)


def test_choices_say_what_was_tried_and_chosen(runs):
    rows = [*seed_choices(runs)]
    chosen = [row for row in rows if row["chosen"]]
    assert len(chosen) == 2 * (len(METHODS) - 1)
    assert len(rows) == sum(len(method.tries(run)) for run in runs for method in METHODS[1:])
    assert {row["setting"].split()[0] for row in chosen} == {"seed=1", "seed=2"}


def test_values_have_the_oracles_and_their_controls(study, runs, bounds, values):
    part = documents().parts["test"]
    rows = {(r["method"], r["fit"], r["x"], r["query_id"]): r["ap"] for r in values}
    for run in runs:
        seed = run.options.seed
        for m, naive in run.options.by_clusters(run, NAIVE).items():
            local = study.local("test", Key("pairs", seed, m), naive.lam)
            upper = [rows["upper-bound", seed, m, q] for q in part.query_id]
            assert upper == pytest.approx(local.role.ap(local.scores).max(axis=0))
            for method in (NAIVE, "relevant-only"):
                own = np.array([rows[method, seed, m, q] for q in part.query_id])
                assert (own <= np.array(upper) + 1e-15).all()
    table = pa.concat_tables([one for of_seed in bounds for one in of_seed.ranked])
    matrix = list_matrix(table.column("ap"))
    assert matrix.shape[1] == 5
    assert (np.diff(matrix, axis=1) <= 0).all()
    assert set(table.column("models").to_pylist()) == {"local", "local-random", "local-perturbed"}
    top = {(r["models"], r["seed"], r["query_id"]): r["ap"][0] for r in table.to_pylist()}
    assert all(top["local", s, q] == pytest.approx(rows["upper-bound", s, 5, q]) for s in (1, 2) for q in part.query_id)


def test_clusters_are_counted(study):
    rows = clusters_summary("fold1", study).to_pylist()
    assert {(r["scheme"], r["seed"], r["clusters"], r["lam"]) for r in rows} == {
        (f, s, m, lam)
        for f in ("pairs", "pairs-random", "transformed", "transformed-random")
        for s in (1, 2)
        for m in (2, 5)
        for lam in (0.1, 0.01)
    }
    assert all(row["fallback"] >= row["empty"] for row in rows)
    assert all(row["largest_gap"] <= 1e-6 for row in rows)


# ---- controls -----------------------------------------------------------------------------------------------------


def test_perturbations_match_the_mean_precision():
    """Scores of one query by two features: the mean precision falls with the size of the perturbation."""
    rng = np.random.default_rng(0)
    X, y, offsets = rng.normal(size=(400, 4)), rng.integers(0, 2, 400), np.arange(0, 401, 20)
    w = np.array([1.0, 0, 0, 0])
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0.8).astype(int)
    steps = directions(30, 4, seed=5)

    def mean_ap(W):
        return float(average_precision(y, X @ W.T, offsets).mean())

    wanted = (mean_ap(w[None]) + mean_ap(w + 1e4 * steps)) / 2
    found = matched(w, steps, mean_ap, wanted)
    assert found.reached == pytest.approx(wanted, abs=2e-3)
    assert found.reached == mean_ap(found.W)
    assert found.size > 0


def test_local_models_better_than_the_global_one_are_matched_by_no_perturbation():
    steps = directions(3, 2, seed=1)
    found = matched(np.ones(2), steps, lambda W: 0.5, 0.6)
    assert found.size == 0
    assert (found.W == 1).all()


def test_directions_do_not_depend_on_how_many_there_are():
    assert (directions(3, 7, seed=2) == directions(9, 7, seed=2)[:3]).all()
    assert np.linalg.norm(directions(500, 40, seed=2), axis=1).mean() == pytest.approx(1, abs=0.02)


def test_precisions_are_ranked_for_every_query():
    assert ranked(np.array([[0.1, 0.9], [0.3, 0.2]])).tolist() == [[0.3, 0.1], [0.9, 0.2]]


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


def test_without_validation_queries_training_queries_choose_the_lambda():
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
