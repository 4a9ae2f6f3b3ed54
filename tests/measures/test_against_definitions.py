"""The measures once more, straight from their definitions, one query at a time in plain Python."""

from itertools import pairwise
from math import log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.measures import MEASURES
from qdrank.measures.compute import measure
from qdrank.measures.names import parse


def ranked(y, scores):
    """Grades by descending score; Python's sort is stable, so ties keep row order."""
    return [int(grade) for _, grade in sorted(zip(scores, y, strict=True), key=lambda pair: -pair[0])]


def letor_dcg(grades, k):
    return sum((2**g - 1) * (1 if j <= 2 else log(2) / log(j)) for j, g in enumerate(grades[:k], 1))


def usual_dcg(grades, k, gain=lambda g: 2**g - 1):
    return sum(gain(g) / log2(j + 1) for j, g in enumerate(grades[:k], 1))


def _normalised(dcg, grades, k, empty=0.0):
    best = dcg(sorted(grades, reverse=True), k)
    return dcg(grades, k) / best if best > 0 else empty


def ndcg_letor(grades, k):
    return 0.0 if len(grades) < k else _normalised(letor_dcg, grades, k)


def ndcg_geng(grades, k):
    return _normalised(letor_dcg, grades, k)


def ndcg_exp(grades, k, empty=0.0):
    return _normalised(usual_dcg, grades, k, empty)


def ndcg_linear(grades, k):
    return _normalised(lambda g, k: usual_dcg(g, k, gain=float), grades, k)


def mean_ndcg_letor4(grades):
    n = len(grades)
    return sum(ndcg_letor(grades, k) for k in range(1, n + 1)) / n if n else 0.0


def mean_ndcg_geng(grades):
    return sum(ndcg_geng(grades, k) for k in range(1, 11)) / 10


def average_precision(grades):
    at = [sum(g > 0 for g in grades[:j]) / j for j in range(1, len(grades) + 1) if grades[j - 1] > 0]
    return sum(at) / len(at) if at else 0.0


def precision(grades, k):
    return sum(g > 0 for g in grades[:k]) / k


def reciprocal_rank(grades):
    return next((1 / j for j, g in enumerate(grades, 1) if g > 0), 0.0)


def bpref(grades):
    """All documents are judged: each relevant one loses a share for every other above it."""
    relevant, others = sum(g > 0 for g in grades), sum(g == 0 for g in grades)
    lost = [min(sum(h == 0 for h in grades[:i]), relevant) for i, g in enumerate(grades) if g > 0]
    return sum(1 - n / min(relevant, others) if n else 1 for n in lost) / relevant if relevant else 0.0


def rbp(grades, k=None, p=0.8, rel=1):
    return (1 - p) * sum(p ** (j - 1) for j, g in enumerate(grades[:k], 1) if g >= rel)


def ap_at(grades, k, rel=1):
    relevant = [j for j, g in enumerate(grades, 1) if g >= rel]
    return sum(i / j for i, j in enumerate(relevant, 1) if j <= k) / len(relevant) if relevant else 0.0


ZHA = {0: 0.0, 1: 0.5, 2: 3.0, 3: 7.0, 4: 10.0}

BY_HAND = {
    "ap": average_precision,
    "rr": reciprocal_rank,
    "mean_ndcg/letor4": mean_ndcg_letor4,
    "mean_ndcg/geng": mean_ndcg_geng,
    "ndcg/exp": lambda g: ndcg_exp(g, len(g)),
    "ndcg/lightgbm": lambda g: ndcg_exp(g, len(g), empty=1.0),
    "ndcg/linear": lambda g: ndcg_linear(g, len(g)),
    "ndcg/geng": lambda g: ndcg_geng(g, len(g)),
    "bpref": bpref,
    "bpref(rel=2)": lambda g: bpref([int(grade >= 2) for grade in g]),
    "rbp": rbp,
    "rbp(rel=3,p=0.5)": lambda g: rbp(g, p=0.5, rel=3),
    "ap(rel=2)": lambda g: ap_at(g, len(g), rel=2),
    "rr(rel=3)": lambda g: reciprocal_rank([int(grade >= 3) for grade in g]),
}
for _k in (1, 2, 3, 5, 10):
    BY_HAND |= {
        f"ap@{_k}": lambda g, k=_k: ap_at(g, k),
        f"ap(rel=2)@{_k}": lambda g, k=_k: ap_at(g, k, rel=2),
        f"rr@{_k}": lambda g, k=_k: reciprocal_rank(g[:k]),
        f"r@{_k}": lambda g, k=_k: sum(grade > 0 for grade in g[:k]) / max(sum(grade > 0 for grade in g), 1),
        f"success@{_k}": lambda g, k=_k: float(any(g[:k])),
        f"success(rel=2)@{_k}": lambda g, k=_k: float(any(grade >= 2 for grade in g[:k])),
        f"judged@{_k}": lambda g: float(len(g) > 0),
        f"rbp@{_k}": lambda g, k=_k: rbp(g, k),
        f"p(rel=2)@{_k}/letor4": lambda g, k=_k: precision([int(grade >= 2) for grade in g], k),
        f"p@{_k}/letor4": lambda g, k=_k: precision(g, k),
        f"p@{_k}/letor3": lambda g, k=_k: 0.0 if len(g) < k else precision(g, k),
        f"ndcg@{_k}/letor4": lambda g, k=_k: ndcg_letor(g, k),
        f"ndcg@{_k}/letor3": lambda g, k=_k: ndcg_letor(g, k),
        f"ndcg@{_k}/geng": lambda g, k=_k: ndcg_geng(g, k),
        f"ndcg@{_k}/exp": lambda g, k=_k: ndcg_exp(g, k),
        f"ndcg@{_k}/lightgbm": lambda g, k=_k: ndcg_exp(g, k, empty=1.0),
        f"ndcg@{_k}/linear": lambda g, k=_k: ndcg_linear(g, k),
        f"dcg@{_k}/letor4": lambda g, k=_k: letor_dcg(g, k),
        f"dcg@{_k}/exp": lambda g, k=_k: usual_dcg(g, k),
        f"dcg@{_k}/linear": lambda g, k=_k: usual_dcg(g, k, gain=float),
        f"dcg@{_k}/zha": lambda g, k=_k: usual_dcg(g, k, gain=ZHA.__getitem__),
    }


