"""The stability bound of Geng 2008 beside what is observed on a fold, with models of the hinge loss."""

from qdrank.queries.artifacts import load_neighbours, load_queries
from qdrank.rankers.documents import load_fold
from qdrank.store import read, write
from qdrank.studies.geng2008.offline import OfflineModels
from qdrank.studies.geng2008.options import Options
from qdrank.studies.geng2008.shapes import OFFLINE_SHAPE
from qdrank.studies.geng2008.stability import FoldNeighbourhoods, bound_table
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    files, params, fold = snakemake.input, snakemake.params, snakemake.wildcards.fold
    near = FoldNeighbourhoods(
        documents=load_fold(files.judged, fold, params.scale, wanted=["train", "test"]),
        queries=load_queries(files.queries),
        nearest=load_neighbours(files.neighbours)[1],
        offline=OfflineModels(read(files.offline, OFFLINE_SHAPE)),
        options=Options(**params.geng),
    )
    table = bound_table(
        fold,
        near,
        n_queries=params.queries,
        n_pairs=params.pairs,
        tol=params.tol,
        seed=params.seed,
        penalty=params.penalty,
    )
    log.info("%d differences of models", len(table))
    write(snakemake.output[0], "figure", table)
