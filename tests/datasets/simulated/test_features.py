"""Simulated data: the promised shape, stable draws, and the property that the whole study rests on."""

import numpy as np
import pytest
from scipy.stats import norm

from qdrank.datasets.simulated.features import (
    BORDERS,
    GRADES,
    GRID,
    REFERENCE,
    SIMULATED_QUERY_COLUMNS,
    TYPES,
    simulate,
)
from qdrank.datasets.simulated.settings import Simulation
from qdrank.errors import InputError
from qdrank.layout import query_index, query_offsets
from qdrank.queries.neighbours import neighbours
from qdrank.queries.vectors import Standardiser, query_vectors
from qdrank.studies.geng2008.class_ranker import TypeClassifier
from qdrank.studies.geng2008.query_classes import type_scores

SMALL = Simulation(train=300, vali=60, test=60, features=40)

#: Documents, sum of grades and sum of features of the small draw with seed 0.
PINNED = (17048, 12900, 12762.55078125)


@pytest.fixture(scope="module")
def sim1():
    return simulate("sim1", seed=0)


def test_sim1_has_the_shape_of_dataset_1(sim1):
    assert [int((sim1.query_part == part).sum()) for part in ("train", "vali", "test")] == [1500, 400, 400]
    assert sim1.X.shape[1] == 200
    assert sim1.X.dtype == np.float32
    assert np.isfinite(sim1.X).all()
    assert 39 < np.diff(sim1.offsets).mean() < 41
    assert sim1.query_columns.shape == (2300, len(SIMULATED_QUERY_COLUMNS))
    assert set(sim1.types) == set(TYPES)


def test_ids_name_query_and_document(sim1):
    np.testing.assert_array_equal(query_offsets(sim1.query), sim1.offsets)
    np.testing.assert_array_equal(sim1.query_id[query_index(sim1.offsets)], sim1.query)
    assert sim1.query[0] == "train-0001"
    assert sim1.document[0] == "train-0001-001"
    assert sim1.query_id[-1] == "test-0400"
    assert len(np.unique(sim1.document)) == len(sim1.document)
    assert all(q.startswith(p) for q, p in zip(sim1.query_id, sim1.query_part, strict=True))


def test_most_documents_are_bad_and_few_perfect(sim1):
    np.testing.assert_allclose(np.bincount(sim1.y, minlength=5) / len(sim1.y), GRADES, atol=0.01)
    np.testing.assert_allclose(BORDERS, norm.ppf(np.cumsum(GRADES)[:-1]), atol=1e-9)
    useful = np.maximum.reduceat(sim1.y, sim1.offsets[:-1]) > np.minimum.reduceat(sim1.y, sim1.offsets[:-1])
    assert useful.mean() > 0.99


def test_a_seed_is_a_world():
    one, same, other = simulate(SMALL, 5), simulate(SMALL, 5), simulate(SMALL, 6)
    for name in ("X", "y", "types", "query_columns"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    assert (one.weights[0, 1:] != other.weights[0, 1:]).all()


def test_values_lie_on_a_coarse_grid():
    X = simulate(SMALL, 1).X.astype(np.float64)
    np.testing.assert_array_equal(X / GRID, np.rint(X / GRID))


def test_a_known_draw_stays_what_it_was():
    """Published numbers depend on the draw: a change here must be deliberate."""
    data = simulate(SMALL, 0)
    assert (len(data.y), int(data.y.sum()), float(data.X.astype(np.float64).sum())) == PINNED


def test_control_shows_the_same_documents_but_one_rule_for_all():
    local, control = simulate(SMALL, 2), simulate(SMALL, 2, locality=0)
    np.testing.assert_array_equal(local.X, control.X)
    assert (control.weights == control.weights[0]).all()
    assert (local.weights != local.weights[0]).any()
    assert (local.y != control.y).any()


def test_neighbours_look_alike_and_are_ranked_alike(sim1):
    train = np.flatnonzero(sim1.query_part == "train")
    vectors = query_vectors(sim1.X, sim1.offsets, REFERENCE)[train]
    vectors = Standardiser().fit(vectors).transform(vectors)
    near = neighbours(vectors, vectors, 101, train_index=np.arange(len(train))).rows[:, 1:]
    weights, types = sim1.weights[train], sim1.types[train]
    assert (types[near] == types[:, None]).mean() > 0.7
    apart = np.square(weights[:, None] - weights[near[:, :20]]).sum(axis=2).mean()
    assert apart < 0.3 * 2 * weights.var(axis=0).sum()


def test_types_are_guessed_from_the_query_about_as_well_as_in_the_paper(sim1):
    train, test = sim1.query_part == "train", sim1.query_part == "test"
    classifier = TypeClassifier().fit(sim1.query_columns[train], sim1.types[train])
    assert 0.55 < type_scores(sim1.types[test], classifier.predict(sim1.query_columns[test])).macro_f1 < 0.65


def test_reference_feature_is_a_weak_ranker(sim1):
    reference = sim1.X[:, REFERENCE]
    assert (reference >= 0).all()
    within = reference - np.repeat(
        np.add.reduceat(reference, sim1.offsets[:-1]) / np.diff(sim1.offsets), np.diff(sim1.offsets)
    )
    assert 0.1 < np.corrcoef(within, sim1.y)[0, 1] < 0.4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"localty": 1}, "did you mean locality"),
        ({"documents": [5, 2]}, "from 5 to 2"),
        ({"smoothness": 0}, "smoothness: .* greater than 0"),
        ({"train": 0}, "train: .* equal to 1"),
        ({"noise": -1.0}, "noise: .* equal to 0"),
        ({"noise": float("nan")}, "noise: .* finite number"),
    ],
)
def test_wrong_settings_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        simulate("sim1", seed=1, **changes)
