"""First stages of a text set on a fold: scores of the test queries, and the settings tried on validation."""

from qdrank.evaluation.first_stages import write_first_stages
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    params, fold = snakemake.params, snakemake.wildcards.fold
    out = dict(snakemake.output.items())
    write_first_stages(
        out,
        snakemake.input.judged,
        fold,
        source=params.options,
        options=params.settings,
        measure=params.measure,
        seed=params.seed,
        log=log.info,
    )
