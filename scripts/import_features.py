"""Read LETOR text, or runs and judgments, into the artifacts judged, columns and topics."""

from qdrank.datasets.importing import fetched_parts, import_features, import_runs
from qdrank.datasets.letor.reader import document_names
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    files = snakemake.params.files or fetched_parts(snakemake.wildcards.dataset, snakemake.input[0])
    options, out = dict(snakemake.params.options), dict(snakemake.output.items())
    if options.pop("like", "") == "runs":
        notes = import_runs(files, out, seed=snakemake.params.seed, **options)
    else:
        notes = [f"{part}: {document_names(path)}" for part, path in files.items()]
        import_features(files, out, seed=snakemake.params.seed, **options)
    print(*notes, sep="\n")
