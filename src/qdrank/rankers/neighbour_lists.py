"""The k-NN graph of a fold, as long as the rankers of the run need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from qdrank.datasets.judged import load_judged
from qdrank.queries.artifacts import load_queries
from qdrank.queries.fitted import metric_table
from qdrank.queries.graph import GraphOptions, neighbours_table
from qdrank.rankers.sizes import stored_neighbours
from qdrank.store import write


def write_neighbours(
    files: Mapping[str, str], out: Mapping[str, str], fold: str, *, options: Mapping[str, Any], used: Iterable[float]
) -> None:
    """Write the nearest training queries of every query of a fold, and what the metric learned.

    ``files`` has ``judged`` if the metric learns from documents; ``used`` are the sizes of neighbourhoods that the run uses.
    """
    queries, wanted = load_queries(files["queries"]), GraphOptions(**options)
    train = load_judged(files["judged"], ["features"]).of_role(fold, "train") if "judged" in files else None
    if wanted.largest is None:
        wanted = replace(wanted, largest=stored_neighbours(used, int(queries.is_train.sum())))
    table, metric = neighbours_table(queries, wanted, train)
    write(out["neighbours"], "neighbours", table)
    write(out["metric"], "fitted", metric_table(wanted.metric, metric))
