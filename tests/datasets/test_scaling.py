"""Scaling against the publisher's own, and features of ranks."""

from dataclasses import replace

import numpy as np
import pytest

from qdrank.datasets import scaling
from qdrank.datasets.importing import refuse_the_wrong_end
from qdrank.datasets.judged import Judged
from qdrank.datasets.letor import load_letor
from qdrank.datasets.scaling import (
    column_moments,
    inverse_deviation,
    minmax_per_query,
    rank_features,
    scaled,
    turned_ranks,
)
from qdrank.errors import InputError

NAN = np.nan


def test_minmax_per_query():
    X = np.float32([[1, 5], [3, 5], [2, 5], [-1, 0], [1, NAN]])
    scaled = minmax_per_query(X, np.array([0, 3, 5]))
    np.testing.assert_array_equal(scaled, np.float32([[0, 0], [1, 0], [0.5, 0], [0, 0], [1, NAN]]))


def test_minmax_of_a_query_without_any_value():
    assert np.isnan(minmax_per_query(np.full((2, 1), NAN, np.float32), np.array([0, 2]))).all()


@pytest.mark.mirror
def test_minmax_makes_the_published_query_level_norm(mirror):
    raw = load_letor(mirror / "ohsumed-letor/Feature-min/S1.txt.xz")
    published = load_letor(mirror / "ohsumed-letor/QueryLevelNorm/S1.txt.xz")
    assert raw.doc_id.tolist() == published.doc_id.tolist()
    found = minmax_per_query(raw.X, raw.offsets)
    # Both files are rounded to six decimals; a narrow range magnifies that.
    assert np.quantile(np.abs(found - published.X), 0.999) < 1e-4


def test_turned_ranks_begin_at_the_highest_number():
    ranks = np.float32([[1, NAN], [3, 2], [2, 1], [5, NAN]])
    np.testing.assert_array_equal(turned_ranks(ranks, np.array([0, 3, 4])), [[3, NAN], [1, 1], [2, 2], [1, NAN]])


def test_rankings_read_from_the_wrong_end_are_refused():
    y, rank = np.tile([1, 0, 0], 15), np.tile([1.0, 2, 3], 15)
    parts = np.repeat(np.array([f"S{i}" for i in range(1, 6)], dtype=object), 3)
    good = replace(Judged.from_arrays(rank[:, None], y, np.repeat(np.arange(15), 3)), part=parts)
    refuse_the_wrong_end(good, "mine", "low")
    with pytest.raises(InputError, match=r"wrong end[\s\S]*0\.333[\s\S]*1\.000[\s\S]*best: high for mine"):
        refuse_the_wrong_end(good.with_features(4 - good.X), "mine", "low")


def test_moments_and_scale(monkeypatch):
    monkeypatch.setattr(scaling, "_ROWS", 7)
    monkeypatch.setattr(scaling, "_CACHED", 28)
    X = np.random.default_rng(0).normal(1000, 3, (50, 4)).astype(np.float32)
    X[:, 2] = 0.1
    X[5, 1] = NAN
    mean, deviation = column_moments(X)
    np.testing.assert_allclose(mean, np.nanmean(X.astype(float), axis=0))
    np.testing.assert_allclose(deviation, np.nanstd(X.astype(float), axis=0), atol=1e-9)
    unit = scaled(X, mean, inverse_deviation(mean, deviation))
    np.testing.assert_allclose(np.nanstd(unit, axis=0), [1, 1, 0, 1], atol=1e-6)
    assert np.isnan(unit[5, 1])
    assert (unit[:, 2] == 0).all()


def test_features_are_scaled_in_double_precision_whatever_the_blocks(monkeypatch):
    X = np.float32([[0], [2], [100]])
    np.testing.assert_array_equal(scaled(X, np.array([1.0]), np.array([1.0])), [[-1], [1], [99]])
    monkeypatch.setattr(scaling, "_CACHED", 1)
    np.testing.assert_array_equal(scaled(X, np.array([0.1]), np.array([3.0])), ((X - 0.1) * 3).astype(np.float32))


def test_rank_features():
    found = rank_features(np.float32([[1, NAN], [3, 7]]))
    expected = [[1, 0, 1, 0, 0, 0], [1, 1, 0.5, 1 / 3, np.log(3), np.log(7)]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(InputError, match="below 1"):
        rank_features(np.float32([[0]]))


@pytest.mark.mirror
def test_twenty_one_rankers_make_63_features(mirror):
    judged = load_letor(mirror / "letor4/MQ2007-agg/A1.txt.xz", missing=True)
    X = rank_features(judged.X)
    assert X.shape == (14013, 63)
    assert np.isfinite(X).all()
