"""The queries of a data set in the plane."""

from qdrank.datasets.judged import load_judged
from qdrank.pages.queries import query_map
from qdrank.store import read, write
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    files = snakemake.input
    folds = list(zip(files.queries, files.neighbours, strict=True))
    measures = [read(path, "measures") for path in files.measures]
    table = query_map(load_judged(files.judged, []), read(files.topics, "topics"), folds, measures)
    write(snakemake.output[0], "map", table)
