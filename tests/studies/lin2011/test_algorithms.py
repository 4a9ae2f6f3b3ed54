"""Naive, SelectRanker, Transform and the oracles against plain loops, the clusters and their models given."""

import numpy as np
import pytest
from tests.studies.lin2011.lin_world import chosen, clustering, documents, fold, singles

from qdrank.datasets.simulated.features import REFERENCE
from qdrank.measures.compute import average_precision
from qdrank.studies.lin2011.bank import Key
from qdrank.studies.lin2011.fold import scores_for
from qdrank.studies.lin2011.methods import Readings
from qdrank.studies.lin2011.settings import Lin
from qdrank.studies.lin2011.training import Trainer, seen_rows
from qdrank.studies.lin2011.units import halves
from qdrank.studies.lin2011.weights import (
    distance_weights,
    majority,
    relevant_choices,
    select_weights,
    standardised_rows,
    top_rows,
    transformed,
)

LAM, M = 0.1, 5


class ByHand:
    """The paper's algorithms, one query, cluster and document at a time."""

    def __init__(self, study, scheme="pairs", m=M):
        self.study, self.r = study, study.readings
        key = Key(scheme, 1, m)
        self.clusters, self.W = clustering(key, **vars(study.readings)), study.bank.models(key, LAM).weights
        self.halves = []
        if self.r.confidence_from == "inner":
            first, trainer = halves(self.n("train"), study.base), Trainer(documents(), singles(), chosen())
            fits = [trainer.fit(self.clusters, self.r.training_set, only)[LAM].W for only in (~first, first)]
            self.halves = [documents().stored(W) for W in fits]
        self.m = m

    def documents(self, role, q):
        part = documents().parts[role]
        rows = np.arange(part.offsets[q], part.offsets[q + 1])
        X = part.X[rows].astype(float)
        return (
            X,
            part.y[rows],
            X[:, REFERENCE],
            X @ documents().stored(chosen()),
            seen_rows(documents(), part)[rows].astype(float),
        )

    def n(self, role):
        return documents().parts[role].n_queries

    # ---- algorithm 1

    def naive(self, role, q, t):
        _, _, _, single, V = self.documents(role, q)
        top = V[np.argsort(-single, kind="stable")[:t]]
        if self.r.representation == "mean":
            return self.nearest(top.mean(axis=0))
        votes = [self.nearest(v) for v in top]
        return max(dict.fromkeys(votes), key=votes.count)  # the first of the most frequent

    def nearest(self, v):
        gaps = [np.inf if np.isnan(c).any() else ((v - c) ** 2).sum() for c in self.clusters.centres]
        return int(np.argmin(gaps))

    # ---- algorithm 2

    def distribution(self, s):
        if s.max() == s.min():
            return np.full(len(s), 1 / len(s))
        if self.r.distribution == "minmax":
            u = (s - s.min()) / (s.max() - s.min()) + 1e-6
        else:
            u = np.exp((s - s.max()) / s.std())
        return u / u.sum()

    def delta(self, role, q, i):
        X, _, base, _, _ = self.documents(role, q)
        p, b = self.distribution(X @ self.W[i]), self.distribution(base)

        def bits(x, y):
            return float((x * np.log2(x / y)).sum())

        if self.r.divergence == "js":
            return (bits(b, (p + b) / 2) + bits(p, (p + b) / 2)) / 2
        return bits(p, b) if self.r.divergence == "local-base" else bits(b, p)

    def ap(self, q, i):
        X, y, *_ = self.documents("train", q)
        w = self.W[i]
        if self.halves:
            w = self.halves[0 if halves(self.n("train"), self.study.base)[q] else 1][i]
        return average_precision(y, X @ w, np.array([0, len(y)]))[0]

    def members(self, i):
        own = {}
        for q, c, n in zip(*self.clusters.touched, strict=True):
            own.setdefault(int(q), {})[int(c)] = int(n)
        if self.r.membership == "every":
            return sorted(q for q, held in own.items() if i in held)
        return sorted(q for q, held in own.items() if min(held, key=lambda c: (-held[c], c)) == i)

    def select(self, role, q, k):
        weights = []
        for i in range(self.m):
            members = self.members(i)
            here = self.delta(role, q, i)
            kept = sorted(members, key=lambda j: (round(abs(here - self.delta("train", j, i)), 12), j))[:k]
            total = sum(self.ap(j, i) for j in kept)
            weights.append(total / len(kept) if self.r.confidence == "mean" and kept else total)
        return np.array(weights) if sum(weights) else np.ones(self.m)

    # ---- algorithm 3

    def point(self, role, q):
        _, _, base, single, _ = self.documents(role, q)
        if self.r.transformation == "top-scores":
            return [np.sort(s)[::-1][: self.r.top].mean() for s in (base, single)]
        p1, p2 = self.distribution(base), self.distribution(single)
        if self.r.transformation == "divergence":
            return [float((p1 * np.log2(p1 / p2)).sum()), float((p2 * np.log2(p2 / p1)).sum())]
        return [float((p * np.log2(p * len(p))).sum()) for p in (p1, p2)]

    def transform(self, role, q):
        train = np.array([self.point("train", j) for j in range(self.n("train"))])
        z = (np.array(self.point(role, q)) - train.mean(axis=0)) / train.std(axis=0)
        own = (train - train.mean(axis=0)) / train.std(axis=0)
        gaps = np.sqrt(((self.clusters.centres - z) ** 2).sum(axis=1))
        if self.r.weighting == "inverse":
            w = 1 / (gaps + 1e-9)
        else:
            label = dict(zip(*self.clusters.touched[:2], strict=True))
            width = np.median([np.linalg.norm(own[j] - self.clusters.centres[label[j]]) for j in range(len(own))])
            w = np.exp(-(gaps**2) / (2 * width**2))
        return w / w.sum()

    # ---- eq. 1

    def scores(self, role, q, weights):
        X = self.documents(role, q)[0]
        total = np.zeros(len(X))
        for i in range(self.m):
            s = X @ self.W[i]
            if self.r.score_scale == "minmax":
                s = (s - s.min()) / ((s.max() - s.min()) or 1)
            elif self.r.score_scale == "zscore":
                s = (s - s.mean()) / (s.std() or 1)
            total += weights[i] * s
        return total


