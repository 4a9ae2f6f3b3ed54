"""The stability bound of Geng 2008 (theorem 1) beside observed differences.

For Ranking SVM the bound on the difference of the losses of two models on any document pair is kappa^2 gamma / lambda
(section 3.3.4), where gamma is the change ratio of the two training sets and kappa^2 bounds K(z, z) = |x_i - x_j|^2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.layout import FloatArray, IntArray, rows_of
from qdrank.learners.ranksvm.estimator import solve, whole_problem
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.learners.ranksvm.preferences import Preferences
from qdrank.queries.recipe import load_neighbours, load_queries
from qdrank.rankers.documents import FeatureScale, load_fold
from qdrank.store import read, write
from qdrank.studies.geng2008.fold import FoldQueries
from qdrank.studies.geng2008.methods import OFFLINE, Options
from qdrank.studies.geng2008.offline import OFFLINE_SHAPE, OfflineModels

#: Largest neighbourhood to compare; above this size training with the hinge loss takes seconds per model.
MOST_NEIGHBOURS = 1000


def largest_difference(data: Preferences) -> float:
    """kappa^2: the largest squared length of a difference of two documents of different grade of a training query."""
    return max((_largest(data, q) for q in np.flatnonzero(data.pairs).tolist()), default=0.0)


def _largest(data: Preferences, q: int) -> float:
    rows = slice(data.offsets[q], data.offsets[q + 1])
    X, lower = data.X[rows].astype(np.float64), data.lower[rows]
    lengths = (X**2).sum(axis=1)
    squared = lengths[:, None] + lengths - 2 * X @ X.T
    preferred = np.arange(len(X)) >= lower[:, None]
    return float(squared[preferred].max(initial=0.0))


def write_bound(
    files: Mapping[str, str],
    path: str,
    fold: str,
    *,
    geng: Mapping[str, Any],
    scale: FeatureScale,
    tol: float,
    queries: int,
    pairs: int,
    seed: int,
    log: Callable[..., None],
) -> None:
    """Write the bound beside what is observed on a fold, for a number of ``queries`` and ``pairs`` of each."""
    near = FoldQueries(
        documents=load_fold(files["judged"], fold, scale, wanted=["train", "test"]),
        queries=load_queries(files["queries"]),
        nearest=load_neighbours(files["neighbours"])[1],
        offline=OfflineModels(read(files["offline"], OFFLINE_SHAPE)),
        options=Options(**geng),
    )
    table = bound_table(fold, near, n_queries=queries, n_pairs=pairs, tol=tol, seed=seed)
    log("%d differences of models", len(table))
    write(path, "figure", table)


def bound_table(fold: str, near: FoldQueries, *, n_queries: int, n_pairs: int, tol: float, seed: int) -> pa.Table:
    """Bound and observed differences of loss between Online and Offline models, one row per query, method and k.

    The theorem is about the hinge loss, so the models are trained with it: for a few test queries, at each number of
    neighbours a method may have up to `MOST_NEIGHBOURS`, or at the smallest if all are larger. ``observed`` is the
    largest and ``mean`` the mean difference of the loss over sampled document pairs of the query.
    """
    rng = np.random.default_rng([seed, 8])
    queries = _sampled(near, n_queries, rng)
    pairs = [_sampled_pairs(near, q, n_pairs, rng) for q in queries.tolist()]
    data = near.documents.preferences()
    kappa2, models = largest_difference(data), HingeModels(data, near.options.lam, tol)
    ks = sorted({k for k, _ in near.options.eligible(near.m)})
    rows = [
        {"fold": fold, **row}
        for k in [k for k in ks if k <= MOST_NEIGHBOURS] or ks[:1]
        for method in OFFLINE
        for row in _rows(near, method, k, queries, pairs, kappa2, models)
    ]
    return pa.Table.from_pylist(rows, _schema())


class HingeModels:
    """Hinge-loss Ranking SVMs of sets of training queries, each trained once."""

    def __init__(self, data: Preferences, lam: float, tol: float) -> None:
        self.data, self.lam, self.tol = data, lam, tol
        self._known: dict[bytes, FloatArray] = {}

    def weights(self, members: NDArray[Any]) -> FloatArray:
        """Weights, shape (n_features,), of the model of some training queries; their order does not matter."""
        distinct = np.unique(members).astype(np.int64)
        key = distinct.tobytes()
        if key not in self._known:
            chosen = np.zeros(self.data.n_queries)
            chosen[distinct] = 1.0
            problem = whole_problem(self.data, chosen, self.lam)
            with one_thread():
                self._known[key] = solve(problem, loss="hinge", tol=self.tol, limit=100).w
        return self._known[key]


def _schema() -> pa.Schema:
    numbers = {name: pa.float64() for name in ("gamma", "bound", "observed", "mean")}
    texts = {"fold": pa.string(), "query_id": pa.string(), "method": pa.string()}
    return pa.schema(texts | {"k": pa.int32(), "lam": pa.float64()} | numbers)


def _sampled(near: FoldQueries, n_queries: int, rng: np.random.Generator) -> IntArray:
    """A sample of the test queries that have pairs, in order."""
    test = near.documents.parts["test"]
    mixed = [q for q in range(test.n_queries) if len(set(test.y[test.offsets[q] : test.offsets[q + 1]])) > 1]
    drawn = rng.permutation(len(mixed))[:n_queries]
    return np.array(mixed, dtype=np.int64)[np.sort(drawn)]


def _sampled_pairs(near: FoldQueries, q: int, n_pairs: int, rng: np.random.Generator) -> FloatArray:
    """Differences of the features of better and worse documents, shape (n_pairs, n_features)."""
    test = near.documents.parts["test"]
    rows = slice(test.offsets[q], test.offsets[q + 1])
    y, X = test.y[rows], test.X[rows].astype(np.float64)
    better, worse = np.nonzero(y[:, None] > y)
    drawn = rng.permutation(len(better))[:n_pairs]
    return np.asarray(X[better[drawn]] - X[worse[drawn]])


def _rows(
    near: FoldQueries,
    method: str,
    k: int,
    queries: IntArray,
    pairs: Sequence[FloatArray],
    kappa2: float,
    models: HingeModels,
) -> Iterator[dict[str, Any]]:
    test, train = near.nearest[near.rows("test"), :k], near.nearest[near.rows("train"), :k]
    names, lam = near.documents.parts["test"].query_id, near.options.lam
    gamma = near.offline.gamma(method, k, names)
    offline = rows_of(near.offline.models(method, k, names), near.queries.query_id[near.rows("train")])
    for q, differences in zip(queries.tolist(), pairs, strict=True):
        trained = (near.documents.stored(models.weights(members)) for members in (test[q], train[offline[q]]))
        first, second = (np.maximum(0.0, 1 - differences @ w) for w in trained)
        apart = np.abs(first - second)
        row = {"query_id": names[q], "method": method, "k": k, "lam": lam, "gamma": gamma[q]}
        yield row | {"bound": kappa2 * gamma[q] / lam, "observed": apart.max(), "mean": apart.mean()}
