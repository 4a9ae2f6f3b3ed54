"""Variants of KNN Online, most of them the paper's future work: metrics, query vectors, a radius, an index, fewer models.

Beside it stand the ways to choose among the ready models of the training queries: Offline-2's and three for Offline-1.
Every variant ranks the test queries of a fold with the k and lambda that validation chose for KNN Online, so that a
row of the comparison differs from the first in one thing alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.groups import FloatArray, IntArray
from qdrank.learners.blocks import block_size, make_blocks
from qdrank.learners.local import LocalModels, prepare_training, train_local
from qdrank.learners.ranksvm import Penalty
from qdrank.measures.compute import measure
from qdrank.queries import METRICS
from qdrank.queries.artifacts import Queries, VectorOptions, describe_queries
from qdrank.queries.clusters import k_means, nearest_centre
from qdrank.queries.graph import fitted_metric
from qdrank.queries.metrics import Euclidean
from qdrank.queries.neighbours import neighbours, within_radius
from qdrank.rankers.documents import FoldDocuments, query_scores
from qdrank.rankers.knn import ALIKE, offline1, offline2
from qdrank.rankers.sizes import Setting, neighbour_count
from qdrank.store.lists import list_matrix

_SWEPT = ("mean_ndcg/geng", "ndcg@10/geng")


@dataclass(frozen=True)
class Variant:
    """Models to train, (n_models, k) training queries with -1 for none, and the model of every test query."""

    name: str
    rows: NDArray[Any]
    model_of: IntArray


@dataclass(frozen=True)
class Space:
    """Query vectors of a fold, training and test, and the study's distance between them."""

    train: FloatArray
    test: FloatArray
    train_ids: NDArray[np.object_]
    metric: Euclidean

    def nearest(self, k: int, metric: Euclidean | None = None, search: Any = "brute") -> NDArray[np.int32]:
        """The k nearest training queries of every test query, shape (n_test, k)."""
        return self.nearest_to(self.test, k, metric, search)

    def nearest_to(
        self, points: FloatArray, k: int, metric: Euclidean | None = None, search: Any = "brute"
    ) -> NDArray[np.int32]:
        """The k nearest training queries of any points, shape (n_points, k)."""
        metric = metric or self.metric
        return neighbours(points, self.train, k, ids=self.train_ids, metric=metric, search=search).rows


def space_of(queries: Queries, metric: str, train: Judged, vectors: FloatArray | None = None) -> Space:
    """Training and test queries as points; ``vectors`` (n_queries, n_columns) in place of the queries' own.

    ``metric`` is that of the study; ``train`` are the documents of the training queries.
    """
    points = queries.vectors if vectors is None else vectors
    own = points[queries.is_train]
    fitted = fitted_metric(metric, own, train)
    return Space(own, points[queries.role == "test"], queries.query_id[queries.is_train], fitted)


def variants(
    judged: Judged,
    topics: pa.Table,
    queries: Queries,
    *,
    fold: str,
    k: int,
    reference: int,
    vectors: VectorOptions,
    metric: str,
    clusters: Sequence[float],
    seed: int,
) -> Iterator[Variant]:
    """Variants to compare; ``vectors`` is how a query becomes a point. The first is KNN Online."""
    train = judged.of_role(fold, "train")
    space = space_of(queries, metric, train)
    own = np.arange(len(space.test))
    yield Variant("KNN Online", space.nearest(k), own)
    yield Variant("KD-tree", space.nearest(k, search="kdtree"), own)
    for name in METRICS:
        if name != metric:
            yield Variant(f"metric: {name}", space.nearest(k, fitted_metric(name, space.train, train)), own)
    for name, change in _vector_changes(topics):
        table, _ = describe_queries(judged, topics, reference, fold, replace(vectors, **change))
        changed = space_of(queries, metric, train, list_matrix(table.column("vector")))
        yield Variant(name, changed.nearest(k), own)
    yield Variant("fixed radius", within(space, k), own)
    yield from ready_models(space, train.pairs, k)
    for size in clusters:
        yield clustered(space, size, k, seed)


def _vector_changes(topics: pa.Table) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "vectors: mean and deviation", {"pooling": "mean+std"}
    yield "vectors: mean, deviation, largest", {"pooling": "mean+std+max"}
    yield "vectors: not standardised", {"scale": "none"}
    if len(topics.column("query_columns")[0].as_py()):
        yield "vectors: with query columns", {"query_columns": True}


