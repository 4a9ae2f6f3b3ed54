"""Read LETOR text into the artifacts judged, columns and topics."""

from qdrank.datasets.importing import fetched_parts, import_features
from qdrank.datasets.letor.reader import document_names
from qdrank.jobs import job

with job(snakemake.log[0], snakemake.threads):
    files = snakemake.params.files or fetched_parts(snakemake.wildcards.dataset, snakemake.input[0])
    for part, path in files.items():
        print(f"{part}: {document_names(path)}")
    import_features(files, dict(snakemake.output.items()), seed=snakemake.params.seed, **snakemake.params.options)
