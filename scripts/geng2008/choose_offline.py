"""The ready models that the offline methods of Geng 2008 use for the queries of a fold."""

from qdrank.datasets.judged import load_judged
from qdrank.queries.artifacts import load_neighbours, load_queries
from qdrank.store import write
from qdrank.studies.geng2008.offline import offline_table
from qdrank.studies.geng2008.options import Options
from qdrank.studies.geng2008.shapes import OFFLINE_SHAPE
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    files = snakemake.input
    train = load_judged(files.judged, []).of_role(snakemake.wildcards.fold, "train")
    nearest = load_neighbours(files.neighbours)[1]
    table = offline_table(load_queries(files.queries), nearest, train.pairs, Options(**snakemake.params.geng))
    write(snakemake.output[0], OFFLINE_SHAPE, table)
