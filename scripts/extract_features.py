"""From a text collection to the artifacts judged, columns and topics, with a table of settings and notes."""

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.figures.tables import write_table
from qdrank.text.extract import extract_features, notes_table, reference_maps
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    params, paths = snakemake.params, dict(snakemake.output.items())
    made = {name: paths.pop(name) for name in ("judged", "columns", "topics")}
    notes = extract_features(made, params.options, seed=params.seed, **params.settings)
    for note in notes:
        log.info("%s", note)
    maps = reference_maps(load_judged(made["judged"], ["features"]), reference_column(made["columns"]))
    write_table(notes_table(params.settings, notes, maps), paths, title=f"{params.title}: how text became features")
