"""Time of each step of testing, on one fold."""

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.jobs import job
from qdrank.store import write
from qdrank.studies.geng2008.timing import measure_times

with job(snakemake.log[0]):
    params, reference = snakemake.params, reference_column(snakemake.input.columns)
    judged = load_judged(snakemake.input.judged, ["features"])
    found = measure_times(
        judged, reference, params.fold, scale=params.scale, lam=params.lam, penalty=params.penalty, tol=params.tol
    )
    write(snakemake.output[0], "table", found)