READINGS = [
    {},
    {"training_set": "queries"},
    {"representation": "vote"},
    {"distribution": "softmax"},
    {"divergence": "base-local"},
    {"divergence": "js"},
    {"membership": "every"},
    {"confidence": "mean"},
    {"confidence_from": "inner"},
    {"score_scale": "zscore"},
    {"score_scale": "raw"},
]


@pytest.mark.parametrize("readings", READINGS, ids=lambda r: "-".join(f"{v}" for v in r.values()) or "default")
def test_naive_and_select_ranker_follow_the_algorithms(readings):
    study = fold(**readings)
    hand, local = ByHand(study), study.local("test", Key("pairs", 1, M), LAM)
    part = documents().parts["test"]
    choices = local.naive([1, 4])
    for t in (1, 4):
        wanted = [hand.naive("test", q, t) for q in range(part.n_queries)]
        assert choices[t].tolist() == wanted
        scores = local.scores_of(choices[t])
        for q, i in enumerate(wanted):
            own = slice(part.offsets[q], part.offsets[q + 1])
            assert scores[own] == pytest.approx(hand.documents("test", q)[0] @ hand.W[i])
    weights = local.select_weights([1, 3, 50])
    for k in (1, 3, 50):
        for q in range(part.n_queries):
            wanted = hand.select("test", q, k)
            assert weights[k][:, q] == pytest.approx(wanted, abs=1e-9)
            own = slice(part.offsets[q], part.offsets[q + 1])
            assert local.aggregated(weights[k])[own] == pytest.approx(hand.scores("test", q, wanted), abs=1e-8)


@pytest.mark.parametrize(
    "readings",
    [
        {},
        {"transformation": "peakedness"},
        {"transformation": "top-scores", "top": 3},
        {"weighting": "gaussian"},
        {"distribution": "softmax"},
        {"score_scale": "raw"},
    ],
    ids=lambda r: "-".join(f"{v}" for v in r.values()) or "default",
)
def test_transform_follows_the_algorithm(readings):
    study = fold(**readings)
    hand, local = ByHand(study, "transformed"), study.local("test", Key("transformed", 1, M), LAM)
    part, weights = documents().parts["test"], local.transform_weights()
    for q in range(part.n_queries):
        wanted = hand.transform("test", q)
        assert weights[:, q] == pytest.approx(wanted, rel=1e-6)
        own = slice(part.offsets[q], part.offsets[q + 1])
        assert local.aggregated(weights)[own] == pytest.approx(hand.scores("test", q, wanted), rel=1e-6, abs=1e-8)


def test_relevant_only_goes_by_the_relevant_documents():
    study = fold()
    hand, local = ByHand(study), study.local("test", Key("pairs", 1, M), LAM)
    found = local.relevant_only()
    for q in range(hand.n("test")):
        _, y, _, _, V = hand.documents("test", q)
        assert found[q] == hand.nearest(V[y > 0].mean(axis=0) if (y > 0).any() else V.mean(axis=0))


@pytest.mark.parametrize("scale", ["minmax", "zscore", "raw"])
def test_one_cluster_ranks_like_the_global_model(scale):
    """With m = 1 every method is RankSVM with the lambda of the local models."""
    study = fold(ms=(1,), score_scale=scale)
    part = documents().parts["test"]
    single = study.bank.models(Key("pairs", 1, 1), 0.01).weights
    assert single[0] == pytest.approx(study.single, abs=0)
    wanted = average_precision(part.y, study.roles["test"].single, part.offsets)
    local = study.local("test", Key("pairs", 1, 1), 0.01)
    for choice in (local.naive([3])[3], local.relevant_only()):
        scores = local.scores_of(choice)
        assert average_precision(part.y, scores, part.offsets) == pytest.approx(wanted, abs=1e-14)
    assert local.role.ap(local.scores).max(axis=0) == pytest.approx(wanted, abs=1e-14)
    select = local.aggregated(local.select_weights([2])[2])
    assert average_precision(part.y, select, part.offsets) == pytest.approx(wanted, abs=1e-14)
    local = study.local("test", Key("transformed", 1, 1), 0.01)
    assert average_precision(part.y, local.aggregated(local.transform_weights()), part.offsets) == pytest.approx(wanted)


