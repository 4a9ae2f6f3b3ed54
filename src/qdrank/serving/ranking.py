"""Scores for new queries in one call, as ``qdrank.rank``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, query_offsets
from qdrank.serving.loading import load_ranker


def rank(
    models: str | os.PathLike[str],
    X: NDArray[Any],
    query: Sequence[Any] | NDArray[Any] | None = None,
    *,
    method: str | None = None,
    query_columns: NDArray[Any] | None = None,
    text: Sequence[str] | None = None,
    doc_id: Sequence[str] | None = None,
    k: float | None = None,
    lam: float | None = None,
) -> FloatArray:
    """Score the documents of new queries with the models of a study; higher scores are better.

    Every call reads the models. To score many queries one by one, read them once with
    `qdrank.serving.loading.load_ranker`.

    Parameters
    ----------
    models : a fold's results, for instance ``results/mq2008/fold1``, or one file of its folder ``served``
    X : (n_documents, n_features), the features that the models were trained on, in their order and units
    query : (n_documents,) query of each document, those of one query together; by default all belong to one query
    method : any method that a study scored, such as "single" or "knn-offline1" (the default)
    query_columns, text : (n_queries, own_columns) columns and (n_queries,) words of the queries, for rankers that use them
    doc_id : (n_documents,) names of the documents, for rankers that use them
    k, lam : number of neighbours and lambda; by default those that the study chose

    Returns
    -------
    array of shape (n_documents,)
    """
    names = np.zeros(len(X), dtype=np.int64) if query is None else np.asarray(query)
    if len(names) != len(X):
        raise InputError(
            f"{len(X)} documents need as many query ids", found=f"{len(names)}", fix="one for each row of X"
        )
    offsets = query_offsets(names)
    ranker = load_ranker(models, method, k=k, lam=lam)
    asked = None if query is None else [str(name) for name in names[offsets[:-1]]]
    return ranker.score_many(
        np.asarray(X), offsets, query_columns=query_columns, text=text, query_id=asked, doc_id=doc_id
    )
