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
from qdrank.queries.artifacts import Queries
from qdrank.queries.graph import fitted_metric
from qdrank.queries.vectors import Standardiser
from qdrank.rankers.global_models import GlobalModels
from qdrank.rankers.knn import pair_counts
from qdrank.rankers.local_models import ModelBank
from qdrank.rankers.sizes import Setting
from qdrank.serving.pack import METHODS, Packed, Terms, own_columns
from qdrank.studies.geng2008.fold import LOCAL, chosen_settings


def study_terms(
    judged: Judged,
    topics: pa.Table,
    reference: int,
    chosen: Mapping[str, Setting],
    *,
    largest: int,
    queries: Mapping[str, Any],
    metric: str,
    scale: str,
    choice: Any,
) -> Terms:
    """How a study saw documents and queries, from its artifacts and the sections of its configuration.

    Parameters
    ----------
    judged : the data set
    topics : its artifact ``topics``
    reference : column of the reference feature, counted from 0
    chosen : setting of each method, see `served_settings`
    largest : number of stored neighbours of a query
    queries : section ``queries`` of the configuration
    metric, scale, choice : ``neighbours.metric``, ``training.scale`` and ``geng.offline1``
    """
    own = len(topics.column("columns")[0]) if queries["query_columns"] else 0
    return Terms(
        n_features=judged.X.shape[1],
        missing=bool(np.isnan(judged.X).any()),
        minmax=scale == "minmax",
        reference=reference,
        own_columns=own,
        metric=metric,
        largest=largest,
        choice=choice,
        chosen=chosen,
        **{name: queries[name] for name in ("top", "pooling", "view", "scale")},
    )


def served_settings(choices: pa.Table, fold: str) -> dict[str, Setting]:
    """Setting that the artifact ``choices`` names for every method that can serve."""
    named = chosen_settings(choices)
    return {method: named[fold, study] for method, study in METHODS.items()}


def packed(
    judged: Judged,
    topics: pa.Table,
    fold: str,
    queries: Queries,
    nearest: NDArray[np.int32],
    whole: GlobalModels,
    local: ModelBank,
    terms: Terms,
) -> Packed:
    """Put together what the rankers of a fold need.

    Parameters
    ----------
    judged, topics : the data set
    fold : name of the fold
    queries, nearest : the fold's queries, and their neighbours (n_queries, largest)
    whole, local : models of all training queries, and of neighbourhoods
    terms : as in training
    """
    train, ids = judged.of_role(fold, "train"), queries.query_id[queries.is_train]
    seen = minmax_per_query(train.X, train.offsets) if terms.minmax else train.X
    own = own_columns(topics, train.query_id.tolist()) if terms.own_columns else None
    scaler = _fitted(terms.pooled(train.X, train.offsets, own), terms, queries.vectors[queries.is_train])
    metric = fitted_metric(terms.metric, queries.vectors[queries.is_train], train)
    weights = {"single": whole.weights("single", terms.chosen["single"].lam)}
    for method in ("offline1", "offline2"):
        weights[method] = local.weights(LOCAL[METHODS[method]], terms.chosen[method], ids)
    return Packed(
        terms=terms,
        fill=column_moments(seen)[0],
        mean=scaler.mean_,
        deviation=scaler.scale_,
        map=getattr(metric, "map_", np.zeros((0, 0))),
        train_id=ids,
        vectors=queries.vectors[queries.is_train],
        pairs=pair_counts(train.y, train.offsets),
        neighbours=nearest[queries.is_train, : terms.chosen["offline1"].k],
        weights=weights,
    )


def _fitted(vectors: FloatArray, terms: Terms, stored: FloatArray) -> Standardiser:
    """The standardiser that made the ``stored`` vectors of the training queries."""
    scaler = Standardiser(scale=terms.scale == "zscore").fit(vectors)
    if not np.array_equal(scaler.transform(vectors), stored):
        mend = "run the workflow again; do not mix results of different configurations"
        raise InputError("the query vectors are not those of these documents and settings", mend=mend)
    return scaler
