"""Read LETOR text, or runs and judgments, into the artifacts judged, columns and topics, with a table of notes."""

from qdrank.datasets.importing import fetched_parts, import_features
from qdrank.datasets.runs.importing import import_runs
from qdrank.figures.data import notes_table
from qdrank.figures.tables import write_table
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    params, paths = snakemake.params, dict(snakemake.output.items())
    out = {name: paths.pop(name) for name in ("judged", "columns", "topics")}
    files = params.files or fetched_parts(snakemake.wildcards.dataset, snakemake.input[0])
    options = dict(params.options)
    read = import_runs if options.pop("like", "") == "runs" else import_features
    notes = read(files, out, seed=params.seed, **options)
    print(*map(": ".join, notes), sep="\n")
    write_table(notes_table(notes), paths, title=f"{params.title}: what was read")
