"""The choice on validation against one by hand, and what it promises: ties, missed documents, seeds, memory."""

import weakref
from collections.abc import Iterator
from itertools import pairwise
from math import log2, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.layout import shuffled_within
from qdrank.learners.choose import ValidationQueries, choice_rows, choose
from qdrank.learners.parameters import most_regularised_first

Case = tuple[list[int], list[int], list[list[int]], list[list[float]]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Grades, offsets, grades of the missed documents by query, and scores of a few settings; many ties of all kinds."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    n = sum(sizes)
    y = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    missed = [draw(st.lists(st.integers(1, 2), max_size=3)) for _ in sizes]
    one = st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=n, max_size=n)
    return y, [0, *np.cumsum(sizes).tolist()], missed, draw(st.lists(one, min_size=1, max_size=5))


def by_hand(case: Case, scores: list[float], place: list[int], measure: str) -> float:
    """Mean of a measure; of tied documents the one with the smaller ``place`` comes first."""
    y, offsets, missed, _ = case
    values = []
    for (start, end), others in zip(pairwise(offsets), missed, strict=True):
        ranked = [y[i] for i in sorted(range(start, end), key=lambda i: (-scores[i], place[i]))]
        values.append({"ap": average_precision, "ndcg@2/exp": ndcg_at_2}[measure](ranked, others))
    return sum(values) / len(values)


def average_precision(ranked: list[int], missed: list[int]) -> float:
    hits = [rank for rank, grade in enumerate(ranked, start=1) if grade]
    relevant = len(hits) + len(missed)
    return sum(number / rank for number, rank in enumerate(hits, start=1)) / relevant if relevant else 0.0


def ndcg_at_2(ranked: list[int], missed: list[int]) -> float:
    def dcg(grades: list[int]) -> float:
        return sum((2**grade - 1) / log2(rank + 1) for rank, grade in enumerate(grades[:2], start=1))

    ideal = dcg(sorted(ranked + missed, reverse=True))
    return dcg(ranked) / ideal if ideal else 0.0


@given(cases(), st.sampled_from(["ap", "ndcg@2/exp"]), st.integers(0, 3))
def test_the_choice_is_the_one_by_hand(case: Case, measure: str, seed: int) -> None:
    y, offsets, missed, tried = case
    unranked = (np.concatenate([*missed, []]).astype(int), np.cumsum([0, *map(len, missed)]))
    queries = ValidationQueries(y, offsets, unranked, measure=measure, seed=seed)
    choice = choose((i, queries.values(scores)) for i, scores in enumerate(tried))
    place = np.argsort(shuffled_within(np.array(offsets), seed)).tolist()
    wanted = [by_hand(case, scores, place, measure) for scores in tried]
    np.testing.assert_allclose(choice.values, wanted, atol=1e-11)
    assert choice.value == pytest.approx(max(wanted), abs=1e-11)
    assert choice.chosen == choice.place == choice.values.index(max(choice.values))
    assert all(value < max(wanted) - 1e-13 for value in wanted[: choice.place]), "an earlier one is as good"
    assert [queries.mean(scores) for scores in tried] == choice.values


@given(cases(), st.integers(0, 3))
def test_settings_with_the_same_ranking_are_equal_and_the_first_is_taken(case: Case, seed: int) -> None:
    y, offsets, _, tried = case
    queries = ValidationQueries(y, offsets, seed=seed)
    doubled = [scores for one in tried for scores in (one, [2 * score + 1 for score in one])]
    choice = choose(enumerate(queries.values(scores) for scores in doubled))
    assert choice.place % 2 == 0
    assert choice.values[::2] == choice.values[1::2]


