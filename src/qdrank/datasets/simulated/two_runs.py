"""Two runs whose best weights depend on the query by a known amount, to test methods that claim to find them.

Every query has a type t, 1 or -1, which shows in its documents: queries of one type retrieve from the same topics, so that
they have documents in common, and queries of different types do not. Run 0 scores a document by ``(1 + d t) r + noise``,
run 1 by ``(1 - d t) r + noise``, where r is 1 for a relevant document and 0 for others. With d = 0 the best weights are equal for all
queries: the negative control. With d > 0 run 0 is the better one for t = 1, run 1 for t = -1, and a weight per query gains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qdrank.datasets.runs.model import Qrels, Run
from qdrank.datasets.simulated.changing import changed_settings
from qdrank.errors import InputError


@dataclass(frozen=True, kw_only=True)
class TwoRuns:
    """What to simulate."""

    queries: int = 2000
    documents: int = 40
    """Documents of a query."""
    relevant: int = 6
    """How many of them are relevant."""
    dependence: float = 0.5
    """d, 0 to 1: how much the better run depends on the query."""
    topics: int = 4
    """Topics of each type, whose documents its queries share."""

    def __post_init__(self) -> None:
        for name, least in {"queries": 1, "documents": 1, "relevant": 1, "topics": 1}.items():
            if not getattr(self, name) >= least:
                raise InputError(f"{name} is too small: {getattr(self, name)}")
        if self.relevant > self.documents:
            raise InputError(f"relevant is above the number of documents: {self.relevant} of {self.documents}")
        if not 0 <= self.dependence <= 1:
            raise InputError(f"dependence must lie between 0 and 1: {self.dependence}")


def two_runs(seed: int = 1, **changes: Any) -> tuple[list[Run], Qrels]:
    """Draw two runs and their judgments.

    Parameters
    ----------
    seed : of everything random
    **changes : fields of `TwoRuns` that differ, for instance ``dependence=0``
    """
    settings = changed_settings(TwoRuns(), changes)
    queries, documents, topics = settings.queries, settings.documents, settings.topics
    rng = np.random.default_rng(seed)
    kind = np.where(np.arange(queries) % 2, 1.0, -1.0)
    topic = rng.integers(0, topics, queries) + np.where(kind > 0, 0, topics)
    names = np.repeat([f"q{i}" for i in range(queries)], documents).astype(object)
    pool = np.stack([rng.permutation(3 * documents)[:documents] for _ in range(queries)])
    docs = np.array([f"t{t}d{d}" for t, row in zip(topic, pool, strict=True) for d in row], dtype=object)
    grade = np.zeros((queries, documents), dtype=np.int64)
    grade[:, : settings.relevant] = 1
    runs = []
    for sign, tag in ((1.0, "first"), (-1.0, "second")):
        signal = (1 + sign * settings.dependence * kind)[:, None] * grade
        runs.append(Run(names, docs, (signal + rng.standard_normal(grade.shape)).ravel(), tag))
    return runs, Qrels(names, docs, grade.ravel())
