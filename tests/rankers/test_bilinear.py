import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.rankers.query_world import mean_loss, pairs, world

from qdrank.errors import InputError
from qdrank.rankers.bilinear import Bilinear, Mixture, out_of_fold, standardised
from qdrank.rankers.evidence import NeighbourEvidence
from qdrank.rankers.learned import WithQueryVectors
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.one_model import LinearRanker, TreeRanker, WithEvidence, without_choice
from qdrank.rankers.tuning import tune_rankers


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 20.0]), st.sampled_from([0, 1, 2]))
def test_the_optimum_of_the_objective(seed, interactions, components):
    train, vectors = world(seed)
    d, lam = train.X.shape[1], 0.05
    ranker = Bilinear(lam=lam, interactions=interactions, components=components, tol=1e-9).fit(train, vectors)
    centred = vectors - vectors.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:components]
    Z = centred @ axes.T
    Z = Z / Z.std(axis=0) if components else Z
    D = np.concatenate([np.kron(np.append(1.0, Z[q]), pairs(train, q)) for q in range(train.n_queries)])
    penalty = np.repeat([1.0, *[interactions] * components], d)

    def objective(w):
        loss, gradient = mean_loss(w, D, np.ones(len(D)))
        return lam / 2 * penalty @ w**2 + loss, lam * penalty * w + gradient

    options = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 5000}
    best = minimize(objective, np.zeros(D.shape[1]), jac=True, method="L-BFGS-B", options=options)
    W = np.column_stack([np.ones(len(Z)), Z]) @ best.x.reshape(-1, d)
    np.testing.assert_allclose(ranker.models(vectors), W, atol=5e-4)


def test_mixtures_learn_from_scores_of_unseen_queries():
    """Out-of-fold scores are those of rankers trained by hand on the other parts."""
    train, vectors = world(6)
    bases = [LinearRanker(lam=0.1), TreeRanker(rounds=6, leaves=4, min_leaf=2)]
    for base in bases:
        base.fit(train, vectors)
    scores = out_of_fold(bases, train, vectors, parts=3, seed=5)
    part = np.random.default_rng(5).permutation(train.n_queries) % 3
    for own in range(3):
        rest = np.flatnonzero(part != own)
        ranker = LinearRanker(lam=0.1).fit(train.take(rest), vectors[rest])
        rows = np.flatnonzero(np.isin(train.query_index, np.flatnonzero(part == own)))
        np.testing.assert_allclose(scores[rows, 0], train.X[rows].astype(float) @ ranker.coef_)
    y = train.y.copy()
    train.y[:] = np.roll(train.y, 1)  # labels of a held-out query do not reach its own scores
    train.y[part[train.query_index] != 0] = y[part[train.query_index] != 0]
    rows = part[train.query_index] == 0
    np.testing.assert_array_equal(out_of_fold(bases, train, vectors, parts=3, seed=5)[rows], scores[rows])


def test_a_fixed_mixture_has_one_weight_per_ranker_and_a_gate_has_more():
    train, vectors = world(7)
    fixed = Mixture(bases=[LinearRanker(), LocalRanker(k=5)], parts=3).fit(train, vectors)
    assert fixed.weights_.coef_.shape == (1, 2)
    gated = Mixture(bases=[LinearRanker(), LocalRanker(k=5)], gate=True, components=2).fit(train, vectors)
    assert gated.weights_.coef_.shape == (3, 2)
    scores = np.stack([base.predict(train, vectors) for base in fixed.bases], axis=1)
    expected = standardised(scores, train.offsets).astype(np.float32).astype(float) @ fixed.weights_.coef_[0]
    np.testing.assert_allclose(fixed.predict(train, vectors), expected)


def test_rankers_out_of_fold_have_as_many_trees_as_the_fitted_ones():
    """Without a validation part the number of trees cannot be chosen again, however deep the trees lie."""
    trees = WithQueryVectors(base=TreeRanker(rounds=50))
    mixture = Mixture(bases=[LinearRanker(), trees])
    fitted = Mixture(bases=[LinearRanker(), WithQueryVectors(base=TreeRanker(rounds=50))])
    fitted.bases[1].base.rounds_ = 7
    assert without_choice(mixture, fitted).bases[1].base.rounds == 7


def test_standardised_scores():
    scores = np.array([[1.0, 5.0], [3.0, 5.0], [7.0, 1.0]])
    np.testing.assert_allclose(standardised(scores, np.array([0, 2, 3])), [[-1, 0], [1, 0], [0, 0]])


def test_evidence_and_vectors_are_appended_to_the_features():
    train, vectors = world(8)
    test, new = world(9, first=100)
    evidence = NeighbourEvidence(reference=0, gammas=(1.0, 2.0))
    ranker = WithEvidence(base=LinearRanker(), evidence=evidence).fit(train, vectors)
    columns = NeighbourEvidence(reference=0, gammas=(1.0, 2.0)).fit_transform(train)
    np.testing.assert_allclose(ranker.scale_, 1 / columns.std(axis=0))
    wide = np.hstack([test.X, ranker.evidence.transform(test) * ranker.scale_])
    np.testing.assert_allclose(ranker.predict(test, new), wide @ ranker.base.coef_, atol=1e-6)
    ranker = WithQueryVectors(base=LinearRanker()).fit(train, vectors)
    assert len(ranker.base.coef_) == train.X.shape[1] + vectors.shape[1]


def test_tuning_keeps_the_first_of_the_best():
    train, vali = world(1), world(2, first=100)
    tried = [LinearRanker(lam=lam) for lam in (1.0, 0.01, 0.01)]
    found = tune_rankers(tried, train, vali)
    assert found.place == int(np.argmax(found.values))
    assert found.chosen is tried[found.place]
    assert found.place != 2
    none = (train[0].take(np.zeros(0, dtype=np.int64)), vali[1][:0])
    assert len(tune_rankers(tried, train, none).values) == 3
    with pytest.raises(InputError):
        tune_rankers([], train, vali)


def test_bad_settings_are_refused():
    with pytest.raises(InputError):
        Bilinear(interactions=0)
    train, vectors = world(0, n_queries=2)
    with pytest.raises(InputError, match="cannot be divided"):
        out_of_fold([LinearRanker().fit(train, vectors)], train, vectors, parts=3)
