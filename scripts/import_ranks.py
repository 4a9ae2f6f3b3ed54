"""Read rankings to be aggregated into the artifacts ranks, judged, columns and topics."""

from qdrank.datasets.importing import fetched_parts, import_ranks
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    files = fetched_parts(snakemake.wildcards.dataset, snakemake.input[0])
    import_ranks(files, dict(snakemake.output.items()), max_label=snakemake.params.max_label)
