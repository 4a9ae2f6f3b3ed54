"""The learning curve of a fold, and the curve of thinned recurrence."""

from qdrank.datasets.columns import reference_column
from qdrank.queries.artifacts import load_queries
from qdrank.rankers.documents import load_fold
from qdrank.store import read, write
from qdrank.studies.beyond.curves import learning_curve, recurrence_curve
from qdrank.studies.beyond.fold import chosen_places, fold_data
from qdrank.studies.beyond.options import Options
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    files, fold, options = snakemake.input, snakemake.wildcards.fold, Options(**snakemake.params.beyond)
    documents = load_fold(files.judged, fold, snakemake.params.scale, columns=["doc_id", "features"])
    data = fold_data(documents, load_queries(files.queries), reference_column(files.columns))
    chosen = chosen_places(read(files.choices, "choices"))
    write(snakemake.output.curve, "figure", learning_curve(fold, data, options, chosen))
    write(snakemake.output.thinned, "figure", recurrence_curve(fold, data, options, chosen))
