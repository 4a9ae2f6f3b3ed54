"""Simulated data as the artifacts with which every data set begins: judged, columns, topics."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from qdrank.datasets.columns import columns_table
from qdrank.datasets.judged import Judged
from qdrank.datasets.simulated.affine import simulate_affine
from qdrank.datasets.simulated.features import REFERENCE, Simulated, simulate
from qdrank.datasets.topics import topics_table
from qdrank.store import write


def write_simulated(out: Mapping[str, str | Path], *, like: str, seed: int, **changes: Any) -> None:
    """Draw a simulated data set and write the three artifacts."""
    data = simulate_affine(seed, **changes) if like == "affine" else simulate(like, seed, **changes)
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
