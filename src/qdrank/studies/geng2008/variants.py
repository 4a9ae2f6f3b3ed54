"""Variants of KNN Online, most of them the paper's future work: metrics, query vectors, a radius, an index, fewer models.

Others vary how a ready model of a training query is chosen: Offline-2's way and three ways for Offline-1. Every variant
ranks a sample of the test queries of a fold with the k and lambda that validation chose for KNN Online, so each differs
from the first in only one respect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged, load_judged
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.ranksvm.local import block_size, make_blocks, prepare_training, train_local
from qdrank.measures.compute import measure
from qdrank.queries import METRICS
from qdrank.queries.graph import fitted_metric
from qdrank.queries.metrics import Euclidean
from qdrank.queries.neighbours import neighbours, within_radius
from qdrank.queries.recipe import DocumentVectors, Queries, VectorOptions, describe_queries, load_queries
from qdrank.queries.sizes import neighbour_count
from qdrank.queries.vectors import k_means, nearest_centre
from qdrank.rankers.documents import DocumentView, FeatureScale, FoldDocuments, fold_documents, query_scores
from qdrank.rankers.knn import ALIKE, offline1, offline2
from qdrank.rankers.served import ServedRanker
from qdrank.rankers.stored import from_state_table
from qdrank.store import read, write
from qdrank.store.tables import list_matrix, repeated
from qdrank.studies.geng2008.rankers import OnlineRanker


class Variant(NamedTuple):
    """A way to rank the sampled test queries.

    Attributes
    ----------
    rows : (n, k) training queries of each model, -1 for none
    model_of : (n_sampled,) the model of each test query of the sample
    n_models : number of models needed to rank all test queries
    """

    name: str
    rows: NDArray[Any]
    model_of: IntArray
    n_models: int


@dataclass(frozen=True)
class Space:
    """Query vectors of training and sampled test queries, ids of the training queries, and the distance between vectors."""

    train: FloatArray
    test: FloatArray
    train_ids: NDArray[np.object_]
    metric: Euclidean

    def nearest(self, points: FloatArray, k: int, search: Any = "brute") -> NDArray[np.int32]:
        """The k nearest training queries of any points, shape (n_points, k)."""
        return neighbours(points, self.train, k, ids=self.train_ids, metric=self.metric, search=search).rows


def variants(
    judged: Judged,
    topics: pa.Table,
    queries: Queries,
    fold: str,
    k: int,
    *,
    reference: int,
    vectors: VectorOptions,
    metric: str,
    clusters: Sequence[float],
    most: int,
    seed: int,
    starts: int = 1,
) -> Iterator[Variant]:
    """KNN Online, then its variants.

    Parameters
    ----------
    k : number of neighbours, as chosen for KNN Online
    reference : column of the reference feature
    vectors, metric : how a query becomes a point, and the distance between points
    clusters : numbers of offline models
    most : largest number of test queries in the sample
    """
    train, tested = judged.of_role(fold, "train"), np.flatnonzero(queries.role == "test")
    few = tested[sample(len(tested), most)]

    def space_of(points: FloatArray, name: str = metric) -> Space:
        own = points[queries.is_train]
        return Space(own, points[few], queries.query_id[queries.is_train], fitted_metric(name, own, train))

    def online(name: str, rows: NDArray[Any]) -> Variant:
        return Variant(name, rows, np.arange(len(rows)), len(tested))

    space = space_of(queries.vectors)
    nearest, ready = space.nearest(space.test, k), space.nearest(space.train, k)
    yield online("KNN Online", nearest)
    yield online("KD-tree", space.nearest(space.test, k, "kdtree"))
    for name in METRICS:
        if name != metric:
            yield online(f"metric: {name}", space_of(queries.vectors, name).nearest(space.test, k))
    for name, change in _vector_changes(topics):
        table, _ = describe_queries(judged, topics, reference, fold, replace(vectors, **change))
        changed = space_of(list_matrix(table.column("vector")))
        yield online(name, changed.nearest(changed.test, k))
    yield online("fixed radius", within(space, k))
    yield Variant("KNN Offline-2", ready, offline2(nearest), len(ready))
    for alike in ALIKE:
        chosen = offline1(nearest, ready, train.pairs, [k], alike=alike)[k]
        yield Variant(f"KNN Offline-1: {alike.replace('_', ' ')}", ready, chosen, len(ready))
    for size in clusters:
        yield clustered(space, size, k, seed, starts)


def _vector_changes(topics: pa.Table) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "vectors: mean and deviation", {"pooling": "mean+std"}
    yield "vectors: mean, deviation, largest", {"pooling": "mean+std+max"}
    yield "vectors: not standardised", {"scale": "none"}
    if len(topics.column("query_columns")[0].as_py()):
        yield "vectors: with query columns", {"query_columns": True}


def within(space: Space, k: int) -> NDArray[np.int64]:
    """Training queries within the radius that holds k of them for the median training query; at least k / 10."""
    seen: dict[str, Any] = {"ids": space.train_ids, "metric": space.metric}
    radius = float(np.median(neighbours(space.train, space.train, k, **seen).distance[:, -1]))
    inside = within_radius(space.test, space.train, radius, least=max(1, k // 10), **seen)
    counts = np.diff(inside.bounds)
    rows = np.full((len(counts), counts.max()), -1, dtype=np.int64)
    rows[np.arange(counts.max()) < counts[:, None]] = inside.rows
    return rows


def clustered(space: Space, size: float, k: int, seed: int, starts: int = 1) -> Variant:
    """One offline model for each cluster of training queries: the k nearest training queries of its centre.

    ``size`` is the number of clusters; values up to 1 are shares of the training queries. The variant is named after
    ``size``, because the number itself may differ between folds.
    """
    centres, _ = k_means(space.train, neighbour_count(size, len(space.train)), seed=seed, starts=starts)
    rows = space.nearest(centres, k)
    name = f"{100 * size:g}% of the offline models" if size <= 1 else f"{size:g} offline models"
    return Variant(name, rows, nearest_centre(space.test, centres), len(rows))


def sample(n: int, most: int) -> IntArray:
    """At most ``most`` of ``n`` queries, evenly spaced."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.int64)


