"""Time of each step of testing, on one fold."""

from qdrank.datasets.columns import reference_column
from qdrank.rankers.documents import load_fold
from qdrank.store import write
from qdrank.studies.geng2008.timing import measure_times
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    params, reference = snakemake.params, reference_column(snakemake.input.columns)
    documents = load_fold(snakemake.input.judged, params.fold, params.scale, wanted=["train", "test"])
    found = measure_times(documents, reference, lam=params.lam, penalty=params.penalty, tol=params.tol)
    write(snakemake.output[0], "table", found)
