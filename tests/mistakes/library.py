"""Mistakes in Python: learners, rankers, measures and results."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import qdrank
from qdrank.datasets.judged import Judged
from qdrank.datasets.simulated.features import simulate
from qdrank.learners import RankSVM
from qdrank.learners.trees import LambdaMART
from qdrank.measures.compute import measure
from qdrank.rankers.local_ranker import LocalRanker
from tests.mistakes.planted import Mistake

RNG = np.random.default_rng(0)
X, Y, QUERY = RNG.random((20, 3)), np.tile([0, 1], 10), np.repeat(np.arange(5), 4)
JUDGED = Judged.from_arrays(X, Y, QUERY)
VECTORS = RNG.random((5, 2))


def python(name: str, makes: Callable[[], Any], says: str) -> Mistake:
    """A mistake in a call."""
    return Mistake(name, makes, says)


def nan() -> np.ndarray:
    """Features with a hole."""
    holed = X.copy()
    holed[3, 1] = np.nan
    return holed


LIBRARY = [
    python("predict before fit", lambda: RankSVM().predict(X), "RankSVM | fit"),
    python("LambdaMART: predict before fit", lambda: LambdaMART().predict(X), "LambdaMART | fit"),
    python("other columns in predict", lambda: RankSVM().fit(X, Y, QUERY).predict(X[:, :2]), "2 features | 3"),
    python("a sparse matrix", lambda: RankSVM().fit(csr_matrix(X), Y, QUERY), "sparse matrix | X.toarray()"),
    python("NaN", lambda: RankSVM().fit(nan(), Y, QUERY), "NaN | fix:"),
    python("a vector for features", lambda: RankSVM().fit(X[:, 0], Y, QUERY), "must be a table | reshape"),
    python("words for features", lambda: RankSVM().fit(X.astype(str) + "a", Y, QUERY), "must be numbers | fix:"),
    python("no documents", lambda: RankSVM().fit(X[:0], Y[:0], QUERY[:0]), "no document"),
    python("fewer grades than documents", lambda: RankSVM().fit(X, Y[:5], QUERY), "20 documents and 5 grades | fix:"),
    python(
        "fewer query ids than documents", lambda: RankSVM().fit(X, Y, QUERY[:5]), "20 documents and 5 query ids | fix:"
    ),
    python("real-valued grades in Python", lambda: LambdaMART().fit(X, Y + 0.5, QUERY), "whole numbers | 0.5 | fix:"),
    python(
        "negative grades in Python", lambda: LambdaMART().fit(X, Y - 1, QUERY), "whole numbers, 0 or more | -1 | fix:"
    ),
    python("a query in two places in Python", lambda: RankSVM().fit(X, Y, np.tile(np.arange(5), 4)), "query | fix:"),
    python(
        "equal grades", lambda: RankSVM().fit(X, np.ones(20, int), QUERY), "no query has documents of different grades"
    ),
    python("a lambda below 0", lambda: RankSVM(lam=-1).fit(X, Y, QUERY), "lam | -1"),
    python("a misspelt setting", lambda: RankSVM().set_params(lambda_=1), "lambda_ | lam"),
    python(
        "unknown measure in Python", lambda: measure(["ndgc@10"], Y, X[:, 0], [0, 10, 20]), "ndgc@10 | did you mean"
    ),
    python("scores of another number", lambda: measure(["ap"], Y, X[:5, 0], [0, 10, 20]), "20 | 5"),
    python("offsets that do not fit", lambda: measure(["ap"], Y, X[:, 0], [0, 10]), "offsets | 20"),
    python(
        "from_arrays: grades of another number",
        lambda: Judged.from_arrays(X, Y[:3], QUERY),
        "(20, 3), grades (3,) | fix:",
    ),
    python(
        "from_arrays: a document twice",
        lambda: Judged.from_arrays(X, Y, QUERY, ["a"] * 20),
        "document a comes twice in query 0 | fix:",
    ),
    python("vectors of other queries", lambda: LocalRanker(k=2).fit(JUDGED, VECTORS[:2]), "5 queries | 2"),
    python("ranker: predict before fit", lambda: LocalRanker(k=2).predict(JUDGED, VECTORS), "LocalRanker | fit"),
    python(
        "unknown simulation",
        lambda: simulate("sim3", seed=1, train=4, vali=0, test=2, features=3),
        "sim3 | did you mean sim2?",
    ),
    python(
        "qdrank.rank: no such folder", lambda: qdrank.rank("results/mq2008/fold1", X), "results/mq2008/fold1 | fix:"
    ),
    python("qdrank.results: no such folder", lambda: qdrank.results("nowhere"), "nowhere | fix:"),
]
