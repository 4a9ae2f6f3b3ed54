"""Validation chooses, test queries choose nothing; the controls match what they must match; tables have their shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.studies.lin2011.lin_world import GRID, documents, fold

from qdrank.datasets.judged import Judged
from qdrank.measures import average_precision
from qdrank.rankers.documents import FoldDocuments
from qdrank.store.lists import list_matrix
from qdrank.studies.lin2011.bank import Key
from qdrank.studies.lin2011.controls import directions, matched, ranked
from qdrank.studies.lin2011.fold import ClusterSetting, LinFold
from qdrank.studies.lin2011.methods import ALGORITHMS, NAIVE, RANKSVM, SELECT, TRANSFORM
from qdrank.studies.lin2011.singles import budget_lambdas
from qdrank.studies.lin2011.sweep import (
    best,
    clusters_summary,
    curves,
    seed_choices,
    seed_measures_table,
    sweep,
    test_scores,
    text,
)

test_scores.__test__ = False


@pytest.fixture(scope="module")
def study():
    return fold()


@pytest.fixture(scope="module")
def swept(study):
    return sweep(study, GRID)


def test_every_setting_is_tried_on_validation(study, swept):
    part = documents().parts["vali"]
    for (name, seed), values in swept.values.items():
        sizes = {"naive": [4, 1], "select": [3, 1], "transform": [0]}[ALGORITHMS[name].kind]
        sizes = sizes if ALGORITHMS[name].size else [0]
        assert list(values) == [ClusterSetting(m, lam, s) for m in (2, 5) for lam in (0.1, 0.01) for s in sizes]
        setting = ClusterSetting(5, 0.1, sizes[0])
        local = study.local("vali", Key(ALGORITHMS[name].scheme, seed, 5), 0.1)
        kind = ALGORITHMS[name].kind
        if ALGORITHMS[name].weights != "own":
            continue  # test_algorithms.py
        if kind == "naive":
            scores = local.scores_of(local.naive([4])[4])
        else:
            scores = local.aggregated(local.select_weights([3])[3] if kind == "select" else local.transform_weights())
        assert values[setting] == pytest.approx(average_precision(part.y, scores, part.offsets).mean())


def test_the_first_of_the_best_is_chosen():
    values = {
        ClusterSetting(2, 0.1, 1): 0.4,
        ClusterSetting(2, 0.1, 3): 0.5,
        ClusterSetting(5, 0.1, 1): 0.5,
        ClusterSetting(5, 0.1, 3): 0.3,
    }
    assert best(values) == ClusterSetting(2, 0.1, 3)
    assert best(values, 5) == ClusterSetting(5, 0.1, 1)


def test_test_queries_choose_nothing(study, swept):
    """With other grades on the test queries the same settings are chosen, and the controls are the same."""
    parts = dict(documents().parts)
    test: Judged = parts["test"]
    parts["test"] = replace(test, y=np.roll(test.y, 3))
    other = FoldDocuments(parts, documents().mean, documents().inverse)
    turned = LinFold(other, study.reference, study.single, study.bank, study.readings)
    again = sweep(turned, GRID)
    assert again.values == swept.values
    sizes = [curves("fold1", one, again, GRID, 5).controls.column("size").to_pylist() for one in (study, turned)]
    assert sizes[0] == sizes[1]


def test_memberships_count_relevant_documents_that_are_missed(study):
    """SelectRanker's precisions of training queries are those that the study's other precisions are."""
    parts = dict(documents().parts)
    train: Judged = parts["train"]
    missed = np.empty(train.n_queries, dtype=object)
    missed[:] = [(1,) * (q % 3) for q in range(train.n_queries)]
    parts["train"] = replace(train, missed=missed)
    other = FoldDocuments(parts, documents().mean, documents().inverse)
    counted = LinFold(other, study.reference, study.single, study.bank, study.readings)
    key = Key("pairs", 1, 5)
    plain, found = (one.local("test", key, 0.1).members for one in (study, counted))
    query, _ = counted.local("test", key, 0.1).clusters.members(study.readings.membership)
    relevant = np.add.reduceat(train.y > 0, train.offsets[:-1])[query]
    np.testing.assert_allclose(found.precision, plain.precision * relevant / np.maximum(relevant + query % 3, 1))
    assert (found.precision < plain.precision).any()


def test_without_validation_queries_training_queries_choose(study):
    parts = dict(documents().parts)
    parts["vali"] = parts["vali"].take(np.zeros(0, dtype=np.int64))
    bare = LinFold(
        FoldDocuments(parts, documents().mean, documents().inverse),
        study.reference,
        study.single,
        study.bank,
        study.readings,
    )
    assert bare.validation == "train"
    assert sweep(bare, GRID).chosen(NAIVE, 1).m in (2, 5)


def test_ranksvm_has_as_many_settings_as_the_methods():
    assert GRID.budget == 8
    found = budget_lambdas(GRID.lambdas, GRID.budget)
    assert len(found) == 8
    assert set(GRID.lambdas) <= set(found)
    assert found == sorted(found, reverse=True)
    assert budget_lambdas([0.1, 0.01], 2) == [0.1, 0.01]


def test_measures_are_of_the_chosen_settings(study, swept):
    table = seed_measures_table("fold1", study, swept, ["ap", "ndcg@5/letor4"])
    part = documents().parts["test"]
    rows = {(r["method"], r["seed"], r["query_id"]): r for r in table.to_pylist()}
    assert len(rows) == part.n_queries * (1 + 2 * len(ALGORITHMS))
    for name in (NAIVE, SELECT, TRANSFORM):
        scores = test_scores(study, ALGORITHMS[name], 2, swept.chosen(name, 2))
        wanted = average_precision(part.y, scores, part.offsets)
        assert [rows[name, 2, q]["ap"] for q in part.query_id] == pytest.approx(wanted, abs=1e-14)
    single = average_precision(part.y, study.roles["test"].single, part.offsets)
    assert [rows[RANKSVM, 0, q]["ap"] for q in part.query_id] == pytest.approx(single)


def test_choices_say_what_was_tried_and_chosen(swept):
    rows = seed_choices("fold1", swept).to_pylist()
    chosen = [row for row in rows if row["chosen"]]
    assert len(chosen) == len(swept.values)
    assert len(rows) == sum(map(len, swept.values.values()))
    assert text(ALGORITHMS[NAIVE], 2, ClusterSetting(5, 0.1, 3)) == "seed=2 m=5 lambda=0.1 t=3"
    assert text(ALGORITHMS[TRANSFORM], 2, ClusterSetting(5, 0.1, 0)) == "seed=2 m=5 lambda=0.1"


def test_curves_have_the_oracles_and_their_controls(study, swept):
    found = curves("fold1", study, swept, GRID, 5)
    part = documents().parts["test"]
    rows = {(r["method"], r["seed"], r["m"], r["query_id"]): r["ap"] for r in found.curve.to_pylist()}
    for seed in (1, 2):
        for m in (2, 5):
            lam = swept.chosen(NAIVE, seed, m).lam
            local = study.local("test", Key("pairs", seed, m), lam)
            upper = [rows["upper-bound", seed, m, q] for q in part.query_id]
            assert upper == pytest.approx(local.ap.max(axis=0))
            for method in (NAIVE, "relevant-only"):
                own = np.array([rows[method, seed, m, q] for q in part.query_id])
                assert (own <= np.array(upper) + 1e-15).all()
    matrix = list_matrix(found.ranked.column("ap"))
    assert matrix.shape[1] == 5
    assert (np.diff(matrix, axis=1) <= 0).all()
    assert set(found.ranked.column("models").to_pylist()) == {"local", "local-random", "local-perturbed"}
    top = {(r["models"], r["seed"], r["query_id"]): r["ap"][0] for r in found.ranked.to_pylist()}
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
