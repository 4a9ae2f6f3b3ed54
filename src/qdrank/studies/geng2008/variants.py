"""Variants of KNN Online, most of them the paper's future work: metrics, query vectors, a radius, an index, fewer models.

Others vary how a ready model of a training query is chosen: Offline-2's way and three ways for Offline-1. Every variant
ranks the test queries of a fold with the k and lambda that validation chose for KNN Online, so each row of the
comparison differs from the first in only one respect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged, load_judged
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.ranksvm.blocks import block_size, make_blocks
from qdrank.learners.ranksvm.local import LocalModels, prepare_training, train_local
from qdrank.measures.compute import measure
from qdrank.queries import METRICS
from qdrank.queries.artifacts import Queries, VectorOptions, describe_queries, load_queries
from qdrank.queries.clusters import k_means, nearest_centre
from qdrank.queries.graph import fitted_metric
from qdrank.queries.metrics import Euclidean
from qdrank.queries.neighbours import neighbours, within_radius
from qdrank.queries.recipe import DocumentVectors
from qdrank.rankers.documents import DocumentView, FeatureScale, FoldDocuments, fold_documents, query_scores
from qdrank.rankers.knn import ALIKE, offline1, offline2
from qdrank.rankers.served import ServedRanker
from qdrank.rankers.sizes import Setting, neighbour_count
from qdrank.rankers.state import from_state_table
from qdrank.store import read, write
from qdrank.store.lists import list_matrix, repeated
from qdrank.studies.geng2008.rankers import OnlineRanker

_SWEPT = ("mean_ndcg/geng", "ndcg@10/geng")
#: Test queries of a fold on which variants are compared.
MOST = 400


@dataclass(frozen=True)
class Variant:
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
    """Query vectors of a fold, training and sampled test queries, and the study's distance between them."""

    train: FloatArray
    test: FloatArray
    n_test: int
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


def space_of(
    queries: Queries, metric: str, train: Judged, most: int = MOST, vectors: FloatArray | None = None
) -> Space:
    """Training queries and at most ``most`` test queries as points.

    Parameters
    ----------
    queries : of the fold
    metric : that of the study
    train : documents of the training queries
    most : largest number of test queries in the sample
    starts : of K-means
    vectors : (n_queries, n_columns) to use instead of the queries' own
    """
    points = queries.vectors if vectors is None else vectors
    trained, tested = points[queries.is_train], np.flatnonzero(queries.role == "test")
    few = points[tested[sample(len(tested), most)]]
    return Space(trained, few, len(tested), queries.query_id[queries.is_train], fitted_metric(metric, trained, train))


@dataclass(frozen=True, kw_only=True)
class Variants:
    """Variants on a fold, by kind.

    Attributes
    ----------
    k : number of neighbours, as chosen for KNN Online
    reference : column of the reference feature
    vectors : how a query becomes a point
    metric : that of the study
    clusters : numbers of offline models
    most : largest number of test queries in the sample
    """

    judged: Judged
    topics: pa.Table
    queries: Queries
    fold: str
    k: int
    reference: int
    vectors: VectorOptions
    metric: str
    clusters: Sequence[float]
    seed: int
    most: int = MOST
    starts: int = 1

    @cached_property
    def train(self) -> Judged:
        """Documents of the training queries."""
        return self.judged.of_role(self.fold, "train")

    @cached_property
    def space(self) -> Space:
        """The queries as the study sees them."""
        return space_of(self.queries, self.metric, self.train, self.most)

    @cached_property
    def knn_online(self) -> Variant:
        """KNN Online itself; each other variant differs from it in one respect."""
        return online("KNN Online", self.space, self.space.nearest(self.k))

    def of(self, kind: str) -> list[Variant]:
        """Variants of one of the kinds `VARIANT_KINDS`."""
        made: dict[str, Callable[[], Iterator[Variant]]] = {
            "metrics": self._metrics,
            "vectors": self._vectors,
            "offline": lambda: ready_models(self.space, self.train.pairs, self.k),
            "clusters": lambda: (clustered(self.space, size, self.k, self.seed, self.starts) for size in self.clusters),
        }
        return list(made[kind]())

    def _metrics(self) -> Iterator[Variant]:
        space, k = self.space, self.k
        yield self.knn_online
        yield online("KD-tree", space, space.nearest(k, search="kdtree"))
        for name in METRICS:
            if name != self.metric:
                yield online(f"metric: {name}", space, space.nearest(k, fitted_metric(name, space.train, self.train)))

    def _vectors(self) -> Iterator[Variant]:
        for name, change in _vector_changes(self.topics):
            options = replace(self.vectors, **change)
            table, _ = describe_queries(self.judged, self.topics, self.reference, self.fold, options)
            points = list_matrix(table.column("vector"))
            changed = space_of(self.queries, self.metric, self.train, self.most, points)
            yield online(name, self.space, changed.nearest(self.k))
        yield online("fixed radius", self.space, within(self.space, self.k))


def online(name: str, space: Space, rows: NDArray[Any]) -> Variant:
    """A model for every test query, ``rows`` (n_sampled, k) for those of the sample."""
    return Variant(name, rows, np.arange(len(rows)), space.n_test)


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


