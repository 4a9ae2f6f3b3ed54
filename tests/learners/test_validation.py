from __future__ import annotations

import numpy as np
import pytest

from qdrank.errors import InputError
from qdrank.layout import shuffled_within
from qdrank.learners import LEARNERS
from qdrank.learners.choose import RoundChoice
from qdrank.learners.inputs import as_judged

X = np.random.default_rng(0).random((6, 2))
QUERY = [1, 1, 1, 2, 2, 2]


def test_a_ranking_svm_sees_the_order_of_the_grades_alone() -> None:
    halves = LEARNERS["ranksvm"]().fit(X, [0, 0.5, 1, 0, 0.5, 1], QUERY)
    wholes = LEARNERS["ranksvm"]().fit(X, [0, 1, 2, -1, 0, 1], QUERY)
    np.testing.assert_array_equal(halves.coef_, wholes.coef_)


def test_whole_numbers_may_come_as_floats() -> None:
    _, grades, offsets = as_judged(X, np.array([0.0, 1.0, 2.0, 0.0, 0.0, 1.0]), QUERY)
    assert grades.dtype == np.int64
    assert offsets.tolist() == [0, 3, 6]


@pytest.mark.parametrize("bad", [X[:, 0], X[:5], X[None]])
def test_shapes_that_do_not_match_are_refused(bad: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"do not match|must be a table"):
        as_judged(bad, [0, 1, 2, 0, 1, 2], QUERY)


def test_without_validation_the_last_round_is_kept() -> None:
    choice = RoundChoice(None, "ap", seed=1)
    for number in (1, 2, 3):
        choice.watch(number, None)
    assert choice.best_round == 3


def test_shuffling_follows_the_seed_alone() -> None:
    offsets = np.array([0, 40, 40, 90])
    first, again, other = (shuffled_within(offsets, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert sorted(first[:40]) == list(range(40))
    assert sorted(first[40:]) == list(range(40, 90))
