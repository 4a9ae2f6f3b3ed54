"""A control missing from the paper: pairwise and listwise learners on the same features, chosen by the same measure."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import pyarrow as pa

from qdrank.datasets.judged import scores_table
from qdrank.rankers.documents import FoldDocuments
from qdrank.rankers.learning import choices_table, fit_method
from qdrank.studies.zha2006.data import FoldData
from qdrank.studies.zha2006.fold import fit_rows
from qdrank.studies.zha2006.methods import PAIRWISE, method_name


def run_pairwise(
    fold: str, documents: FoldDocuments, data: FoldData, h: str, grid: Mapping[str, Any]
) -> tuple[pa.Table, pa.Table, pa.Table, Any]:
    """The learner compared with ``h``, tuned on a fold over ``grid``: tables of cells, choices and scores, and the learner."""
    learner = PAIRWISE[h][0]
    choice = fit_method(learner, grid, documents, measure=data.measure, seed=data.seed)
    test = data.parts["test"]
    scores = choice.chosen.predict(test.X, test.judged.query)
    cells = fit_rows(fold, h, "pairwise", "test", (inf, inf), test.judged.query_id, value=data.reported("test", scores))
    return (
        cells,
        choices_table(fold, method_name(h, "pairwise"), grid, choice, data.measure),
        scores_table(test.judged, scores),
        choice.chosen,
    )
