"""The programs of one shard of the queries of a fold."""

from qdrank.rankers.documents import load_fold
from qdrank.store import write
from qdrank.studies.hoi2008.fold import EnsembleFold, solve_shard
from qdrank.studies.hoi2008.options import Options
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    params = snakemake.params
    documents = load_fold(snakemake.input.judged, snakemake.wildcards.fold, params.scale)
    fold = EnsembleFold(documents, Options(**params.hoi), params.measure, params.seed)
    shard, n_shards = map(int, snakemake.wildcards.scatteritem.split("-of-"))
    solved = solve_shard(fold, shard=shard - 1, n_shards=n_shards)
    log.info("%d programs", len(solved))
    write(snakemake.output[0], ENSEMBLES_SHAPE, solved)
