"""A control missing from the paper: pairwise and listwise learners on the same features, chosen by the same measure."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import pyarrow as pa

from qdrank.layout import FloatArray
from qdrank.learners.choose import Choice
from qdrank.learners.refits import fit_seed
from qdrank.learners.tuning import fit_one
from qdrank.rankers.learning import choices_table
from qdrank.studies.zha2006.data import FoldData
from qdrank.studies.zha2006.fold import fit_rows
from qdrank.studies.zha2006.methods import method_name, refit_kind
from qdrank.studies.zha2006.options import Options


def run_pairwise(
    fold: str, data: FoldData, h: str, grid: Mapping[str, Any], choice: Choice[Any], options: Options
) -> tuple[pa.Table, pa.Table, list[FloatArray], Any]:
    """The learner compared with ``h``, tuned on a fold: tables of cells and choices, scores of every fit, and the learner.

    Boosted trees are fitted again with the seeds of the further fits.
    """
    test = data.parts["test"]
    fits = [
        choice.chosen,
        *(_again(choice.chosen, data, fit) for fit in range(1, options.refits if h == "trees" else 1)),
    ]
    scores = [one.predict(test.X, test.judged.query) for one in fits]
    cells = [
        fit_rows(fold, h, refit_kind("pairwise", fit), "test", (inf, inf), test.judged.query_id, value=values)
        for fit, values in enumerate(data.reported("test", one) for one in scores)
    ]
    return (
        pa.concat_tables(cells),
        choices_table(fold, method_name(h, "pairwise"), grid, choice, data.measure),
        scores,
        choice.chosen,
    )


def _again(chosen: Any, data: FoldData, fit: int) -> Any:
    """The chosen learner fitted with the seed of a further fit."""
    train, vali = data.parts["train"], data.parts[data.watched]
    params = chosen.get_params(deep=False) | {"seed": fit_seed(data.seed, fit)}
    watched = (vali.X, vali.judged.y, vali.judged.query, vali.judged.unranked)
    return fit_one(type(chosen), params, (train.X, train.judged.y, train.judged.query), watched)
