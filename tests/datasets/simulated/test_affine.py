"""Affine copies: grades that are maps of one merit, and maps that aTVT finds again."""

import numpy as np
import pytest

from qdrank.datasets.simulated.features import simulate_affine, two_runs, write_simulated
from qdrank.errors import InputError
from qdrank.layout import query_index
from qdrank.learners import ATVT
from qdrank.store import read


@pytest.fixture(scope="module")
def copies():
    return simulate_affine(1)


def test_grades_are_maps_of_merits(copies):
    of = query_index(copies.offsets)
    scale, offset = copies.latent.T
    merit = (copies.y - offset[of]) / scale[of]
    assert set(np.unique(merit)) == {0, 1, 2}
    assert copies.y.min() == 0
    assert copies.y.max() == 4
    np.testing.assert_allclose(np.bincount(merit.astype(int)) / len(merit), [0.6, 0.25, 0.15], atol=0.02)
    assert copies.types[0] == f"scale {scale[0]:.0f}, offset {offset[0]:.0f}"


def test_half_of_the_features_are_shifted_by_query(copies):
    of = query_index(copies.offsets)
    means = np.array([copies.X[of == q].mean(axis=0) for q in range(200)])
    assert (means[:, :10].std(axis=0) < 0.5).all()
    assert (means[:, 10:].std(axis=0) > 1.5).all()


def test_the_same_seed_gives_the_same_copies(copies):
    again, other = simulate_affine(1), simulate_affine(2)
    np.testing.assert_array_equal(again.X, copies.X)
    assert not np.array_equal(other.weights, copies.weights)


def test_atvt_finds_the_scales_and_ranks_better(copies):
    train = np.isin(copies.part, ["train"])
    test = np.isin(copies.part, ["test"])
    data = copies.X[train], copies.y[train].astype(float), copies.query[train]
    model, plain = (ATVT(lam_h=1.0, lam_alpha=1.0, lam_beta=0.1, rounds=k).fit(*data) for k in (None, 0))
    scale = copies.latent[copies.query_part == "train", 0]
    assert model.alpha_[scale == 2].mean() / model.alpha_[scale == 1].mean() == pytest.approx(2, rel=0.1)
    names, truth = copies.query[test], copies.X[test] @ copies.weights[0]
    assert np.corrcoef(within(model.predict(copies.X[test]), names), within(truth, names))[0, 1] > 0.99
    assert np.corrcoef(within(plain.predict(copies.X[test]), names), within(truth, names))[0, 1] < 0.95


def within(x, query):
    """Values less the mean of their query."""
    _, of, sizes = np.unique(query, return_inverse=True, return_counts=True)
    return x - (np.bincount(of, x) / sizes)[of]


def test_the_artifacts_are_written(tmp_path):
    out = {name: tmp_path / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    write_simulated(out, like="affine", seed=1, train=4, vali=2, test=2)
    assert read(out["topics"], "topics").column("type")[0].as_py().startswith("scale ")
    assert read(out["columns"], "columns").num_rows == 20


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="unknown setting 'shfit'"):
        simulate_affine(1, shfit=2)
    with pytest.raises(InputError, match="no range"):
        simulate_affine(1, documents=[5, 2])
    with pytest.raises(InputError, match="features: Input should be greater"):
        simulate_affine(1, features=1)
    with pytest.raises(InputError, match="relevant: a query has fewer documents"):
        two_runs(1, documents=5)


def test_runs_are_drawn_as_data_like_any(tmp_path):
    out = {name: tmp_path / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    write_simulated(out, like="two-runs", seed=1, queries=20, documents=12)
    topics = read(out["topics"], "topics")
    assert topics.column("part").to_pylist() == ["train"] * 12 + ["vali"] * 4 + ["test"] * 4
    assert read(out["columns"], "columns").column("name")[0].as_py() == "min-max of first"
