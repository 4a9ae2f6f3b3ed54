"""The stability bound of Geng 2008 (theorem 1) beside what is observed.

For Ranking SVM the bound on the difference of the losses of two models on any document pair is kappa^2 gamma / lambda
(section 3.3.4), where gamma is the change ratio of the two training sets and kappa^2 bounds K(z, z) = |x_i - x_j|^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.groups import FloatArray, IntArray
from qdrank.learners.preferences import Preferences
from qdrank.rankers.sizes import Setting
from qdrank.studies.geng2008.fold import GengFold
from qdrank.studies.geng2008.methods import OFFLINE


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


def bound_table(fold: str, study: GengFold, *, n_queries: int, n_pairs: int, seed: int) -> pa.Table:
    """Bound and observed differences of loss between Online and Offline models, a row a query, method and k.

    ``observed`` is the largest and ``mean`` the mean difference of the hinge loss over sampled document pairs of the
    query, ``squared`` the largest of the squared hinge loss, which the models minimise.
    """
    rng = np.random.default_rng([seed, 8])
    queries = _sampled(study, n_queries, rng)
    pairs = [_sampled_pairs(study, q, n_pairs, rng) for q in queries]
    kappa2 = largest_difference(study.documents.preferences())
    settings = [s for s in study.settings("knn-online") if s.lam == study.options.lam]
    tables = [_rows(fold, study, method, setting, queries, pairs, kappa2) for method in OFFLINE for setting in settings]
    return pa.Table.from_pylist([row for rows in tables for row in rows], _schema())


def _schema() -> pa.Schema:
    numbers = {name: pa.float64() for name in ("gamma", "bound", "observed", "mean", "squared")}
    texts = {"fold": pa.string(), "query_id": pa.string(), "method": pa.string()}
    return pa.schema(texts | {"k": pa.int32(), "lam": pa.float64()} | numbers)


def _sampled(study: GengFold, n_queries: int, rng: np.random.Generator) -> IntArray:
    """Test queries that have pairs, in order."""
    test = study.documents.parts["test"]
    mixed = [q for q in range(test.n_queries) if len(set(test.y[test.offsets[q] : test.offsets[q + 1]])) > 1]
    drawn = rng.permutation(len(mixed))[:n_queries]
    return np.array(mixed, dtype=np.int64)[np.sort(drawn)]


def _sampled_pairs(study: GengFold, q: int, n_pairs: int, rng: np.random.Generator) -> FloatArray:
    """Differences of the features of better and worse documents, shape (n_pairs, n_features)."""
    test = study.documents.parts["test"]
    rows = slice(test.offsets[q], test.offsets[q + 1])
    y, X = test.y[rows], test.X[rows].astype(np.float64)
    better, worse = np.nonzero(y[:, None] > y)
    drawn = rng.permutation(len(better))[:n_pairs]
    return np.asarray(X[better[drawn]] - X[worse[drawn]])


def _rows(
    fold: str,
    study: GengFold,
    method: str,
    setting: Setting,
    queries: IntArray,
    pairs: Sequence[FloatArray],
    kappa2: float,
) -> list[dict[str, Any]]:
    chosen = study.chosen_models("test", method, [setting.k])
    gamma = study.gammas("test", chosen)[setting.k]
    online = study.weights("test", "knn-online", setting, chosen)
    offline = study.weights("test", method, setting, chosen)
    names = study.documents.parts["test"].query_id
    rows = []
    for q, differences in zip(queries.tolist(), pairs, strict=True):
        first, second = (np.maximum(0.0, 1 - differences @ W[q]) for W in (online, offline))
        apart = np.abs(first - second)
        row = {"fold": fold, "query_id": names[q], "method": method, "k": setting.k, "lam": setting.lam}
        row |= {"gamma": gamma[q], "bound": kappa2 * gamma[q] / setting.lam, "observed": apart.max()}
        rows.append(row | {"mean": apart.mean(), "squared": np.abs(first**2 - second**2).max()})
    return rows
