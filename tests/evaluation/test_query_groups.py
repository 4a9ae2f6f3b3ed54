"""Groups of queries: the shrunken estimates by their formulas, random groups that give nothing, and a real one that is found."""

import numpy as np
import pytest

from qdrank.datasets.runs.rows import read_groups
from qdrank.errors import InputError
from qdrank.evaluation.intervals import power, queries_needed
from qdrank.evaluation.significance import between_groups, by_group, groups_of


def test_the_formulas_by_hand():
    d, group = np.array([0.1, 0.3, 0.9, 0.7, 0.8, -0.2]), ["a", "a", "b", "b", "b", "c"]
    n, mean = np.array([2, 3, 1]), np.array([0.2, 0.8, -0.2])
    s2 = (2 * 0.1**2 + 0.1**2 + 0.1**2) / (1 + 2)
    v = s2 / n
    m = (mean / v).sum() / (1 / v).sum()
    Q = ((mean - m) ** 2 / v).sum()
    tau2 = (Q - 2) / ((1 / v).sum() - (1 / v**2).sum() / (1 / v).sum())
    mu = (mean / (v + tau2)).sum() / (1 / (v + tau2)).sum()
    w = tau2 / (tau2 + v)
    made = by_group(d, group)
    assert between_groups(mean, v) == pytest.approx(tau2)
    assert [one.group for one in made] == ["a", "b", "c"]
    assert [one.n for one in made] == [2, 3, 1]
    assert [one.raw for one in made] == pytest.approx(mean)
    assert [one.shrunk for one in made] == pytest.approx(mu + w * (mean - mu))
    assert all(one.low < one.shrunk < one.high for one in made)


def test_random_groups_give_nothing():
    """40 groups that mean nothing, of skewed, often zero differences: the chance that any is named stays below .05."""
    rng, named = np.random.default_rng(0), 0
    for _ in range(300):
        d = np.where(rng.random(400) < 0.4, 0.0, rng.exponential(0.2, 400) * rng.choice([-1, 1], 400))
        named += any(one.differs for one in by_group(d, rng.integers(0, 40, 400).astype(str)))
    assert named <= 15


def test_small_groups_are_drawn_to_the_whole_and_a_real_one_is_found():
    rng = np.random.default_rng(1)
    group = np.repeat([f"g{i:02}" for i in range(20)], 20)
    d = rng.normal(0, 0.2, 400)
    d[group == "g07"] += 0.4
    made = {one.group: one for one in by_group(d, group)}
    assert [name for name, one in made.items() if one.differs] == ["g07"]
    whole = np.mean([one.shrunk for one in made.values()])
    lonely = by_group(np.append(d, 0.9), [*group, "one"])
    (one,) = (g for g in lonely if g.group == "one")
    assert not one.differs
    assert abs(one.shrunk - whole) < 0.3 * abs(one.raw - whole)


def test_groups_from_a_file(tmp_path):
    (tmp_path / "groups").write_text("1 easy\n2 hard\n")
    groups = read_groups(tmp_path / "groups")
    assert groups_of(["2", "1"], groups, "groups") == ["hard", "easy"]
    with pytest.raises(InputError, match="1 queries have no group"):
        groups_of(["2", "3"], groups, "groups")
    (tmp_path / "groups").write_text("1 easy\n2 hard\n1 hard\n")
    with pytest.raises(InputError, match="line 3: query 1 comes again"):
        read_groups(tmp_path / "groups")
    with pytest.raises(InputError, match="cannot be compared"):
        by_group(np.array([1.0, 2.0]), ["a", "a"])


@pytest.mark.parametrize("difference", [0.003, 0.05, -0.2])
def test_the_queries_needed_are_the_fewest(difference):
    n = queries_needed(difference, deviation=0.15)
    assert power(difference, deviation=0.15, n=n) >= 0.8
    assert n == 2 or power(difference, deviation=0.15, n=n - 1) < 0.8
    assert queries_needed(0.0, deviation=0.1) is None
    assert queries_needed(0.1, deviation=0.0) == 2
    assert queries_needed(1e-7, deviation=1.0) is None
