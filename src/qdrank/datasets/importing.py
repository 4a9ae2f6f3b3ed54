"""The three artifacts with which every data set begins: judged documents, their columns, and the topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.columns import columns_table, letor_names
from qdrank.datasets.folds import roles
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.letor_import import import_letor
from qdrank.datasets.simulated import REFERENCE, Simulated, simulate
from qdrank.measures import average_precision
from qdrank.store import open_artifact, write

Paths = Mapping[str, str | Path]


def import_features(
    files: Paths, out: Paths, *, reference: int | None, max_label: int, missing_values: bool, seed: int
) -> None:
    """Read LETOR text by part into the artifacts ``judged``, ``columns`` and ``topics``.

    A single part called ``all`` is cut into five by query. Without a known reference the feature that ranks the
    training queries of the first fold best takes its place.
    """
    source = files["all"] if set(files) == {"all"} else files
    import_letor(source, out["judged"], missing=missing_values, max_label=max_label, seed=seed)
    judged = load_judged(out["judged"], ["features"] if reference is None else ["doc_id"])
    number = best_feature(judged) if reference is None else reference - 1
    write(out["columns"], "columns", columns_table(letor_names(_width(out["judged"])), number))
    write(out["topics"], "topics", topics_table(judged.query_id, judged.part))


def _width(path: str | Path) -> int:
    with open_artifact(path, "judged") as file:
        return int(file.schema_arrow.field("features").type.list_size)


def best_feature(judged: Judged) -> int:
    """Feature, counted from 0, with the highest MAP on the training queries of the first fold."""
    train = judged.select(roles(judged.parts, "fold1")["train"])
    return int(np.argmax(average_precision(train.y, np.nan_to_num(train.X, nan=-np.inf), train.offsets).mean(axis=0)))


def import_ranks(files: Paths, out: Paths, *, max_label: int) -> None:
    """Read rankings to be aggregated: the ranks themselves as ``ranks``, features made of them as ``judged``."""
    import_letor(files, out["ranks"], missing=True, max_label=max_label)
    ranks = load_judged(out["ranks"])
    X, names = rank_features(ranks.X)
    write(out["judged"], "judged", ranks.with_features(X).to_table())
    write(out["columns"], "columns", columns_table(names, len(names) - 1))
    write(out["topics"], "topics", topics_table(ranks.query_id, ranks.part))


def rank_features(ranks: NDArray[np.float32]) -> tuple[NDArray[np.float32], list[str]]:
    """Features of given ranks, shape (n_documents, n_systems) with NaN where a system did not rank the document.

    For each system: whether it ranked the document, 1/log2(1 + rank) and -log2(rank), the last two 0 and the worst
    value of the system where it did not. Last column, the reference: the mean of 1/log2(1 + rank) over the systems.
    """
    present = ~np.isnan(ranks)
    filled = np.where(present, ranks, 1.0).astype(np.float64)
    gain = np.where(present, 1.0 / np.log2(1.0 + filled), 0.0)
    worst = np.where(present, ranks, 1.0).max(axis=0, initial=1.0)
    log_rank = -np.log2(np.where(present, filled, worst + 1.0))
    systems = [f"system {i + 1}" for i in range(ranks.shape[1])]
    names = [f"{what} {system}" for what in ("ranked by", "1/log2(1+rank)", "-log2 rank") for system in systems]
    X = np.hstack([present, gain, log_rank, gain.mean(axis=1, keepdims=True)]).astype(np.float32)
    return X, [*names, "mean 1/log2(1+rank)"]


def write_simulated(out: Paths, *, like: str, seed: int, **changes: Any) -> None:
    """Draw a simulated data set and write the three artifacts."""
    data = simulate(like, seed, **changes)
    names = ["BM25-like" if i == REFERENCE else f"feature {i + 1}" for i in range(data.X.shape[1])]
    write(out["judged"], "judged", _judged(data).to_table())
    write(out["columns"], "columns", columns_table(names, REFERENCE))
    write(
        out["topics"],
        "topics",
        topics_table(data.query_id, data.query_part, types=data.types.tolist(), columns=data.query_columns),
    )


def _judged(data: Simulated) -> Judged:
    return Judged(
        query_id=data.query_id.astype(object),
        part=data.query_part.astype(object),
        offsets=data.offsets,
        doc_id=data.document.astype(object),
        y=data.y.astype(np.int64),
        X=data.X,
    )


def topics_table(
    query_id: Sequence[str] | NDArray[Any],
    part: Sequence[str] | NDArray[Any],
    *,
    text: Sequence[str | None] | None = None,
    types: Sequence[str | None] | None = None,
    columns: NDArray[np.float32] | None = None,
) -> pa.Table:
    """The artifact ``topics``: what is not known of the queries is null, or of width 0."""
    n = len(query_id)
    unknown: list[None] = [None] * n
    matrix = np.zeros((n, 0), dtype=np.float32) if columns is None else np.asarray(columns, dtype=np.float32)
    kind = pa.list_(pa.field("item", pa.float32(), nullable=False), matrix.shape[1])
    lists = pa.array(list(matrix), kind)
    texts = {"query_id": query_id, "part": part, "text": text or unknown, "type": types or unknown}
    return pa.table({name: pa.array(values, pa.string()) for name, values in texts.items()} | {"columns": lists})
