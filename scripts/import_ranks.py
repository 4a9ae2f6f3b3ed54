"""Read rankings to be aggregated into the artifacts ranks, judged, columns and topics."""

from qdrank.datasets.importing import fetched_parts, import_ranks
from qdrank.jobs import job

with job(snakemake.log[0]):
    files = fetched_parts(snakemake.wildcards.dataset, snakemake.input[0])
    import_ranks(files, dict(snakemake.output.items()), max_label=snakemake.params.max_label)
