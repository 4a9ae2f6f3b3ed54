"""The job that scores a fold by every method, with the settings that validation chooses, and stores the rankers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qdrank.datasets.judged import scores_table
from qdrank.queries.artifacts import load_queries
from qdrank.rankers.documents import FeatureScale, load_fold
from qdrank.store import read, write
from qdrank.studies.geng2008.fold import SWEPT, GengFold, choose_settings, sweep_table
from qdrank.studies.geng2008.global_models import GlobalModels
from qdrank.studies.geng2008.local_models import ModelBank, gather_local
from qdrank.studies.geng2008.offline import OfflineModels
from qdrank.studies.geng2008.options import Options
from qdrank.studies.geng2008.query_classes import Classes
from qdrank.studies.geng2008.rankers import pack_rankers
from qdrank.studies.geng2008.shapes import CLASSES_SHAPE, LOCAL_SHAPE, OFFLINE_SHAPE, SWEEP_SHAPE


def score_fold(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    fold: str,
    *,
    geng: Mapping[str, Any],
    scale: FeatureScale,
    measure: str,
    queries: Mapping[str, Any],
    training: Mapping[str, Any],
    log: Callable[..., None],
) -> None:
    """Write the local models of all shards in one table, then choices and scores, then rankers with the chosen settings.

    Parameters are those of `write_scores` and of `pack_rankers`; the seed is among ``training``.
    """
    gather_local(files, out["local"])
    made = {**files, "local": out["local"], "choices": out["choices"]}
    write_scores(made, out, fold, geng=geng, scale=scale, measure=measure, seed=training["seed"], log=log)
    served = {name.removeprefix("served_"): path for name, path in out.items() if name.startswith("served_")}
    pack_rankers(made, served, fold, scale=scale, queries=queries, geng=geng, training=training, log=log)


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
        local=ModelBank(read(files["local"], LOCAL_SHAPE)),
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
