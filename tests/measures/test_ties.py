"""Best, worst and expected values over the orders of tied documents, against all orders tried one by one."""

from itertools import groupby, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.measures import MEASURES
from qdrank.measures.compute import measure, tie_values
from qdrank.measures.definition import Definition
from qdrank.measures.names import parse
from qdrank.measures.ranking import Judgements

NAMES = [name.replace("@k", f"@{k}") for name in MEASURES for k in ((2, 4) if "@k" in name else (0,))]
NAMES += ["ap(rel=2)", "ap(rel=2)@3", "rr(rel=2)@3", "success(rel=2)@2", "bpref(rel=2)", "rbp(p=0.5,rel=2)@3"]
NAMES += ["ndcg(judged_only=True)@3/linear", "ap(judged_only=True)@3", "r(rel=2)@2"]


@st.composite
def tied_lists(draw):
    """One query with up to five documents of few different scores, some not judged, and judged documents that are not ranked."""
    n = draw(st.integers(1, 5))
    scores = draw(st.lists(st.sampled_from([1.0, 2.0, 2.0 + 1e-12]), min_size=n, max_size=n))
    levels = draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    rest = draw(st.lists(st.integers(0, 3), max_size=3))
    return np.array(scores), np.array(levels), rest


def all_orders(scores):
    """Every order of the documents in which the scores do not rise."""
    rows = sorted(range(len(scores)), key=lambda i: -scores[i])
    groups = [list(rows) for _, rows in groupby(rows, key=lambda i: scores[i])]
    for parts in product(*map(permutations, groups)):
        yield [row for part in parts for row in part]


@given(tied_lists())
def test_the_values_are_those_of_all_orders(case):
    scores, levels, rest = case
    y, judged, unranked = np.maximum(levels, 0), levels >= 0, (np.array(rest, dtype=int), [0, len(rest)])
    ours = tie_values(NAMES, Judgements(y, [0, len(y)], None, unranked, judged), scores)
    assert list(ours) == [parse(name).name for name in NAMES] or set(ours) == {parse(name).name for name in NAMES}
    for single in (True, False):
        compared = scores.astype(np.float32) if single else scores
        names = [name for name in ours if name.endswith("/trec") == single]
        orders = np.array(list(all_orders(compared.tolist())))  # each a query of its own
        n, row = len(orders), orders.ravel()
        others = (np.tile(unranked[0], n), np.arange(n + 1) * len(rest))
        case = {"unranked": others, "judged": judged[row], "doc_ids": [f"d{i}" for i in row]}
        values = measure(names, y[row], -np.arange(len(row), dtype=float), np.arange(n + 1) * len(y), **case)
        for name in names:
            worst, expected, best = (column[0] for column in ours[name])
            by_hand = min(values[name]), float(np.mean(values[name])), max(values[name])
            np.testing.assert_allclose([worst, expected, best], by_hand, atol=1e-12, err_msg=name)


def test_several_queries_an_empty_one_and_long_ties():
    y, scores, offsets = [1, 0, 0, 2, 1, 0], [1.0, 1, 1, 3, 3, 2], [0, 3, 3, 6]
    values = tie_values(["rr", "p@1/letor4", "judged@2"], Judgements(y, offsets), scores)
    np.testing.assert_allclose(values["rr"].expected, [(1 + 1 / 2 + 1 / 3) / 3, 0, 1])
    np.testing.assert_allclose(values["p@1/letor4"].expected, [1 / 3, 0, 1])
    np.testing.assert_allclose(values["p@1/letor4"].best, [1, 0, 1])
    np.testing.assert_allclose(values["p@1/letor4"].worst, [0, 0, 1])
    rng = np.random.default_rng(0)
    grades = (rng.random(300) < 0.03).astype(int)
    long = tie_values(["ap", "rr", "success@10"], Judgements(grades, [0, 300]), np.zeros(300))
    drawn = [measure(["ap", "rr", "success@10"], grades, rng.random(300), [0, 300]) for _ in range(400)]
    for name, each in long.items():
        sample = [one[name][0] for one in drawn]
        assert each.expected[0] == pytest.approx(np.mean(sample), abs=4 * np.std(sample) / 20), name


def test_a_definition_without_a_formula_says_so():
    class Toy(Definition):
        def values(self, ranking, cutoffs):
            return np.zeros((1, 1))

    with pytest.raises(InputError, match="not known for Toy"):
        Toy().expected(None, None)
