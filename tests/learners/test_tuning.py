"""Tuning: what decides, what is recorded, and that every grid names parameters that exist."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from qdrank.learners import LEARNERS, tune
from qdrank.learners.choose import fit_one, grid_settings
from qdrank.rankers.methods import CLASSIC, GRIDS

X = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.2], [1.0, 0.0], [0.0, 1.0], [0.5, 0.2]])
TRAIN = (X, [1, 0, 0, 1, 0, 0], [1, 1, 1, 2, 2, 2])


@dataclass
class OneFeature:
    """Ranks by one feature; counts how often it was fitted."""

    feature: int = 0
    sign: int = 1
    fitted = 0

    def fit(self, X: Any, y: Any, query: Any) -> "OneFeature":
        OneFeature.fitted += 1
        return self

    def predict(self, X: Any, query: Any = None) -> np.ndarray:
        return self.sign * np.asarray(X)[:, self.feature]


TOYS = {"toy": OneFeature}


BY_NAME = {name: (LEARNERS[name], grid) for name, grid in GRIDS.items()}


@pytest.mark.parametrize("name", list(BY_NAME))
def test_a_grid_names_parameters_of_its_learner(name: str) -> None:
    learner, grid = BY_NAME[name]
    for parameter, values in grid.items():
        for value in values:
            assert learner(**{parameter: value}).get_params()[parameter] == value


def test_every_classic_learner_has_a_grid() -> None:
    assert {method.learner for method in CLASSIC.values()} <= set(BY_NAME)


@pytest.mark.parametrize("name", list(BY_NAME))
def test_a_grid_is_tried_from_the_most_to_the_least_regularised(name: str) -> None:
    """As it stands in the table, so that the table reads as it is tried."""
    grid = BY_NAME[name][1]
    assert grid_settings(grid) == [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def test_all_combinations_are_tried_in_order_and_one_is_chosen() -> None:
    OneFeature.fitted, grid = 0, {"feature": [1, 0], "sign": [-1, 1]}
    choice = tune("toy", grid, TRAIN, TRAIN, learners=TOYS)
    assert [(row["feature"], row["sign"]) for row in grid_settings(grid)] == [(1, -1), (1, 1), (0, -1), (0, 1)]
    assert choice.values == pytest.approx([1.0, 1 / 3, 1 / 3, 1.0])
    assert choice.place == 0
    assert (choice.chosen.feature, choice.chosen.sign) == (1, -1)
    assert OneFeature.fitted == 4


def test_validation_data_go_to_the_learners_that_take_them() -> None:
    class Watching(OneFeature):
        def fit(self, X: Any, y: Any, query: Any, validation: Any = None) -> "OneFeature":
            self.seen = validation
            return self

    assert fit_one(Watching, {}, TRAIN, TRAIN).seen is TRAIN
    assert fit_one(Watching, {}, TRAIN, None).seen is None
    assert isinstance(fit_one(OneFeature, {"sign": -1}, TRAIN, TRAIN), OneFeature)


def test_settings_of_trees_share_the_bins_of_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents are binned for each smallest leaf, not for each setting, and the trees are those of fits without sharing."""
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(600, 5))
    rows[np.arange(600) % 20 > 0, 4] = 0  # with leaves of 40 documents LightGBM leaves this feature out, with 5 not
    data = rows, (rows[:, 0] + rng.normal(size=600) > 1).astype(int), np.repeat(np.arange(30), 20)
    train, vali = tuple(part[:400] for part in data), tuple(part[400:] for part in data)
    grid = {"leaves": [3, 7], "min_leaf": [40, 5], "learning_rate": [0.1, 0.3], "monotone": [(), (1, 0, 0, 0, 0)]}
    learner = LEARNERS["lambdamart"]
    apart = [fit_one(learner, {**one, "rounds": 9}, train, vali).text_ for one in grid_settings(grid)]
    made, dataset = [], learner._dataset
    monkeypatch.setattr(learner, "_dataset", lambda self, *args: made.append(self.min_leaf) or dataset(self, *args))
    bins: dict[str, Any] = {}
    shared = [fit_one(learner, {**one, "rounds": 9}, train, vali, bins).text_ for one in grid_settings(grid)]
    assert shared == apart
    assert len(set(apart)) == len(apart)
    assert sorted(made) == [5] * 4 + [40] * 4  # with and without the constraint, training and validation
    made.clear()
    tune("lambdamart", {**grid, "rounds": [9], "monotone": [()]}, train, vali)
    assert sorted(made) == [5] * 2 + [40] * 2
