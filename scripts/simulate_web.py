"""Draw a simulated web into the artifacts judged, columns and topics."""

from qdrank.jobs import job
from qdrank.text.simweb import write_simweb

with job(snakemake.log[0]):
    write_simweb(dict(snakemake.output.items()), **snakemake.params.options)
