"""All methods and controls of a fold of runs, the oracles and the curves, and rankers to serve."""

from qdrank.serving.served import ServedRanker, write_ranker
from qdrank.studies.hybrid.writing import write_fold
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    params, out = snakemake.params, snakemake.output
    made = write_fold(
        snakemake.input,
        out,
        snakemake.wildcards.fold,
        scale=params.scale,
        queries=params.queries,
        hybrid=params.hybrid,
        methods=params.methods,
        log=log.info,
    )
    for ranker in made:
        write_ranker(out[f"served_{ranker['method']}"], ServedRanker(**ranker))
