"""Simulated data as the artifacts that every data set starts from: judged, columns, topics."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from qdrank.datasets.columns import columns_table, topics_table
from qdrank.datasets.judged import Judged
from qdrank.datasets.runs.joined import judged_runs
from qdrank.datasets.simulated.features import REFERENCE, Simulated, simulate
from qdrank.datasets.simulated.known import simulate_affine, two_runs
from qdrank.store import write


def write_simulated(out: Mapping[str, str | Path], *, like: str, seed: int, **changes: Any) -> None:
    """Draw a simulated data set and write the three artifacts."""
    if like == "two-runs":
        _write_runs(out, seed, **changes)
        return
    data = simulate_affine(seed, **changes) if like == "affine" else simulate(like, seed, **changes)
    names = ["BM25-like" if i == REFERENCE else f"feature {i + 1}" for i in range(data.X.shape[1])]
    write(out["judged"], "judged", _judged(data).to_table())
    write(out["columns"], "columns", columns_table(names, REFERENCE))
    write(
        out["topics"],
        "topics",
        topics_table(data.query_id, data.query_part, types=data.types.tolist(), columns=data.query_columns),
    )


def _write_runs(out: Mapping[str, str | Path], seed: int, **changes: Any) -> None:
    """Draw two runs; of every ten queries six train, two validate and two test."""
    runs, qrels = two_runs(seed, **changes)
    names = list(qrels.by_query)
    place = np.arange(len(names)) * 10 // len(names)
    part = dict(zip(names, np.array([*["train"] * 6, *["vali"] * 2, *["test"] * 2])[place].tolist(), strict=True))
    made = judged_runs(runs, qrels, part, max_label=1)
    write(out["judged"], "judged", made.judged.to_table())
    write(out["columns"], "columns", columns_table(made.names, 0))
    known = topics_table(made.judged.query_id, made.judged.part, run_scores=made.scores)
    write(out["topics"], "topics", known)


def _judged(data: Simulated) -> Judged:
    return Judged(
        query_id=data.query_id.astype(object),
        part=data.query_part.astype(object),
        offsets=data.offsets,
        doc_id=data.document.astype(object),
        y=data.y.astype(np.int64),
        X=data.X,
    )
