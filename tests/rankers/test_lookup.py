"""The lookups of ready models are those of the study, ties included."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qdrank.queries import METRICS
from qdrank.queries.neighbours import neighbours
from qdrank.rankers import ready
from qdrank.rankers.knn import ALIKE, offline1, offline2
from qdrank.rankers.ready import Neighbourhoods, Offline1, Offline2, TrainingSpace


@given(
    seed=st.integers(0, 10**6),
    metric=st.sampled_from(["euclidean", "manhattan", "cosine", "mahalanobis"]),
    choice=st.sampled_from(ALIKE),
    coarse=st.booleans(),
    dense=st.booleans(),
)
def test_lookups_are_those_of_the_study(seed: int, metric: str, choice: str, coarse: bool, dense: bool) -> None:
    """Coarse vectors, duplicates and few pairs make ties; the lists of neighbours may be shorter than the data."""
    rng = np.random.default_rng(seed)
    m, width = int(rng.integers(2, 40)), int(rng.integers(1, 5))
    train, test = rng.standard_normal((m, width)), rng.standard_normal((12, width))
    if coarse:
        train, test = np.round(train), np.round(test)
    test[:4] = train[rng.integers(0, m, size=4)]
    ids = rng.permutation(m).astype(str).astype(object)
    pairs = rng.integers(0, 4, size=m)
    k = int(rng.integers(1, m + 1))
    largest = int(rng.integers(k, m + 1))
    fitted = METRICS[metric]().fit(train)
    of_train = neighbours(train, train, largest, train_index=np.arange(m), ids=ids, metric=fitted).rows
    of_test = neighbours(test, train, largest, ids=ids, metric=fitted).rows
    space = TrainingSpace(train, ids, fitted)
    second = Offline2(space)
    assert [second(vector) for vector in test] == offline2(of_test).tolist()
    for vector, row in zip(test, of_test, strict=True):
        assert set(space.neighbourhood(space.point(vector), k)) == set(row[:k])
    with mock.patch.object(ready, "_DENSE_MOST", 4096 if dense else 0):
        first = Offline1(space, Neighbourhoods(of_train[:, :k], pairs, choice), largest)
    assert [first(vector) for vector in test] == offline1(of_test, of_train, pairs, [k], alike=choice)[k].tolist()
