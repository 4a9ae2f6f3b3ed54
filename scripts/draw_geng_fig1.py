"""Figure 1 of Geng 2008: the query space of the first fold."""

from qdrank.jobs import job
from qdrank.queries.artifacts import load_neighbours, load_queries
from qdrank.store import read
from qdrank.studies.geng2008.fig1 import draw

with job(snakemake.log[0]):
    draw(
        load_queries(snakemake.input.queries[0]),
        load_neighbours(snakemake.input.neighbours[0])[1],
        read(snakemake.input.classes[0], "classes"),
        dict(snakemake.output.items()),
        title=snakemake.params.title,
        dpi=snakemake.params.dpi,
    )
