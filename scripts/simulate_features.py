"""Draw a simulated data set into the artifacts judged, columns and topics."""

from qdrank.datasets.simulated.tables import write_simulated
from qdrank.jobs import job

with job(snakemake.log[0], snakemake.threads):
    write_simulated(dict(snakemake.output.items()), **snakemake.params.options)
