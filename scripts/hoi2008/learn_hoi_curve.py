"""The learning curve of a fold."""

from qdrank.rankers.documents import load_fold
from qdrank.store import write
from qdrank.studies.hoi2008.fold import EnsembleFold
from qdrank.studies.hoi2008.learning_curve import curve_table
from qdrank.studies.hoi2008.options import Options
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    params, name = snakemake.params, snakemake.wildcards.fold
    documents = load_fold(snakemake.input.judged, name, params.scale)
    fold = EnsembleFold(documents, Options(**params.hoi), params.measure, params.seed)
    write(snakemake.output[0], "figure", curve_table(name, fold, params.sizes, params.repeats))
