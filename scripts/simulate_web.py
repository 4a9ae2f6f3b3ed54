"""Draw a simulated web into the artifacts judged, columns and topics."""

from qdrank.text.simweb import write_simweb
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    write_simweb(dict(snakemake.output.items()), **snakemake.params.options)
