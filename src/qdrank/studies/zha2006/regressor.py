"""The jobs of a regressor on a fold: with and without aTVT, and the learner of pairs or lists that it is set against."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from qdrank.datasets.judged import load_judged, refits_table, scores_table
from qdrank.layout import FloatArray
from qdrank.rankers.documents import FeatureScale, FoldDocuments, fold_documents
from qdrank.rankers.learned import LearnerRanker
from qdrank.rankers.learning import fit_method
from qdrank.rankers.served import ServedRanker, write_ranker
from qdrank.store import write
from qdrank.studies.zha2006.data import FoldData, fold_data
from qdrank.studies.zha2006.fits import Fitter
from qdrank.studies.zha2006.fold import run_fold
from qdrank.studies.zha2006.methods import PAIRWISE, method_name
from qdrank.studies.zha2006.options import Options
from qdrank.studies.zha2006.pairwise import run_pairwise
from qdrank.studies.zha2006.shapes import CELLS_SHAPE, MAPS_SHAPE, OBJECTIVES_SHAPE


def fit_regressor(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    h: str,
    zha: Mapping[str, Any],
    scale: FeatureScale,
    seed: int,
    log: Callable[..., None],
) -> None:
    """Write tables, scores of all fits and rankers of the regressor ``h`` on a fold; ``zha`` are keys of its section."""
    documents, data, options = _loaded(files, fold, scale, zha, seed)
    fitted = run_fold(fold, data, h, options)
    write(out["cells"], CELLS_SHAPE, fitted.cells)
    write(out["maps"], MAPS_SHAPE, fitted.maps)
    write(out["objectives"], OBJECTIVES_SHAPE, fitted.objectives)
    _write_choices(out, fitted.choices, log)
    for kind, scores in fitted.scores.items():
        _write_kind(out, fold, h, kind, documents, scores, fitted.models[kind])


def learn_pairwise(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    fold: str,
    *,
    h: str,
    zha: Mapping[str, Any],
    grid: Mapping[str, Any],
    scale: FeatureScale,
    seed: int,
    log: Callable[..., None],
) -> None:
    """Write the same of the learner that ``h`` is set against.

    It has as many settings as aTVT, from the range of its usual ``grid`` or from the sizes of aTVT's trees.
    """
    documents, data, options = _loaded(files, fold, scale, zha, seed)
    settings = Fitter(data, h, options).pairwise_grid(grid)
    choice = fit_method(PAIRWISE[h][0], settings, documents, measure=data.measure, seed=seed)
    cells, choices, scores, fitted = run_pairwise(fold, data, h, settings, choice, options)
    write(out["cells"], CELLS_SHAPE, cells)
    _write_choices(out, choices, log)
    _write_kind(out, fold, h, "pairwise", documents, scores, fitted)


def _loaded(
    files: Mapping[str, str], fold: str, scale: FeatureScale, zha: Mapping[str, Any], seed: int
) -> tuple[FoldDocuments, FoldData, Options]:
    judged, options = load_judged(files["judged"]), Options(**zha)
    documents = fold_documents(judged, fold, scale)
    return documents, fold_data(documents, options, int(judged.y.max()), seed), options


def _write_choices(out: Mapping[str, str], choices: pa.Table, log: Callable[..., None]) -> None:
    write(out["choices"], "choices", choices)
    for row in choices.to_pylist():
        if row["chosen"]:
            log("%s: %s", row["method"], row["setting"])


def _write_kind(
    out: Mapping[str, str],
    fold: str,
    h: str,
    kind: str,
    documents: FoldDocuments,
    scores: Sequence[FloatArray],
    model: Any,
) -> None:
    """Scores of every fit of a method, and the first as a ranker."""
    test, (first, *further) = documents.parts["test"], scores
    write(out[f"scores_{kind}"], "scores", scores_table(test, first))
    if further:
        write(out[f"refits_{kind}"], "refits", refits_table(test, further))
    ranker = LearnerRanker(learner=model)
    served = ServedRanker(method=method_name(h, kind), fold=fold, documents=documents.view(), ranker=ranker)
    write_ranker(out[f"served_{kind}"], served)
