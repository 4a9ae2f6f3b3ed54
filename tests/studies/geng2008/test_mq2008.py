"""Change ratios on MQ2008, five folds, against those of an independent prototype."""

import numpy as np
import pytest

from qdrank.layout import pair_counts
from qdrank.queries.neighbours import neighbours
from qdrank.queries.vectors import Standardiser, query_vectors
from qdrank.rankers.knn import ALIKE, change_ratios, offline1, offline2

#: Mean gamma at k = 100, 200, 300, 400; vectors of 46 z-scored means, reference feature 37.
EXPECTED = {
    "shared_pairs": (1.08, 0.69, 0.42, 0.18),
    "shared_queries": (0.65, 0.37, 0.21, 0.09),
    "smallest_gamma": (0.45, 0.25, 0.13, 0.03),
    "offline2": (0.82, 0.48, 0.28, 0.15),
}
KS = (100, 200, 300, 400)


def fold_gammas(parts, test):
    """Gammas of the test queries by method and k, trained on the three parts that LETOR's rotation gives."""
    train = [(test + i) % 5 for i in (1, 2, 3)]
    vectors = np.vstack([parts[i][0] for i in train])
    pairs = np.concatenate([parts[i][1] for i in train])
    scale = Standardiser().fit(vectors)
    vectors, tested = scale.transform(vectors), scale.transform(parts[test][0])
    own = neighbours(vectors, vectors, max(KS), train_index=np.arange(len(vectors))).rows
    near = neighbours(tested, vectors, max(KS)).rows
    chosen = {alike: offline1(near, own, pairs, KS, alike=alike) for alike in ALIKE}
    chosen["offline2"] = dict.fromkeys(KS, offline2(near))
    return {method: change_ratios(near, own, pairs, rows) for method, rows in chosen.items()}


@pytest.mark.mirror
@pytest.mark.full
def test_gamma_on_mq2008(mirror):
    from qdrank.datasets.letor.reader import load_letor

    data = [load_letor(mirror / "letor4" / "MQ2008" / f"S{i}.txt.xz") for i in range(1, 6)]
    parts = [(query_vectors(d.X, d.offsets, 36), pair_counts(d.y, d.offsets)) for d in data]
    folds = [fold_gammas(parts, test) for test in range(5)]
    for method, expected in EXPECTED.items():
        found = [np.concatenate([fold[method][k] for fold in folds]).mean() for k in KS]
        np.testing.assert_allclose(found, expected, atol=0.02, err_msg=method)
