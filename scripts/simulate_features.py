"""Draw a simulated data set into the artifacts judged, columns and topics."""

from qdrank.datasets.simulated.tables import write_simulated
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    write_simulated(dict(snakemake.output.items()), **snakemake.params.options)
