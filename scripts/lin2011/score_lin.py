"""Naive, SelectRanker, Transform, oracles and controls of Lin 2011 on a fold, with the settings that validation chooses."""

import numpy as np

from qdrank.datasets.columns import reference_column
from qdrank.evaluation.measuring import scores_table
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.rankers.documents import load_fold
from qdrank.serving.served import ServedRanker, write_ranker
from qdrank.store import read, write
from qdrank.studies.lin2011.bank import FoldBank, gathered_shards
from qdrank.studies.lin2011.fold import LinFold
from qdrank.studies.lin2011.methods import ALGORITHMS, RANKSVM
from qdrank.studies.lin2011.options import Grid, Readings
from qdrank.studies.lin2011.ranker import cluster_ranker
from qdrank.studies.lin2011.shapes import CLUSTER_MODELS_SHAPE, CLUSTERS_SHAPE
from qdrank.studies.lin2011.singles import load_singles
from qdrank.studies.lin2011.sweep import (
    all_choices,
    clusters_summary,
    curves,
    first_methods,
    seed_measures_table,
    sweep,
)
from qdrank.studies.lin2011.variants import variants_table
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log, one_thread():
    files, params, out, name = snakemake.input, snakemake.params, snakemake.output, snakemake.wildcards.fold
    documents = load_fold(files.judged, name, params.scale, columns=["doc_id", "features"])
    grid, test = Grid(**params.grid), documents.parts["test"]
    bank = FoldBank(
        gathered_shards([read(path, CLUSTERS_SHAPE) for path in files.clusters]),
        gathered_shards([read(path, CLUSTER_MODELS_SHAPE) for path in files.models]),
        documents.parts["train"].query_id,
    )
    single = documents.stored(load_singles(read(files.singles, "models"), documents).weights)
    fold = LinFold(
        documents, reference_column(files.columns), single, bank, Readings(**params.readings), base=params.seed
    )
    swept = sweep(fold, grid)
    log.info("settings chosen")
    write(out.choices, "choices", all_choices(name, swept, read(files.choices, "choices")))
    write(out.seeds, "measures", seed_measures_table(name, fold, swept, params.measures))
    found = curves(name, fold, swept, grid, params.ranked if params.ranked in grid.ms else max(grid.ms))
    log.info("curves")
    write(out.curve, "figure", found.curve)
    write(out.ranked, "figure", found.ranked)
    write(out.controls, "table", found.controls)
    write(out.summary, "table", clusters_summary(name, fold))
    write(out.variants, "table", variants_table(name, fold, grid, params.variants))
    rankers = {RANKSVM: cluster_ranker(fold)}
    rankers |= {m: cluster_ranker(fold, ALGORITHMS[m], seed, setting) for m, seed, setting in first_methods(swept)}
    for method, ranker in rankers.items():
        write(out[method], "scores", scores_table(test, ranker.predict(test, np.zeros((test.n_queries, 0)))))
        served = ServedRanker(method=method, fold=name, documents=documents.view(scaled=False), ranker=ranker)
        write_ranker(out[f"served_{method}"], served)
