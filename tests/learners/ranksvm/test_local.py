"""Local models in blocks: against single models, across shards, and in degenerate cases."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.learners.ranksvm.explicit_pairs import model_sums

from qdrank.errors import InputError
from qdrank.learners.ranksvm import kernels
from qdrank.learners.ranksvm.estimator import RankSVM, all_pairs
from qdrank.learners.ranksvm.hinge import Problem
from qdrank.learners.ranksvm.local import (
    locality_order,
    make_blocks,
    prepare_training,
    shards_of_blocks,
    train_block,
    train_local,
    train_sweep,
)
from qdrank.learners.ranksvm.preferences import prepare


def judged(seed=0, n_queries=60, d=5, longest=15):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest, n_queries)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    X = rng.normal(size=(offsets[-1], d)).astype(np.float32)
    y = rng.integers(0, 3, offsets[-1]) + (X[:, 0] > 1)
    neighbours = np.stack([rng.permutation(n_queries) for _ in range(n_queries)])
    return X, y, offsets, neighbours


@pytest.fixture(scope="module")
def case():
    X, y, offsets, neighbours = judged()
    return X, y, offsets, neighbours, prepare_training(prepare(X, y, offsets))


def alone(X, y, offsets, queries, weights=None, **parameters):
    """The same model trained by itself in float64."""
    rows = np.concatenate([np.arange(offsets[q], offsets[q + 1]) for q in queries])
    query = np.repeat(np.arange(len(queries)), [offsets[q + 1] - offsets[q] for q in queries])
    return RankSVM(tol=1e-10, **parameters).fit(X[rows].astype(float), y[rows], query, weights)


def true_objective(X, y, offsets, queries, w, lam=0.01):
    loss, pairs = 0.0, 0
    for q in queries:
        s, g = X[offsets[q] : offsets[q + 1]].astype(float) @ w, y[offsets[q] : offsets[q + 1]]
        i, j = np.nonzero(g[:, None] > g)
        loss, pairs = loss + (np.maximum(0, 1 - s[i] + s[j]) ** 2).sum(), pairs + len(i)
    return lam / 2 * w @ w + loss / max(pairs, 1), pairs


def test_each_model_is_within_its_certified_gap(case):
    X, y, offsets, neighbours, base = case
    models = train_block(base, neighbours[:, :12])
    assert models.gaps.max() <= 1e-6
    for m in range(0, 60, 7):
        queries = neighbours[m, :12]
        value, pairs = true_objective(X, y, offsets, queries, models.W[m])
        best = alone(X, y, offsets, queries).objective_
        assert value - best <= models.gaps[m] * value + 1e-10
        assert models.pairs[m] == pairs


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 20), st.sampled_from([1.0, 0.01, 1e-4, 1e-6]))
@pytest.mark.filterwarnings("ignore:no query has documents of different grades")
def test_random_problems_reach_the_gap(seed, k, lam):
    X, y, offsets, neighbours = judged(seed, n_queries=20)
    base = prepare_training(prepare(X, y, offsets), lam=lam)
    models = train_block(base, neighbours[:, :k])
    assert models.gaps.max() <= 1e-6
    value, pairs = true_objective(X, y, offsets, neighbours[0, :k], models.W[0], lam)
    best = alone(X, y, offsets, neighbours[0, :k], lam=lam).objective_
    assert pairs == 0 or value - best <= models.gaps[0] * value + 1e-7 * best  # features are float32


def test_all_queries_give_exactly_the_single_model(case):
    X, y, offsets, neighbours, base = case
    models = train_block(base, neighbours)
    single = RankSVM().fit(X, y, np.repeat(np.arange(60), np.diff(offsets)))
    np.testing.assert_array_equal(models.W, np.tile(single.coef_, (60, 1)))
    assert (models.gaps == single.gap_).all()
    weighted = train_block(base, neighbours, weights=np.full(neighbours.shape, 3.0))
    np.testing.assert_array_equal(weighted.W, models.W)
    equal = prepare_training(base.data, query_weights="equal")
    np.testing.assert_array_equal(train_block(equal, neighbours).W, np.tile(equal.single.w, (60, 1)))


def test_a_stored_global_model_gives_the_same_ground(case):
    *_, neighbours, base = case
    again = prepare_training(base.data, single=base.single)
    assert train_block(again, neighbours[:, :9]).W.tobytes() == train_block(base, neighbours[:, :9]).W.tobytes()


@pytest.mark.parametrize("weighting", ["pairs", "equal"])
def test_lambdas_may_share_the_matrix_of_all_pairs(case, weighting):
    *_, neighbours, base = case
    matrix = all_pairs(base.data, weighting)
    for lam in (0.3, 0.01):
        known = prepare_training(base.data, lam=lam, query_weights=weighting, all_pairs=matrix)
        anew = prepare_training(base.data, lam=lam, query_weights=weighting)
        assert train_block(known, neighbours[:, :9]).W.tobytes() == train_block(anew, neighbours[:, :9]).W.tobytes()
        learner = RankSVM(lam=lam, query_weights=weighting)
        assert learner.fit_preferences(base.data, all_pairs=matrix).coef_.tobytes() == anew.single.w.tobytes()


@pytest.mark.parametrize("ks", [[12], [30, 8, 20]])
def test_shards_change_no_byte(case, ks):
    *_, neighbours, base = case
    blocks = make_blocks(np.arange(60)[::-1], 7)
    whole = train_sweep(base, neighbours, ks, blocks)
    for n_shards in (3, 7):
        of_block = shards_of_blocks([len(block) for block in blocks], n_shards)
        own = [[block for block, shard in zip(blocks, of_block, strict=True) if shard == s] for s in range(n_shards)]
        shards = [train_sweep(base, neighbours, ks, some) for some in own]
        for k in ks:
            order = np.argsort(np.concatenate([shard[k].rows for shard in shards]))[::-1]  # as the blocks have them
            assert np.concatenate([shard[k].rows for shard in shards])[order].tolist() == whole[k].rows.tolist()
            assert np.concatenate([shard[k].W for shard in shards])[order].tobytes() == whole[k].W.tobytes()
            assert np.concatenate([shard[k].gaps for shard in shards])[order].tobytes() == whole[k].gaps.tobytes()


def test_sweep_agrees_with_each_k_alone(case):
    X, y, offsets, neighbours, base = case
    swept = train_sweep(base, neighbours, [5, 40, 20], make_blocks(np.arange(60), 25))
    assert list(swept) == [5, 40, 20]
    for k, models in swept.items():
        assert models.gaps.max() <= 1e-6
        direct = train_local(base, neighbours[:, :k], make_blocks(np.arange(60), 25))
        for m in (0, 59):
            a = true_objective(X, y, offsets, neighbours[m, :k], models.W[m])[0]
            b = true_objective(X, y, offsets, neighbours[m, :k], direct.W[m])[0]
            assert a == pytest.approx(b, rel=2e-6)


@pytest.mark.parametrize("weighting", ["pairs", "equal"])
def test_weights_and_proximal_term(case, weighting):
    X, y, offsets, neighbours, _ = case
    centre = np.array([0.5, 0, 0, -0.5, 0])
    base = prepare_training(prepare(X, y, offsets), lam=0.1, query_weights=weighting, prox=centre)
    weights = np.random.default_rng(1).uniform(0, 2, (60, 10))
    models = train_block(base, neighbours[:, :10], weights=weights)
    for m in (0, 31):
        peer = alone(X, y, offsets, neighbours[m, :10], weights[m], lam=0.1, query_weights=weighting, prox=centre)
        np.testing.assert_allclose(models.W[m], peer.coef_, atol=2e-3)


def test_models_without_pairs_stay_at_the_centre():
    X, y, offsets, _ = judged()
    y[offsets[4] : offsets[5]] = 1
    centre = np.arange(5.0)
    base = prepare_training(prepare(X, y, offsets), prox=centre)
    models = train_block(base, np.array([[4, -1], [-1, -1], [3, 4]]))
    assert (models.W[:2] == centre).all()
    assert models.gaps[:2].tolist() == [0, 0]
    assert models.pairs[:2].tolist() == [0, 0]
    assert models.gaps[2] <= 1e-6


def test_a_query_named_twice_weighs_double(case):
    *_, neighbours, base = case
    twice = np.concatenate([neighbours[:5, :6]] * 2 + [neighbours[:5, 6:9]], axis=1)
    weights = np.repeat([2.0, 1.0], [6, 3])[None].repeat(5, axis=0)
    peer = train_block(base, neighbours[:5, :9], weights=weights)
    np.testing.assert_allclose(train_block(base, twice).W, peer.W, atol=1e-4)


def test_training_set_without_any_pair():
    X, y, offsets, neighbours = judged(n_queries=8)
    base = prepare_training(prepare(X, np.zeros_like(y), offsets))
    assert not train_block(base, neighbours[:, :3]).W.any()


def test_rounding_of_float32_stays_below_the_allowance(case):
    """The allowance for rounding in the certificate against float64 gradients, at random points."""
    *_, neighbours, base = case
    coef = np.full((60, 12), 1 / 600)
    rest = base.data.offsets, base.data.lower, *kernels.transpose(neighbours[:, :12], coef, 60), np.arange(60)
    for seed in range(3):
        W = np.random.default_rng(seed).normal(size=(60, 5))
        _, narrow = kernels.evaluate_block(base.data.X, *rest, W.astype(np.float32))
        slacks, G = model_sums(base.data, neighbours[:, :12], coef, W)
        loss = slacks + (W * G).sum(axis=1) / 2
        assert (np.linalg.norm(narrow - G, axis=1) <= base.noise * np.sqrt(loss)).all()


@pytest.mark.parametrize("largest", [0, 2**27])
def test_both_preconditioners_lead_to_the_optimum(case, largest, monkeypatch):
    """A matrix for each model, or one for all where those would need too much memory."""
    X, y, offsets, neighbours, base = case
    monkeypatch.setattr("qdrank.learners.ranksvm.anderson.LARGEST", largest)
    models = train_sweep(base, neighbours, [25, 9], [np.arange(60)])
    for k, found in models.items():
        assert found.gaps.max() <= 1e-6
        for m in (3, 44):
            value, _ = true_objective(X, y, offsets, neighbours[m, :k], found.W[m])
            best = alone(X, y, offsets, neighbours[m, :k]).objective_
            assert value - best <= found.gaps[m] * value + 1e-10


def test_the_matrix_of_a_model_is_the_hessian_at_the_global_model(case):
    *_, neighbours, base = case
    use = csr_array((np.full(24, 0.01), neighbours[:2, :12].ravel(), [0, 12, 24]), shape=(2, 60))
    G, none = np.random.default_rng(0).normal(size=(2, 5)), np.zeros(2, dtype=bool)
    step = base.curvature.preconditioner(use, 0.01, base.inverse)
    hessians = [
        0.01 * np.eye(5)
        + 2 * Problem(base.data, row, np.full(12, 0.01), 0.01, base.centre).curvature(base.single.w, np.inf)
        for row in neighbours[:2, :12].astype(np.int64)
    ]
    expected = [np.linalg.solve(hessians[1], G[0]), np.linalg.solve(hessians[0], G[1])]
    np.testing.assert_allclose(step(np.array([1, 0]), G, none), expected, rtol=1e-3)
    np.testing.assert_allclose(step(np.arange(2), G, ~none), G @ base.inverse)  # after a step that led upwards


def test_blocks_cover_all_rows_once():
    vectors = np.random.default_rng(0).normal(size=(103, 4))
    order = locality_order(vectors, 10)
    assert sorted(order) == list(range(103))
    blocks = make_blocks(order, 10)
    assert [len(b) for b in blocks] == [10] * 10 + [3]
    spread = np.mean([vectors[b].var(axis=0).sum() for b in blocks])
    assert spread < 0.7 * vectors.var(axis=0).sum()  # blocks are neighbourhoods


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6), st.integers(1, 3))
def test_shards_cost_about_the_same(costs, n_shards):
    found = shards_of_blocks(costs, n_shards)
    largest = np.bincount(found, weights=costs, minlength=n_shards).max()
    divisions = product(range(n_shards), repeat=len(costs))
    best = min(np.bincount(division, weights=costs).max() for division in divisions)
    assert len(found) == len(costs)
    assert 0 <= found.min() <= found.max() < n_shards
    assert largest <= (4 / 3 - 1 / (3 * n_shards)) * best + 1e-9


def test_a_shard_more_than_there_are_blocks_is_empty():
    assert sorted(shards_of_blocks([3, 2, 9], 5).tolist()) == [0, 1, 2]
    with pytest.raises(InputError, match="cannot be divided among 0 shards"):
        shards_of_blocks([1], 0)


def test_bad_neighbours_and_k_are_named(case):
    *_, neighbours, base = case
    with pytest.raises(InputError, match="training set"):
        train_block(base, neighbours + 1)
    with pytest.raises(InputError, match="every k"):
        train_sweep(base, neighbours, [0], make_blocks(np.arange(60), 10))
