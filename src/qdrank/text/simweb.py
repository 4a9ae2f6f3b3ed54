"""The simulated web through the same index and features as real text, into the artifacts of a data set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.columns import columns_table, topics_table
from qdrank.datasets.judged import Judged
from qdrank.datasets.simulated.settings import QUERY_KINDS
from qdrank.datasets.simulated.web import SimulatedWeb, simulate_web
from qdrank.layout import FloatArray, query_offsets
from qdrank.store import write
from qdrank.text.index import AnalysedQueries, Index, analyse_queries, build_index
from qdrank.text.rank_features import feature_values, letor46_columns, web_columns
from qdrank.text.retrieve import Candidates, retrieve
from qdrank.text.topics import QUERY_COLUMNS, query_columns

REFERENCE_NAME = "whole.BM25"
#: What is known of a query before any page is ranked.
TOPIC_COLUMNS = (*QUERY_COLUMNS, *(f"cue.{kind}" for kind in QUERY_KINDS))


def write_simweb(out: Mapping[str, str | Path], *, seed: int, **changes: Any) -> None:
    """Draw a simulated web and write the artifacts ``judged`` (raw features), ``columns`` and ``topics``.

    Parameters
    ----------
    out : paths of the three artifacts
    seed, **changes : as for `simulate_web`
    """
    web = simulate_web(seed, **changes)
    judged, columns = judged_web(web)
    asked = {query.query_id: query for query in web.collection.queries}
    write(out["judged"], "judged", judged.to_table())
    write(out["columns"], "columns", columns_table(letor46_columns(), letor46_columns().index(REFERENCE_NAME)))
    table = topics_table(
        judged.query_id,
        judged.part,
        text=[asked[query].text for query in judged.query_id],
        types=[asked[query].type for query in judged.query_id],
        columns=columns.astype(np.float32),
    )
    write(out["topics"], "topics", table)


def judged_web(web: SimulatedWeb) -> tuple[Judged, FloatArray]:
    """Candidates with LETOR's 46 features as they are, and the columns ``TOPIC_COLUMNS`` of their queries.

    Returns
    -------
    judged : a query without any word on any page has no candidate and is left out; the collection's notes count it
    columns : array of shape (n_queries, len(TOPIC_COLUMNS))
    """
    collection = web.collection
    index = build_index(collection.documents)
    queries = analyse_queries(index, [query.text for query in collection.queries])
    qrels = collection.qrels
    pairs = Candidates(qrels.query, qrels.document, qrels.grade.astype(np.int8))
    static = web_columns(collection.documents)
    X = feature_values(index, queries, pairs, letor46_columns(), static=static)
    columns = np.hstack([_query_columns(index, queries), web.cues])
    return _judged(web, X), columns[np.unique(qrels.query)]


def _query_columns(index: Index, queries: AnalysedQueries) -> FloatArray:
    whole = index.field("whole")
    return query_columns(whole, queries, retrieve(whole, queries, n_top=1))


def _judged(web: SimulatedWeb, X: NDArray[np.float32]) -> Judged:
    collection = web.collection
    offsets = query_offsets(collection.qrels.query)
    asked = [collection.queries[row] for row in collection.qrels.query[offsets[:-1]].tolist()]
    return Judged(
        query_id=np.array([query.query_id for query in asked], dtype=object),
        part=np.array([query.split for query in asked], dtype=object),
        offsets=offsets,
        doc_id=np.array(collection.documents.doc_id, dtype=object)[collection.qrels.document],
        y=collection.qrels.grade,
        X=X,
    )
