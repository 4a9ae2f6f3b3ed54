"""Systems of a rank-aggregation set as runs; a document without a rank is not retrieved."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.datasets.runs.model import Qrels, Run


def system_runs(ranks: Judged, best: str = "low") -> Iterator[Run]:
    """One run for each column of ranks, ``system-1`` and so on; a column without any rank gives none.

    With ``best`` "low" minus the rank is the score; "high" is for files whose best document has the highest number.
    """
    sign = 1.0 if best == "high" else -1.0
    for system, rank in enumerate(ranks.X.T, 1):
        rows = np.flatnonzero(~np.isnan(rank))
        if len(rows):
            score = sign * rank[rows].astype(np.float64)
            yield Run(ranks.query[rows], ranks.doc_id[rows], score, f"system-{system}", "ranks of a system")


def judgments_of(ranks: Judged) -> Qrels:
    """The judgments of all documents."""
    return Qrels(ranks.query, ranks.doc_id, ranks.y, "judgments of a LETOR file")
