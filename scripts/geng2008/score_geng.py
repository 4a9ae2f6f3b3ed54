"""Scores of the methods of Geng 2008 on a fold, with the settings that validation chooses."""

from qdrank.evaluation.measuring import scores_table
from qdrank.queries.artifacts import load_queries
from qdrank.rankers.documents import load_fold
from qdrank.store import read, write
from qdrank.studies.geng2008.fold import SWEPT, GengFold, choose_settings, sweep_table
from qdrank.studies.geng2008.global_models import GlobalModels
from qdrank.studies.geng2008.local_models import ModelBank
from qdrank.studies.geng2008.offline import OfflineModels
from qdrank.studies.geng2008.options import Options
from qdrank.studies.geng2008.query_classes import Classes
from qdrank.studies.geng2008.shapes import CLASSES_SHAPE, OFFLINE_SHAPE, SWEEP_SHAPE
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    files, params, fold = snakemake.input, snakemake.params, snakemake.wildcards.fold
    study = GengFold(
        documents=load_fold(files.judged, fold, params.scale, columns=["doc_id", "features"]),
        queries=load_queries(files.queries),
        offline=OfflineModels(read(files.offline, OFFLINE_SHAPE)),
        local=ModelBank(read(files.local, "local_models")),
        whole=GlobalModels(read(files.whole, "models")),
        classes=Classes.from_table(read(files.classes, CLASSES_SHAPE)),
        options=Options(**params.geng),
        seed=params.seed,
    )
    sweep = sweep_table(fold, study, tuple(dict.fromkeys([*SWEPT, params.measure])))
    write(snakemake.output.sweep, SWEEP_SHAPE, sweep)
    chosen, choices = choose_settings(fold, study, sweep, params.measure)
    write(snakemake.output.choices, "choices", choices)
    for method, setting in chosen.items():
        log.info("%s: %s", method, setting.text)
        _, scores = next(study.scores("test", method, [setting]))
        write(snakemake.output[method], "scores", scores_table(study.documents.parts["test"], scores))
