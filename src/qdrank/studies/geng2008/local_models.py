"""Local models of a fold, by neighbourhoods, in shards: one Ranking SVM for the neighbourhood of every query.

``neighbours`` are models of a query's nearest training queries. There are two controls: ``equal`` gives every query the
same weight, however many pairs it has; ``random`` replaces the neighbours by random training queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, rows_of
from qdrank.learners.ranksvm.estimator import Model, all_pairs
from qdrank.learners.ranksvm.local import (
    LocalModels,
    block_size,
    locality_order,
    make_blocks,
    prepare_training,
    progress_lines,
    shards_of_blocks,
    train_sweep,
)
from qdrank.queries.recipe import Queries, load_neighbours, load_queries
from qdrank.queries.sizes import Setting, by_lambda
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold
from qdrank.rankers.knn import random_neighbours
from qdrank.store import read, write
from qdrank.store.schemas import Shape, Vector
from qdrank.store.tables import joined, list_column, list_matrix, no_rows, repeated
from qdrank.studies.geng2008.methods import Options

_TEXT, _NUMBER = pa.string(), pa.float64()
# Linear models of the neighbourhoods of queries: one row per kind of neighbourhood, query, k and lambda.
LOCAL_SHAPE = Shape(
    "local_models",
    {"neighbourhood": _TEXT, "role": _TEXT, "query_id": _TEXT, "k": pa.int32(), "lam": _NUMBER}
    | {"pairs": pa.int64(), "gap": _NUMBER, "iterations": pa.int32(), "weights": Vector(_NUMBER)},
)
WEIGHTING = {"neighbours": "pairs", "equal": "equal", "random": "pairs"}


@dataclass(frozen=True)
class Neighbourhood:
    """Models to train.

    Attributes
    ----------
    rows : (n_models,) row of the query that each model belongs to
    neighbours : (n_models, k_max) training queries, nearest first
    settings : numbers of neighbours and lambdas
    """

    name: str
    rows: IntArray
    neighbours: NDArray[np.int32]
    settings: Sequence[Setting]


def train_shard(
    documents: FoldDocuments,
    queries: Queries,
    wanted: Sequence[Neighbourhood],
    *,
    shard: int,
    n_shards: int,
    block: int | None,
    tol: float,
    log: Callable[[str], object] = lambda _: None,
) -> pa.Table:
    """Train shard number ``shard`` (from 0) of all neighbourhoods; the artifact ``local_models``."""
    data = documents.preferences()
    tables = [no_rows(LOCAL_SHAPE, weights=data.n_features)]  # all there is, with more shards than blocks
    every_pair: dict[str, FloatArray] = {}
    singles: dict[tuple[str, float], Model] = {}
    for neighbourhood, blocks in _share(wanted, queries, block, shard, n_shards):
        weighting = WEIGHTING[neighbourhood.name]
        if weighting not in every_pair:
            every_pair[weighting] = all_pairs(data, weighting)
        for lam, ks in by_lambda(neighbourhood.settings).items():
            log(f"{neighbourhood.name}, lambda {lam:g}, k from {ks[0]} to {ks[-1]}")
            base = prepare_training(
                data,
                lam=lam,
                query_weights=weighting,
                tol=tol,
                single=singles.get((weighting, lam)),
                all_pairs=every_pair[weighting],
            )
            singles[weighting, lam] = base.single
            swept = train_sweep(base, neighbourhood.neighbours, ks, blocks, tol=tol, progress=progress_lines(log))
            tables += [_table(neighbourhood, queries, documents, Setting(k, lam), swept[k]) for k in ks]
    return joined(tables)


def _share(
    wanted: Sequence[Neighbourhood], queries: Queries, block: int | None, shard: int, n_shards: int
) -> Iterator[tuple[Neighbourhood, list[IntArray]]]:
    """Families and blocks of a shard. Families are divided together: one alone has too few blocks for many shards."""
    divided = [(neighbourhood, _blocks(neighbourhood, queries, block)) for neighbourhood in wanted]
    costs = [len(rows) * _cost(neighbourhood) for neighbourhood, blocks in divided for rows in blocks]
    of_block = iter(shards_of_blocks(costs, n_shards).tolist())
    for neighbourhood, blocks in divided:
        of_shard = [rows for rows in blocks if next(of_block) == shard]
        if of_shard:
            yield neighbourhood, of_shard


def _blocks(neighbourhood: Neighbourhood, queries: Queries, block: int | None) -> list[IntArray]:
    size = block_size(block, len(neighbourhood.rows))
    return make_blocks(locality_order(queries.vectors[neighbourhood.rows], size), size)


def _cost(neighbourhood: Neighbourhood) -> float:
    """Cost of a model over all settings, in neighbours."""
    return float(sum(k for k, _ in set(neighbourhood.settings)))


def _table(
    neighbourhood: Neighbourhood, queries: Queries, documents: FoldDocuments, of: Setting, models: LocalModels
) -> pa.Table:
    rows = neighbourhood.rows[models.rows]
    columns = {
        **repeated(len(rows), neighbourhood=neighbourhood.name, k=of.k, lam=of.lam),
        "role": pa.array(queries.role[rows], pa.string()),
        "query_id": pa.array(queries.query_id[rows], pa.string()),
        "pairs": pa.array(models.pairs),
        "gap": pa.array(models.gaps),
        "iterations": pa.array(models.evaluations.astype(np.int32)),
        "weights": list_column(documents.stored(models.W)),
    }
    return pa.table(columns)


def gathered(shards: Sequence[pa.Table], query_id: NDArray[Any]) -> pa.Table:
    """All models in an order that does not depend on the shards: neighbourhood, lambda, k, query."""
    table = pa.concat_tables(shards).combine_chunks()
    neighbourhood = np.array(
        [list(WEIGHTING).index(name) for name in table.column("neighbourhood").to_pylist()], dtype=np.int64
    )
    query = rows_of(table.column("query_id").to_numpy(zero_copy_only=False), query_id)
    k, lam = table.column("k").to_numpy(), table.column("lam").to_numpy()
    return table.take(pa.array(np.lexsort((query, k, -lam, neighbourhood))))


def gather_local(files: Mapping[str, Any], path: str) -> pa.Table:
    """Write the shards of local models of a fold as one table."""
    ids = read(files["queries"], "queries", ["query_id"]).column("query_id").to_numpy(zero_copy_only=False)
    table = gathered([read(shard, LOCAL_SHAPE) for shard in files["shards"]], ids)
    write(path, LOCAL_SHAPE, table)
    return table


class ModelBank:
    """Local models by neighbourhood, setting and query, in the order of `gathered`."""

    def __init__(self, table: pa.Table) -> None:
        self._weights: FloatArray = list_matrix(table.column("weights"))
        self._ids = table.column("query_id").to_numpy(zero_copy_only=False)
        heads = {name: table.column(name).to_numpy(zero_copy_only=False) for name in ("neighbourhood", "lam", "k")}
        self._runs = {(neighbourhood, Setting(k, lam)): rows for neighbourhood, lam, k, rows in _runs(**heads)}

    def settings(self, neighbourhood: str) -> list[Setting]:
        """Settings for which the neighbourhood was trained."""
        return [setting for name, setting in self._runs if name == neighbourhood]

    def weights(self, neighbourhood: str, setting: Setting, query_id: NDArray[Any]) -> FloatArray:
        """Weights of the models of some queries, shape (n_queries, n_features)."""
        run = self._runs[neighbourhood, setting]
        return self._weights[run][rows_of(query_id, self._ids[run])]


def _runs(neighbourhood: NDArray[Any], lam: NDArray[Any], k: NDArray[Any]) -> Iterator[tuple[str, float, int, slice]]:
    changes = (neighbourhood[1:] != neighbourhood[:-1]) | (lam[1:] != lam[:-1]) | (k[1:] != k[:-1])
    heads = np.r_[0, np.flatnonzero(changes) + 1, len(k)] if len(k) else np.zeros(1, dtype=np.int64)
    for start, end in zip(heads[:-1].tolist(), heads[1:].tolist(), strict=True):
        yield str(neighbourhood[start]), float(lam[start]), int(k[start]), slice(start, end)


def neighbourhoods(queries: Queries, nearest: NDArray[np.int32], options: Options, seed: int) -> list[Neighbourhood]:
    """Neighbourhoods that the study needs.

    The offline methods use the models of the training queries; KNN Online uses those of validation and test queries.

    Parameters
    ----------
    queries : queries of the fold
    nearest : (n_queries, m) their neighbours among the training queries
    options : of the study
    seed : of the random neighbours
    """
    m = int(queries.is_train.sum())
    chosen_from = options.eligible(m)
    tested = np.flatnonzero(~queries.is_train)
    swept = options.swept(m)
    most = max(k for k, _ in swept)
    if most > nearest.shape[1]:
        raise InputError(
            f"the study wants {most} of {m} neighbours, and the graph holds {nearest.shape[1]}",
            fix="raise neighbours.largest (null: as many as the study uses), or lower geng.ks, geng.candidates and geng.k",
        )
    trained = [Neighbourhood("neighbours", np.arange(len(nearest)), nearest, swept)]
    if "equal" in options.controls:
        trained.append(Neighbourhood("equal", tested, nearest[tested], chosen_from))
    if "random" in options.controls:
        drawn = random_neighbours(queries.query_id[tested], m, most, seed)
        trained.append(Neighbourhood("random", tested, drawn, swept))
    return trained


def train_local(
    files: Mapping[str, str],
    path: str,
    fold: str,
    shard: tuple[int, int],
    *,
    geng: Mapping[str, Any],
    scale: FeatureScale,
    block: int | None,
    tol: float,
    seed: int,
    log: Callable[[str], object],
) -> None:
    """Write one shard of the local models of a fold; ``shard`` is its number, from 0, and how many there are."""
    queries, (_, nearest) = load_queries(files["queries"]), load_neighbours(files["neighbours"])
    documents = load_fold(files["judged"], fold, scale, wanted=["train"])
    wanted, (number, shards) = neighbourhoods(queries, nearest, Options(**geng), seed), shard
    training: dict[str, Any] = {"block": block, "tol": tol}
    models = train_shard(documents, queries, wanted, shard=number, n_shards=shards, **training, log=log)
    write(path, LOCAL_SHAPE, models)
