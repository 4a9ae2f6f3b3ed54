"""A fold as the study of Zha 2006 sees it: features on the learner's scale, targets, and the measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.choose import ValidationQueries
from qdrank.measures import gains
from qdrank.rankers.base import Validation
from qdrank.rankers.tuning import query_values_of
from qdrank.studies.zha2006.methods import Options

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


@dataclass(frozen=True)
class FoldPart:
    """Documents of one role as h sees them, and their targets."""

    judged: Judged
    targets: FloatArray

    @property
    def varied(self) -> NDArray[np.bool_]:
        """Whether a query has documents of different grades, (n_queries,); if not, all its rankings are equal."""
        starts = self.judged.offsets[:-1]
        return np.maximum.reduceat(self.judged.y, starts) > np.minimum.reduceat(self.judged.y, starts)


@dataclass(frozen=True)
class FoldData:
    """Parts by role, the name of the DCG, and the seed that orders tied documents on validation."""

    parts: Mapping[str, FoldPart]
    measure: str
    seed: int

    @property
    def watched(self) -> str:
        """Role on which settings are chosen: vali, or train if the fold has no validation queries."""
        return "vali" if self.parts["vali"].judged.n_queries else "train"

    @cached_property
    def validation(self) -> ValidationQueries:
        """Queries of the watched role, on which settings are chosen."""
        return ValidationQueries.of(self.parts[self.watched].judged, measure=self.measure, seed=self.seed)

    def reported(self, role: str, scores: FloatArray) -> FloatArray:
        """DCG of every query, (n_queries,), ties in row order as in every report."""
        return query_values_of(self.measure, self.parts[role].judged, scores)


def fold_data(parts: Mapping[str, Validation], options: Options, highest: int, seed: int) -> FoldData:
    """The ``parts`` of a fold with the targets and measure of the options; ``highest`` is the highest grade of the data set."""
    with_targets = {
        role: FoldPart(judged, target_values(options.targets, judged.y, highest)) for role, (judged, _) in parts.items()
    }
    return FoldData(with_targets, dcg(options.gains, highest, options.depth), seed)
