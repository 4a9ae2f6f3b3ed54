"""Numbers that stand for grades: targets of the regression, gains of the measure."""

from __future__ import annotations

from typing import Literal

import numpy as np

from qdrank.layout import FloatArray, IntArray
from qdrank.measures import gains

TargetKind = Literal["auto", "grades", "exp", "zha"]
_VALUES: dict[str, gains.Gain] = {"grades": gains.linear, "exp": gains.exponential, "zha": gains.zha}
_CONVENTIONS = {"grades": "linear", "exp": "exp", "zha": "zha"}


def resolved(kind: TargetKind, highest: int) -> str:
    """What ``auto`` means for data with grades 0 to ``highest``: the paper's values for five grades, else 2^g - 1."""
    return kind if kind != "auto" else "zha" if highest == 4 else "exp"


def target_values(kind: TargetKind, grades: IntArray, highest: int) -> FloatArray:
    """Number of each grade, (n_documents,): the grade itself, 2^g - 1, or 0, 0.5, 3, 7, 10."""
    return np.asarray(_VALUES[resolved(kind, highest)](highest + 1)[grades])


def dcg(kind: TargetKind, highest: int, depth: int = 5) -> str:
    """Name of the DCG with these gains, Zha 2006's ``sum G_i / log2(i + 1)`` over the first ``depth`` ranks."""
    return f"dcg@{depth}/{_CONVENTIONS[resolved(kind, highest)]}"
