"""A shard of the local models of a fold."""

from qdrank.queries.artifacts import load_neighbours, load_queries
from qdrank.rankers.documents import load_fold
from qdrank.store import write
from qdrank.studies.geng2008.local_models import train_shard
from qdrank.studies.geng2008.neighbourhoods import neighbourhoods
from qdrank.studies.geng2008.options import Options
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    params, queries = snakemake.params, load_queries(snakemake.input.queries)
    _, nearest = load_neighbours(snakemake.input.neighbours)
    documents = load_fold(snakemake.input.judged, snakemake.wildcards.fold, params.scale, wanted=["train"])
    shard, n_shards = map(int, snakemake.wildcards.scatteritem.split("-of-"))
    models = train_shard(
        documents,
        queries,
        neighbourhoods(queries, nearest, Options(**params.geng), params.seed),
        shard=shard - 1,
        n_shards=n_shards,
        block=params.block,
        tol=params.tol,
        penalty=params.penalty,
        log=log.info,
    )
    write(snakemake.output[0], "local_models", models)
