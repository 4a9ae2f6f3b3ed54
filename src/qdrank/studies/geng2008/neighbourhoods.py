"""Neighbourhoods whose local models the study trains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.learners.ranksvm.estimator import Penalty
from qdrank.queries.artifacts import Queries, load_neighbours, load_queries
from qdrank.rankers.documents import FeatureScale, load_fold
from qdrank.rankers.knn import random_neighbours
from qdrank.store import write
from qdrank.studies.geng2008.local_models import Neighbourhood, train_shard
from qdrank.studies.geng2008.options import Options


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
    penalty: Penalty,
    seed: int,
    log: Callable[[str], object],
) -> None:
    """Write one shard of the local models of a fold; ``shard`` is its number, from 0, and how many there are."""
    queries, (_, nearest) = load_queries(files["queries"]), load_neighbours(files["neighbours"])
    documents = load_fold(files["judged"], fold, scale, wanted=["train"])
    wanted, (number, shards) = neighbourhoods(queries, nearest, Options(**geng), seed), shard
    training: dict[str, Any] = {"block": block, "tol": tol, "penalty": penalty}
    models = train_shard(documents, queries, wanted, shard=number, n_shards=shards, **training, log=log)
    write(path, "local_models", models)