def ready_models(space: Space, pairs: IntArray, k: int) -> Iterator[Variant]:
    """A model for every training query, one variant per way to choose a test query's model; all share their rows."""
    test = space.nearest(k)
    train = space.nearest_to(space.train, k)
    yield Variant("KNN Offline-2", train, offline2(test), len(train))
    for alike in ALIKE:
        chosen = offline1(test, train, pairs, [k], alike=alike)[k]
        yield Variant(f"KNN Offline-1: {alike.replace('_', ' ')}", train, chosen, len(train))


def clustered(space: Space, size: float, k: int, seed: int, starts: int = 1) -> Variant:
    """One offline model for each cluster of training queries: the k nearest training queries of its centre.

    ``size`` is the number of clusters; values up to 1 are shares of the training queries. The variant is named after
    ``size``, because the number itself may differ between folds.
    """
    centres, _ = k_means(space.train, neighbour_count(size, len(space.train)), seed=seed, starts=starts)
    rows = space.nearest_to(centres, k)
    name = f"{100 * size:g}% of the offline models" if size <= 1 else f"{size:g} offline models"
    return Variant(name, rows, nearest_centre(space.test, centres), len(rows))


def compare_variants(
    fold: str,
    documents: FoldDocuments,
    variants: Sequence[Variant],
    first: Variant,
    setting: Setting,
    *,
    block: int | None,
    tol: float,
    most: int = MOST,
) -> pa.Table:
    """Measures of every variant on the sampled test queries, with what its models cost; the artifact ``measures``.

    ``most`` is that of `Variants`. Only models that rank one of these queries are trained. ``work`` is the number of
    pair visits (evaluations times pairs) of all models of a variant, in millions, extrapolated from the mean of the
    trained ones: a cost that is the same on every machine. ``same`` is the share of test queries with exactly the
    neighbours of ``first``.
    """
    if not variants:  # a kind that the configuration leaves out
        return _none_measured()
    base = prepare_training(documents.preferences(), lam=setting.lam, tol=tol)
    whole, tables = documents.parts["test"], []
    test = whole.take(sample(whole.n_queries, most))
    for _, sharing in groupby(variants, lambda variant: id(variant.rows)):
        alike = list(sharing)
        wanted = np.unique(np.concatenate([variant.model_of for variant in alike]))
        rows = alike[0].rows[wanted]
        models = train_local(base, rows, make_blocks(np.arange(len(rows)), block_size(block, len(rows))), tol=tol)
        W = documents.stored(models.W)
        tables += [_measured(fold, test, variant, wanted, W, models, _same(variant, first)) for variant in alike]
    return pa.concat_tables(tables)


def write_variants(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    vectors: Mapping[str, Any],
    metric: str,
    clusters: Sequence[float],
    starts: int,
    most: int,
    seed: int,
    scale: FeatureScale,
    block: int | None,
    tol: float,
) -> None:
    """Write comparisons of variants on a fold, with the setting that was chosen for KNN Online; ``out`` has files by kind."""
    kinds: tuple[Any, ...] = (ServedRanker, OnlineRanker, DocumentView, DocumentVectors)
    chosen = from_state_table(read(files["served"], "rankers"), {kind.NAME: kind for kind in kinds}.__getitem__).ranker
    judged = load_judged(files["judged"], ["features"])
    setting = Setting(neighbour_count(chosen.k, len(chosen.vectors_)), chosen.lam)
    variants = Variants(
        judged=judged,
        topics=read(files["topics"], "topics"),
        queries=load_queries(files["queries"]),
        fold=fold,
        k=setting.k,
        reference=reference_column(files["columns"]),
        vectors=VectorOptions(**vectors),
        metric=metric,
        clusters=clusters,
        starts=starts,
        seed=seed,
        most=most,
    )
    training: dict[str, Any] = {"block": block, "tol": tol, "most": most}
    documents = fold_documents(judged, fold, scale)
    for kind, path in out.items():
        table = compare_variants(fold, documents, variants.of(kind), variants.knn_online, setting, **training)
        write(path, "measures", table)


def _none_measured() -> pa.Table:
    """No rows, with the columns of `_measured`."""
    kinds = dict.fromkeys(("fold", "method", "query_id"), pa.string())
    kinds |= dict.fromkeys((*_SWEPT, "neighbours", "models", "work", "same"), pa.float64())
    return pa.table({name: pa.array([], kind) for name, kind in kinds.items()})


def sample(n: int, most: int) -> IntArray:
    """At most ``most`` of ``n`` queries, evenly spaced."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.int64)


def _same(variant: Variant, first: Variant) -> float:
    if variant.rows.shape != first.rows.shape:
        return 0.0
    return float((variant.rows == first.rows).all(axis=1).mean())


def _measured(
    fold: str,
    test: Judged,
    variant: Variant,
    wanted: IntArray,
    W: FloatArray,
    models: LocalModels,
    same: float,
) -> pa.Table:
    """Measures of one variant on the queries of ``test``, from the models ``wanted`` with weights ``W``."""
    scores, n = query_scores(test, W[np.searchsorted(wanted, variant.model_of)]), test.n_queries
    columns: dict[str, Any] = repeated(n, fold=fold, method=variant.name)
    columns |= {"query_id": pa.array(test.query_id, pa.string())}
    columns |= measure(_SWEPT, test.y, scores, test.offsets, unranked=test.unranked)
    sizes = (variant.rows[variant.model_of] >= 0).sum(axis=1)
    work = float((models.evaluations * models.pairs).mean()) * variant.n_models / 1e6
    columns |= {"neighbours": sizes.astype(np.float64)}
    return pa.table(columns | repeated(n, models=float(variant.n_models), work=work, same=same))
