"""Tables of the classic learners and aggregators."""

from qdrank.figures.learners import learners_table, tests_table
from qdrank.figures.tables import write_table
from qdrank.store import read
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    params, measures = snakemake.params, read(snakemake.input.measures, "measures")
    choices = [read(path, "choices") for path in snakemake.input.choices]
    tables = {
        "means": (learners_table(measures, params.methods, choices, params.convention), "learners, mean of folds"),
        "tests": (tests_table(measures, params.methods, params.convention, params.interval), "learners, tests"),
    }
    for name, (table, what) in tables.items():
        paths = {key: path for key, path in snakemake.output.items() if key.startswith(f"{name}_")}
        write_table(table, paths, title=f"{params.title}: {what}")
