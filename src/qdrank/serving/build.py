"""The artifact ``rankers`` from what a study has trained and chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.datasets.letor.features import column_moments, minmax_per_query
from qdrank.errors import InputError
from qdrank.groups import FloatArray
from qdrank.queries.artifacts import Queries, VectorOptions
from qdrank.queries.metrics import Euclidean
from qdrank.queries.vectors import Standardiser
from qdrank.rankers.global_models import GlobalModels
from qdrank.rankers.knn import Alikeness
from qdrank.rankers.local_models import ModelBank
from qdrank.rankers.sizes import Setting
from qdrank.serving.pack import Packed, Terms, own_columns


def study_terms(
    judged: Judged,
    topics: pa.Table,
    reference: int,
    chosen: Mapping[str, Setting],
    *,
    largest: int,
    queries: VectorOptions,
    metric: str,
    scale: str,
    alike: Alikeness,
    training: Mapping[str, Any] | None = None,
) -> Terms:
    """How a study represented documents and queries, from its artifacts and its configuration.

    Parameters
    ----------
    judged : the data set
    topics : its artifact ``topics``
    reference : column of the reference feature, counted from 0
    chosen : setting of each method that can rank new queries
    largest : number of stored neighbours of a query
    queries : how a query became a point
    metric, scale : ``neighbours.metric`` and ``training.scale``
    alike : what makes two neighbourhoods alike
    training : fold, scale, penalty and tol of local models, where KNN Online is served
    """
    own = len(topics.column("query_columns")[0]) if queries.query_columns else 0
    return Terms(
        n_features=judged.X.shape[1],
        missing=bool(np.isnan(judged.X).any()),
        minmax=scale == "minmax",
        reference=reference,
        own_columns=own,
        metric=metric,
        largest=largest,
        choice=alike,
        chosen=chosen,
        training=training,
        **{name: getattr(queries, name) for name in ("top", "pooling", "view", "scale")},
    )


def packed_rankers(
    judged: Judged,
    topics: pa.Table,
    fold: str,
    queries: Queries,
    nearest: NDArray[np.int32],
    whole: GlobalModels,
    local: ModelBank,
    terms: Terms,
    scaler: Standardiser,
    metric: Euclidean,
) -> Packed:
    """Put together what the rankers of a fold need.

    Parameters
    ----------
    judged, topics : the data set
    fold : name of the fold
    queries, nearest : the fold's queries, and their neighbours (n_queries, largest)
    whole, local : models of all training queries, and of neighbourhoods
    terms : as in training
    scaler, metric : as they were fitted on the training queries
    """
    train, ids = judged.of_role(fold, "train"), queries.query_id[queries.is_train]
    seen = minmax_per_query(train.X, train.offsets) if terms.minmax else train.X
    own = own_columns(topics, train.query_id.tolist()) if terms.own_columns else None
    _refuse_others(scaler.transform(terms.pooled(train.X, train.offsets, own)), queries.vectors[queries.is_train])
    weights = {"single": whole.weights("single", terms.chosen["single"].lam)}
    for method in ("offline1", "offline2"):
        weights[method] = local.weights("neighbours", terms.chosen[method], ids)
    return Packed(
        terms=terms,
        fill=column_moments(seen)[0],
        mean=scaler.mean_,
        deviation=scaler.scale_,
        map=getattr(metric, "map_", np.zeros((0, 0))),
        train_id=ids,
        vectors=queries.vectors[queries.is_train],
        pairs=train.pairs,
        neighbours=nearest[queries.is_train, : terms.chosen["offline1"].k],
        weights=weights,
    )


def _refuse_others(vectors: FloatArray, stored: FloatArray) -> None:
    """Raise if the vectors of the training queries differ from the stored ones."""
    if not np.array_equal(vectors, stored):
        fix = "run the workflow again; do not mix results of different configurations"
        raise InputError("the stored query vectors do not match these documents and settings", fix=fix)
