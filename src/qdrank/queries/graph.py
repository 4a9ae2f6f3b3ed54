"""The k-NN graph of a fold as an artifact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.queries import METRICS
from qdrank.queries.artifacts import Queries, list_column
from qdrank.queries.neighbours import neighbours


def neighbours_table(queries: Queries, options: Mapping[str, Any]) -> pa.Table:
    """The artifact ``neighbours`` of a fold, with ``metric``, ``largest`` and ``search`` of the configuration."""
    train = queries.vectors[queries.is_train]
    metric = METRICS[options["metric"]]().fit(train)
    k = min(options["largest"] or len(train), len(train))
    found = neighbours(
        queries.vectors,
        train,
        k,
        own=queries.train_index.astype(np.int64),
        ids=queries.query_id[queries.is_train],
        metric=metric,
        search=options["search"],
    )
    columns = [pa.array(queries.query_id, pa.string()), pa.array(queries.role, pa.string())]
    columns += [list_column(found.rows), list_column(found.distance)]
    return pa.table(columns, names=["query_id", "role", "neighbours", "distances"])