@st.composite
def ranked_lists(draw, max_grade=4, ties=True):
    """Grades, scores and offsets of some queries, empty and single-document ones among them."""
    sizes = draw(st.lists(st.integers(0, 14), min_size=1, max_size=6))
    n = sum(sizes)
    y = np.array(draw(st.lists(st.integers(0, max_grade), min_size=n, max_size=n)), dtype=np.int64)
    if ties:
        scores = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    else:
        scores = np.array(draw(st.permutations(range(n))), dtype=float)
    return y, scores, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def by_hand(name, y, scores, offsets):
    bounds = pairwise(offsets)
    name = next(written for written in BY_HAND if parse(written).name == name)
    return [BY_HAND[name](ranked(y[a:b], scores[a:b])) for a, b in bounds]


@given(ranked_lists())
def test_every_measure_equals_its_definition(case):
    values = measure(BY_HAND, *case)
    assert list(values) == [parse(name).name for name in BY_HAND]
    for name in values:
        np.testing.assert_allclose(values[name], by_hand(name, *case), atol=1e-12, err_msg=name)


def test_by_hand_leaves_no_definition_out():
    known = {parse(name).definition for name in BY_HAND}
    assert {name for name in MEASURES if "/trec" not in name} == known


@given(ranked_lists())
def test_values_lie_between_0_and_1(case):
    for name, values in measure(BY_HAND, *case).items():
        assert (values >= 0).all(), name
        if not name.startswith("dcg"):
            assert (values <= 1 + 1e-12).all(), name


@given(ranked_lists())
def test_the_perfect_order_gives_1(case):
    y, _, offsets = case
    relevant = np.array([y[a:b].any() for a, b in pairwise(offsets)])
    names = [
        "ap",
        "rr",
        "ndcg@5/exp",
        "ndcg/exp",
        "ndcg@3/geng",
        "mean_ndcg/letor4",
        "mean_ndcg/geng",
        "ndcg@10/linear",
    ]
    for name, values in measure(names, y, y, offsets).items():
        np.testing.assert_allclose(values, relevant.astype(float), atol=1e-12, err_msg=name)
    np.testing.assert_allclose(measure(["ndcg@5/lightgbm"], y, y, offsets)["ndcg@5/lightgbm"], 1.0)


@given(ranked_lists(ties=False), st.randoms(use_true_random=False))
def test_without_ties_the_order_of_the_rows_does_not_matter(case, random):
    y, scores, offsets = case
    rows = np.arange(len(y))
    for a, b in pairwise(offsets):
        shuffled = list(range(a, b))
        random.shuffle(shuffled)
        rows[a:b] = shuffled
    before, after = measure(BY_HAND, y, scores, offsets), measure(BY_HAND, y[rows], scores[rows], offsets)
    for name in before:
        np.testing.assert_array_equal(before[name], after[name], err_msg=name)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=15), st.data())
def test_moving_the_better_document_up_never_hurts(grades, data):
    i = data.draw(st.integers(0, len(grades) - 2))
    j = data.draw(st.integers(i + 1, len(grades) - 1))
    better = list(grades)
    better[i], better[j] = max(grades[i], grades[j]), min(grades[i], grades[j])
    worse = list(grades)
    worse[i], worse[j] = better[j], better[i]
    scores, offsets = -np.arange(len(grades), dtype=float), [0, len(grades)]
    low, high = measure(BY_HAND, worse, scores, offsets), measure(BY_HAND, better, scores, offsets)
    for name in low:
        assert high[name][0] >= low[name][0] - 1e-12, name


@given(ranked_lists(), st.floats(0.1, 10), st.floats(-5, 5))
def test_only_the_order_of_the_scores_counts(case, scale, shift):
    y, scores, offsets = case
    moved = measure(BY_HAND, y, scale * scores + shift, offsets)
    for name, values in measure(BY_HAND, y, scores, offsets).items():
        np.testing.assert_array_equal(values, moved[name])


@pytest.mark.parametrize("k", [1, 3, 10, None])
def test_scikit_learn_agrees(k):
    from sklearn.metrics import label_ranking_average_precision_score, ndcg_score

    rng = np.random.default_rng(7)
    y, scores = rng.integers(0, 5, (40, 12)), rng.random((40, 12))
    offsets = np.arange(0, 481, 12)
    cut = "" if k is None else f"@{k}"
    linear, exp = f"ndcg{cut}/linear", f"ndcg{cut}/exp"
    values = measure([linear, exp, "ap"], y.ravel(), scores.ravel(), offsets)
    for q in range(40):
        assert values[linear][q] == pytest.approx(ndcg_score([y[q]], [scores[q]], k=k))
        assert values[exp][q] == pytest.approx(ndcg_score([2 ** y[q] - 1], [scores[q]], k=k))
        if y[q].any():
            assert values["ap"][q] == pytest.approx(label_ranking_average_precision_score([y[q] > 0], [scores[q]]))