def test_all_scores_at_once_or_one_after_the_other() -> None:
    rng = np.random.default_rng(1)
    y, offsets, S = rng.integers(0, 3, 30), [0, 10, 14, 30], rng.integers(0, 4, (30, 5)).astype(float)
    queries = ValidationQueries(y, offsets, measure="ndcg@10/letor4")
    together = queries.values(S)
    for i in range(5):
        np.testing.assert_array_equal(queries.values(S[:, i]), together[:, i])
    assert set(queries.measured(["ap", "rr"], S)) == {"ap", "rr"}


@given(cases(), st.sampled_from(["ap", "ndcg@2/exp"]), st.integers(0, 3))
def test_the_mean_over_many_rankers_is_the_mean_of_their_means(case: Case, measure: str, seed: int) -> None:
    y, offsets, missed, tried = case
    unranked = (np.concatenate([*missed, []]).astype(int), np.cumsum([0, *map(len, missed)]))
    queries = ValidationQueries(y, offsets, unranked, measure=measure, seed=seed)
    one_by_one = np.mean([queries.values(scores).mean() for scores in tried])
    assert queries.mean(np.array(tried).T) == pytest.approx(one_by_one, abs=2e-12)


def test_tied_documents_follow_the_seed_and_no_grade() -> None:
    n = 200
    y, offsets = np.tile([1, 0, 0], n), np.arange(0, 3 * n + 1, 3)
    values = {seed: ValidationQueries(y, offsets, seed=seed).mean(np.zeros(3 * n)) for seed in (1, 2)}
    assert all(abs(value - 11 / 18) < 0.08 for value in values.values())  # 1 in the order of the rows
    assert values[1] != values[2]
    assert values[1] == ValidationQueries(y, offsets, seed=1).mean(np.zeros(3 * n))


def test_a_value_that_differs_by_rounding_alone_is_equal() -> None:
    assert choose([("first", 0.3), ("second", 0.1 + 0.2)]).chosen == "first"
    assert choose([("first", 0.3), ("second", 0.3 + 1e-11)]).chosen == "second"


def test_a_setting_that_has_no_value_loses() -> None:
    assert choose([("none", nan), ("some", -1.0), ("other", nan)]).chosen == "some"
    assert choose([("first", nan), ("second", nan)]).chosen == "first"


def test_nothing_to_choose_from_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to choose from"):
        choose([])


def test_only_the_best_candidate_is_kept() -> None:
    class Model:
        pass

    alive: list[weakref.ref[Model]] = []

    def fitted() -> Iterator[tuple[Model, float]]:
        for value in (0.1, 0.5, 0.3, 0.2, 0.4):
            model = Model()
            alive.append(weakref.ref(model))
            yield model, value
            assert sum(one() is not None for one in alive) <= 2  # the best and the last

    choice = choose(fitted())
    assert choice.chosen is alive[1]()


@pytest.mark.parametrize(
    ("name", "wanted"), [("lam", [10, 1, 0.1]), ("k", [10, 1, 0.1]), ("leaves", [0.1, 1, 10]), ("gamma", [0.1, 1, 10])]
)
def test_the_most_regularised_comes_first(name: str, wanted: list[float]) -> None:
    assert most_regularised_first(name, [1, 10, 0.1]) == wanted


def test_a_parameter_without_direction_keeps_its_order() -> None:
    assert most_regularised_first("objective", ["b", "a", "c"]) == ["b", "a", "c"]


def test_rows_of_choices_mark_the_one_that_was_taken() -> None:
    choice = choose([("few", 0.2), ("some", 0.5), ("many", 0.5)])
    rows = choice_rows("fold1", "knn", ["k=1", "k=2", "k=3"], choice, "ap", k=[1, 2, 3])
    assert [row["chosen"] for row in rows] == [False, True, False]
    assert rows[1] == {
        "fold": "fold1",
        "method": "knn",
        "setting": "k=2",
        "k": 2,
        "lam": None,
        "measure": "ap",
        "value": 0.5,
        "chosen": True,
    }
    with pytest.raises(ValueError, match="zip"):
        choice_rows("fold1", "knn", ["k=1"], choice, "ap")
