"""From a text collection to the artifacts judged, columns and topics, with a table of settings and notes."""

from qdrank.figures.tables import write_table
from qdrank.jobs import job
from qdrank.text.extract import extract_features, notes_table

with job(snakemake.log[0]) as log:
    paths = dict(snakemake.output.items())
    made = {name: paths.pop(name) for name in ("judged", "columns", "topics")}
    notes = extract_features(made, **snakemake.params.options, seed=snakemake.params.seed, **snakemake.params.settings)
    for note in notes:
        log.info("%s", note)
    title = f"{snakemake.wildcards.dataset}: how text became features"
    write_table(notes_table(snakemake.params.settings, notes), paths, title=title)