def within(space: Space, k: int) -> NDArray[np.int64]:
    """Training queries within the radius that holds k of them for the middle training query; at least k / 10."""
    seen: dict[str, Any] = {"ids": space.train_ids, "metric": space.metric}
    radius = float(np.median(neighbours(space.train, space.train, k, **seen).distance[:, -1]))
    found = within_radius(space.test, space.train, radius, least=max(1, k // 10), **seen)
    counts = np.diff(found.bounds)
    rows = np.full((len(counts), counts.max()), -1, dtype=np.int64)
    rows[np.arange(counts.max()) < counts[:, None]] = found.rows
    return rows


def ready_models(space: Space, pairs: IntArray, k: int) -> Iterator[Variant]:
    """A model for every training query, chosen for a test query in each of the ways known; all share their rows."""
    test = space.nearest(k)
    train = space.nearest_to(space.train, k)
    yield Variant("KNN Offline-2", train, offline2(test))
    for alike in ALIKE:
        name = alike.replace("_", " ")
        yield Variant(f"KNN Offline-1: {name}", train, offline1(test, train, pairs, [k], alike=alike)[k])


def clustered(space: Space, size: float, k: int, seed: int) -> Variant:
    """One offline model for each cluster of training queries: the k nearest training queries of its centre.

    ``size`` is the number of clusters, up to 1 a share of the training queries. The variant is named after what was
    asked for: the number itself may differ between folds.
    """
    centres, _ = k_means(space.train, neighbour_count(size, len(space.train)), seed=seed)
    rows = space.nearest_to(centres, k)
    name = f"{100 * size:g}% of the offline models" if size <= 1 else f"{size:g} offline models"
    return Variant(name, rows, nearest_centre(space.test, centres))


def compare_variants(
    fold: str,
    documents: FoldDocuments,
    found: Sequence[Variant],
    setting: Setting,
    *,
    block: int | None,
    tol: float,
    penalty: Penalty = "half",
    most: int = 400,
) -> pa.Table:
    """Measures of every variant on at most ``most`` test queries, with what its models cost; the artifact ``measures``.

    Only models that rank one of these queries are trained. ``work`` is the number of pair visits of all models of a variant
    (evaluations times pairs), in millions, from the mean of those trained: a cost that is the same on every machine. ``same`` is the share of test queries with the very neighbours of the first variant.
    """
    base = prepare_training(documents.preferences(), lam=setting.lam, penalty=penalty, tol=tol)
    few = sample(documents.parts["test"].n_queries, most)
    test, tables = documents.parts["test"].take(few), []
    for _, sharing in groupby(found, lambda variant: id(variant.rows)):
        alike = list(sharing)
        wanted = np.unique(np.concatenate([variant.model_of[few] for variant in alike]))
        rows = alike[0].rows[wanted]
        models = train_local(base, rows, make_blocks(np.arange(len(rows)), block_size(block, len(rows))), tol=tol)
        same = [_same(variant, found[0], few) for variant in alike]
        tables += [
            _measured(fold, test, variant, wanted, documents.stored(models.W), models, few, share)
            for variant, share in zip(alike, same, strict=True)
        ]
    return pa.concat_tables(tables)


def sample(n: int, most: int) -> IntArray:
    """At most so many of ``n`` queries, evenly spaced."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.int64)


def _same(variant: Variant, first: Variant, few: IntArray) -> float:
    if variant.rows.shape != first.rows.shape:
        return 0.0
    return float((variant.rows[few] == first.rows[few]).all(axis=1).mean())


def _measured(
    fold: str,
    test: Judged,
    variant: Variant,
    wanted: IntArray,
    W: FloatArray,
    models: LocalModels,
    few: IntArray,
    same: float,
) -> pa.Table:
    """Measures of one variant on the queries ``few``, from the models ``wanted`` with weights ``W``."""
    model_of = variant.model_of[few]
    scores = query_scores(test, W[np.searchsorted(wanted, model_of)])
    n, n_models = test.n_queries, len(variant.rows)
    texts = {"fold": fold, "method": variant.name}
    columns: dict[str, Any] = {name: pa.array([text] * n, pa.string()) for name, text in texts.items()}
    columns |= {"query_id": pa.array(test.query_id, pa.string())}
    columns |= measure(_SWEPT, test.y, scores, test.offsets, unranked=test.unranked)
    sizes = (variant.rows[model_of] >= 0).sum(axis=1)
    work = float((models.evaluations * models.pairs).mean()) * n_models / 1e6
    columns |= {"neighbours": sizes.astype(np.float64), "models": np.full(n, float(n_models))}
    return pa.table(columns | {"work": np.full(n, work), "same": np.full(n, same)})
