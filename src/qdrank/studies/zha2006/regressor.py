"""The job that fits one regressor on a fold, with and without aTVT, and the learner that it is set against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from qdrank.datasets.judged import load_judged, refits_table, scores_table
from qdrank.rankers.documents import FeatureScale, fold_documents
from qdrank.rankers.learned import LearnerRanker
from qdrank.rankers.served import ServedRanker, write_ranker
from qdrank.store import write
from qdrank.studies.zha2006.data import fold_data
from qdrank.studies.zha2006.fold import run_fold
from qdrank.studies.zha2006.methods import method_name
from qdrank.studies.zha2006.options import Options
from qdrank.studies.zha2006.pairwise import run_pairwise
from qdrank.studies.zha2006.shapes import CELLS_SHAPE, MAPS_SHAPE, OBJECTIVES_SHAPE


def fit_regressor(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    h: str,
    *,
    zha: Mapping[str, Any],
    grid: Mapping[str, Any],
    scale: FeatureScale,
    seed: int,
    log: Callable[..., None],
) -> None:
    """Write tables, scores of all fits and rankers of the regressor ``h`` on a fold.

    ``zha`` are keys of its section, ``grid`` is what the learner of pairs or lists tries.
    """
    judged, options = load_judged(files["judged"]), Options(**zha)
    documents = fold_documents(judged, fold, scale)
    data = fold_data(documents, options, int(judged.y.max()), seed)
    fitted = run_fold(fold, data, h, options)
    cells, choices, scores, learner = run_pairwise(fold, documents, data, h, grid, options)
    write(out["cells"], CELLS_SHAPE, pa.concat_tables([fitted.cells, cells]))
    write(out["maps"], MAPS_SHAPE, fitted.maps)
    write(out["objectives"], OBJECTIVES_SHAPE, fitted.objectives)
    write(out["choices"], "choices", pa.concat_tables([fitted.choices, choices], promote_options="default"))
    test = data.parts["test"].judged
    for kind, (first, *further) in {**fitted.scores, "pairwise": scores}.items():
        write(out[f"scores_{kind}"], "scores", scores_table(test, first))
        if further:
            write(out[f"refits_{kind}"], "refits", refits_table(test, further))
    for kind, model in {**fitted.models, "pairwise": learner}.items():
        method, ranker = method_name(h, kind), LearnerRanker(learner=model)
        served = ServedRanker(method=method, fold=fold, documents=documents.view(), ranker=ranker)
        write_ranker(out[f"served_{kind}"], served)
    for row in fitted.choices.to_pylist():
        if row["chosen"]:
            log("%s: %s", row["method"], row["setting"])
