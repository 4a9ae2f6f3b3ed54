"""Scales, distributions, divergences and average precisions against their definitions, one query and model at a time."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.judged import Judged
from qdrank.measures.compute import average_precision, measure
from qdrank.measures.matrix_kernels import ap_matrix
from qdrank.studies.lin2011.fold import Role
from qdrank.studies.lin2011.weights import combined, distributions, divergences, kl, per_document, scaled

RNG = np.random.default_rng(0)
OFFSETS = np.array([0, 4, 5, 11])
S = RNG.normal(size=(3, 11))
S[1, 5:] = 0.7  # equal scores
SLICES = [slice(a, b) for a, b in pairwise(OFFSETS)]


def one_distribution(s, kind):
    if s.max() == s.min():
        return np.full(len(s), 1 / len(s))
    u = (s - s.min()) / (s.max() - s.min()) + 1e-6 if kind == "minmax" else np.exp(s / s.std())
    return u / u.sum()


@pytest.mark.parametrize("kind", ["minmax", "softmax"])
def test_distributions_follow_their_formula(kind):
    P = distributions(S, OFFSETS, kind)
    for i in range(3):
        for own in SLICES:
            assert P[i, own] == pytest.approx(one_distribution(S[i, own], kind), abs=1e-14)


@pytest.mark.parametrize("kind", ["minmax", "softmax"])
def test_a_distribution_ignores_shift_and_scale(kind):
    assert distributions(5 * S - 2, OFFSETS, kind) == pytest.approx(distributions(S, OFFSETS, kind), abs=1e-12)


@pytest.mark.parametrize("kind", ["local-base", "base-local", "js"])
def test_divergences_follow_eq_2(kind):
    P = distributions(S, OFFSETS, "minmax")
    b = distributions(RNG.normal(size=11), OFFSETS, "minmax")
    found = divergences(P, b, OFFSETS, kind)
    for i in range(3):
        for q, own in enumerate(SLICES):
            p, base = P[i, own], b[own]
            middle = (p + base) / 2

            def bits(x, y):
                return sum(a * np.log2(a / c) for a, c in zip(x, y, strict=True))

            wanted = {
                "local-base": bits(p, base),
                "base-local": bits(base, p),
                "js": (bits(base, middle) + bits(p, middle)) / 2,
            }
            assert found[i, q] == pytest.approx(wanted[kind], abs=1e-12)
    assert (found >= -1e-12).all()


def test_a_distribution_does_not_diverge_from_itself():
    P = distributions(S, OFFSETS, "minmax")
    assert kl(P, P, OFFSETS) == pytest.approx(0, abs=1e-15)


def test_scores_are_scaled_within_each_query():
    for i in range(3):
        for own in SLICES:
            s = S[i, own]
            flat = s.max() == s.min()
            unit = np.zeros(len(s)) if flat else (s - s.min()) / (s.max() - s.min())
            z = np.zeros(len(s)) if flat else (s - s.mean()) / s.std()
            assert scaled(S, OFFSETS, "minmax")[i, own] == pytest.approx(unit, abs=1e-14)
            assert scaled(S, OFFSETS, "zscore")[i, own] == pytest.approx(z, abs=1e-12)
    assert scaled(S, OFFSETS, "raw") is S


def test_eq_1_is_a_weighted_sum():
    weights = RNG.random((3, 3))
    found = combined(S, weights, OFFSETS)
    for q, own in enumerate(SLICES):
        for d in range(own.start, own.stop):
            assert found[d] == pytest.approx(sum(weights[i, q] * S[i, d] for i in range(3)))


def test_equal_weights_give_the_mean_of_the_scaled_scores():
    for kind in ("minmax", "zscore", "raw"):
        T = scaled(S, OFFSETS, kind)
        assert combined(T, np.full((3, 3), 1 / 3), OFFSETS) == pytest.approx(T.mean(axis=0))


def test_values_of_queries_are_repeated_for_their_documents():
    assert per_document(np.array([1.0, 2, 3]), OFFSETS).tolist() == [1] * 4 + [2] + [3] * 6


@given(st.data())
def test_average_precisions_are_those_of_the_measures(data):
    sizes = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=4))
    n = sum(sizes)
    y = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    # few different scores: ties are common, and are broken by row order in both
    scores = np.array(data.draw(st.lists(st.integers(0, 3), min_size=2 * n, max_size=2 * n)), dtype=float).reshape(2, n)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    assert ap_matrix(scores, y > 0, offsets) == pytest.approx(average_precision(y, scores.T, offsets).T, abs=1e-14)


def test_average_precision_counts_relevant_documents_that_are_missed():
    y, missed = np.array([1, 0, 2, 0, 0, 0, 1, 1, 0, 0, 1]), np.empty(len(SLICES), dtype=object)
    missed[:] = [(1, 2) if q == 0 else () for q in range(len(SLICES))]
    names = np.array([f"q{q}" for q in range(len(SLICES))], dtype=object)
    part = Judged(names, names, OFFSETS, names[:0], y, np.zeros((11, 0), dtype=np.float32), missed)
    role = Role(part=part, X=S.T, vectors=S.T, base=S[0], single=S[0], points=S[:, :2])
    for scores, found in zip(S, role.ap(S), strict=True):
        wanted = measure(["ap"], y, scores, OFFSETS, unranked=part.unranked)["ap"]
        assert found == pytest.approx(wanted, abs=1e-12)
