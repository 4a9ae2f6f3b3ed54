"""The job that scores a fold by every method, with the settings that validation chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qdrank.datasets.judged import scores_table
from qdrank.queries.artifacts import load_queries
from qdrank.rankers.documents import FeatureScale, load_fold
from qdrank.store import read, write
from qdrank.studies.geng2008.fold import SWEPT, GengFold, choose_settings, sweep_table
from qdrank.studies.geng2008.global_models import GlobalModels
from qdrank.studies.geng2008.local_models import ModelBank
from qdrank.studies.geng2008.offline import OfflineModels
from qdrank.studies.geng2008.options import Options
from qdrank.studies.geng2008.query_classes import Classes
from qdrank.studies.geng2008.shapes import CLASSES_SHAPE, OFFLINE_SHAPE, SWEEP_SHAPE


def write_scores(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    geng: Mapping[str, Any],
    scale: FeatureScale,
    measure: str,
    seed: int,
    log: Callable[..., None],
) -> None:
    """Write measures for every setting, the settings chosen by ``measure``, and the scores of the test documents."""
    study = GengFold(
        documents=load_fold(files["judged"], fold, scale, columns=["doc_id", "features"]),
        queries=load_queries(files["queries"]),
        offline=OfflineModels(read(files["offline"], OFFLINE_SHAPE)),
        local=ModelBank(read(files["local"], "local_models")),
        whole=GlobalModels(read(files["whole"], "models")),
        classes=Classes.from_table(read(files["classes"], CLASSES_SHAPE)),
        options=Options(**geng),
        seed=seed,
    )
    sweep = sweep_table(fold, study, tuple(dict.fromkeys([*SWEPT, measure])))
    write(out["sweep"], SWEEP_SHAPE, sweep)
    chosen, choices = choose_settings(fold, study, sweep, measure)
    write(out["choices"], "choices", choices)
    for method, setting in chosen.items():
        log("%s: %s", method, setting.text)
        _, scores = next(study.scores("test", method, [setting]))
        write(out[method], "scores", scores_table(study.documents.parts["test"], scores))