# ---- small parts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["naive", "select", "transform"])
def test_a_control_ranks_each_query_with_the_weights_of_another_one(kind):
    scheme = "transformed" if kind == "transform" else "pairs"
    local = fold().local("test", Key(scheme, 1, M), LAM)
    offsets, size = local.role.offsets, 0 if kind == "transform" else 4
    if kind == "naive":
        weights = np.eye(M)[:, local.naive([size])[size]]
    else:
        weights = local.select_weights([size])[size] if kind == "select" else local.transform_weights()
    scores = local.scores if kind == "naive" else local.scaled
    made = scores_for(local, kind, [size], "other")[size]
    givers = []
    for q in range(len(offsets) - 1):
        here = slice(offsets[q], offsets[q + 1])
        with_each = np.array([w @ scores[:, here] for w in weights.T])
        givers.append(np.flatnonzero(np.abs(with_each - made[here]).max(axis=1) < 1e-12))
        assert any(giver != q for giver in givers[-1])
    # every query gives its weights once: the controls use the same weights as the method, none twice
    assert set(np.concatenate(givers).tolist()) == set(range(len(offsets) - 1))
    again = fold().local("test", Key(scheme, 2, M), LAM)
    assert again.draw != local.draw


def test_the_control_with_equal_weights_leaves_empty_clusters_out():
    local = fold().local("test", Key("transformed", 1, M), LAM)
    filled = ~np.isnan(local.models.centres[:, 0])
    made = scores_for(local, "transform", [0], "uniform")[0]
    np.testing.assert_allclose(made, local.scaled[filled].sum(axis=0), rtol=1e-12)


def test_all_weights_zero_become_equal():
    none = np.zeros(2)
    found = select_weights(np.zeros((2, 3)), np.array([0, 1]), none, none, [1])[1]
    assert (found == 1).all()


def test_a_cluster_without_members_has_no_weight():
    found = select_weights(np.zeros((2, 1)), np.array([1]), np.zeros(1), np.ones(1), [2])[2]
    assert found[:, 0].tolist() == [0, 1]


def test_nearest_queries_at_equal_distance_come_in_their_order():
    found = select_weights(np.zeros((1, 1)), np.zeros(3, int), np.array([1.0, -1, 2]), np.array([0.5, 0.25, 1]), [1, 2])
    assert [found[k][0, 0] for k in (1, 2)] == [0.5, 0.75]


def test_empty_clusters_have_no_weight_in_transform():
    centres = np.array([[0.0, 0], [np.nan, np.nan], [3, 4]])
    for weighting in ("inverse", "gaussian"):
        found = distance_weights(np.zeros((1, 2)), centres, weighting, 1.0)[:, 0]
        assert found[1] == 0
        assert found.sum() == pytest.approx(1)
        assert found[0] > found[2]


def test_gaussian_weights_do_not_vanish_far_away():
    found = distance_weights(np.array([[1e4, 0]]), np.array([[0.0, 0], [1, 0]]), "gaussian", 0.1)
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(1)


def test_votes_that_tie_go_to_the_first():
    assert majority(np.array([2, 1, 1, 2, 0]), np.array([0, 4, 5]), 3).tolist() == [2, 0]
    assert majority(np.array([2, 1, 2, 1]), np.array([0, 4]), 3).tolist() == [2]


def test_top_documents_of_short_lists_are_all_of_them():
    rows, bounds = top_rows(np.array([1.0, 3, 2, 5]), np.array([0, 3, 4]), 2)
    assert rows.tolist() == [1, 2, 3]
    assert bounds.tolist() == [0, 2, 3]


def test_a_query_without_relevant_documents_has_a_cluster_all_the_same():
    assert relevant_choices(np.eye(2), np.zeros(2, int), np.array([0, 2]), np.eye(2)).shape == (1,)


def test_a_dimension_that_does_not_vary_is_left_out():
    train, other = standardised_rows(np.array([[1.0, 2], [3, 2]]), np.array([[5.0, 9]]))
    assert train.tolist() == [[-1, 0], [1, 0]]
    assert other.tolist() == [[3, 0]]


def test_transformed_queries_of_equal_models_are_at_the_origin():
    s, offsets = np.array([1.0, 2, 4, 3]), np.array([0, 2, 4])
    assert transformed(s, 2 * s + 1, offsets, Readings(**Lin().readings())) == pytest.approx(0, abs=1e-12)