def compare_variants(
    fold: str,
    documents: FoldDocuments,
    found: Iterable[Variant],
    lam: float,
    *,
    block: int | None,
    tol: float,
    most: int,
) -> pa.Table:
    """Measures of every variant on the sampled test queries, with what its models cost; the artifact ``values``.

    Only models that rank one of these queries are trained. ``work`` is the number of pair visits (evaluations times
    pairs) of all models of a variant, in millions, extrapolated from the mean of the trained ones: a cost that is the
    same on every machine. ``same`` is the share of test queries with exactly the neighbours of the first variant.
    """
    base, whole = prepare_training(documents.preferences(), lam=lam, tol=tol), documents.parts["test"]
    test, tables, first = whole.take(sample(whole.n_queries, most)), [], None
    for _, sharing in groupby(found, lambda variant: id(variant.rows)):
        alike = list(sharing)
        rows = alike[0].rows
        first = rows if first is None else first
        wanted = np.unique(np.concatenate([variant.model_of for variant in alike]))
        blocks = make_blocks(np.arange(len(wanted)), block_size(block, len(wanted)))
        models = train_local(base, rows[wanted], blocks, tol=tol)
        W, visits = documents.stored(models.W), float((models.evaluations * models.pairs).mean())
        same = float((rows == first).all(axis=1).mean()) if rows.shape == first.shape else 0.0
        for variant in alike:
            n, scores = test.n_queries, query_scores(test, W[np.searchsorted(wanted, variant.model_of)])
            columns = repeated(n, fold=fold, method=variant.name, role="test") | {"fit": np.zeros(n, np.int64)}
            columns |= {"x": pa.nulls(n, pa.float64()), "query_id": pa.array(test.query_id, pa.string())}
            columns |= measure(("mean_ndcg/geng", "ndcg@10/geng"), test.y, scores, test.offsets, unranked=test.unranked)
            columns |= {"neighbours": (rows[variant.model_of] >= 0).sum(axis=1).astype(np.float64)}
            cost = {"models": float(variant.n_models), "work": visits * variant.n_models / 1e6, "same": same}
            tables.append(pa.table(columns | repeated(n, **cost)))
    return pa.concat_tables(tables)


def write_variants(
    files: Mapping[str, str],
    path: str,
    fold: str,
    *,
    vectors: Mapping[str, Any],
    most: int,
    scale: FeatureScale,
    block: int | None,
    tol: float,
    **given: Any,
) -> None:
    """Write the comparison of variants on a fold, with the setting that was chosen for KNN Online."""
    kinds: tuple[Any, ...] = (ServedRanker, OnlineRanker, DocumentView, DocumentVectors)
    chosen = from_state_table(read(files["served"], "rankers"), {kind.NAME: kind for kind in kinds}.__getitem__).ranker
    judged, k = load_judged(files["judged"], ["features"]), neighbour_count(chosen.k, len(chosen.vectors_))
    topics, queries = read(files["topics"], "topics"), load_queries(files["queries"])
    options: dict[str, Any] = {
        "reference": reference_column(files["columns"]),
        "vectors": VectorOptions(**vectors),
        "most": most,
    }
    found = variants(judged, topics, queries, fold, k, **options, **given)
    documents = fold_documents(judged, fold, scale)
    write(path, "values", compare_variants(fold, documents, found, chosen.lam, block=block, tol=tol, most=most))
