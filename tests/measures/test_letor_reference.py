"""The figures that the publisher's script printed for a test set of MQ2008, to the last digit printed."""

from __future__ import annotations

import lzma

import numpy as np
import pytest

from qdrank.layout import query_offsets
from qdrank.measures.compute import measure

COLUMNS = ["ap", "p@1/letor4", "p@5/letor4", "p@10/letor4"]
COLUMNS += [f"ndcg@{k}/letor4" for k in (1, 3, 5, 7, 8, 9, 10)] + ["mean_ndcg/letor4"]
PRINTED = {
    21: ".4292 .3654 .3154 .2269 .3013 .3798 .4203 .4384 .3890 .1874 .1933 .4303",
    23: ".4226 .3333 .3128 .2327 .2821 .3810 .4146 .4486 .4003 .1837 .1868 .4345",
    25: ".3701 .3397 .2769 .2109 .2714 .3175 .3549 .3932 .3502 .1598 .1655 .3693",
    40: ".4342 .3526 .3205 .2250 .2842 .3686 .4242 .4573 .4066 .1950 .1995 .4327",
}


@pytest.fixture(scope="module")
def values(mirror):
    with lzma.open(mirror / "letor4" / "MQ2008" / "S5.txt.xz", "rt") as file:
        rows = [line.partition("#")[0].split() for line in file]
    y, query = np.array([int(row[0]) for row in rows]), np.array([row[1] for row in rows])
    X = np.array([[float(cell.partition(":")[2]) for cell in row[2:]] for row in rows])
    assert (len(y), X.shape[1], len(query_offsets(query)) - 1) == (2874, 46, 156)
    return measure(COLUMNS, y, X, query_offsets(query))


@pytest.mark.mirror
@pytest.mark.parametrize("feature", PRINTED)
def test_single_features_give_the_scripts_figures(values, feature):
    ours = [f"{values[name][:, feature - 1].mean():.4f}".lstrip("0") for name in COLUMNS]
    assert " ".join(ours) == PRINTED[feature]
