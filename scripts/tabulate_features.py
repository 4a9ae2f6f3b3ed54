"""Tables of the single features."""

from qdrank.figures.features import fold_table, mean_table
from qdrank.figures.tables import write_table
from qdrank.store import read
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    measures, columns = read(snakemake.input.measures, "measures"), read(snakemake.input.columns, "columns")
    title = f"{snakemake.params.title}: single features"
    tables = {
        "means": (mean_table(measures, columns), "mean of folds"),
        "folds": (fold_table(measures, columns), "by fold"),
    }
    for name, (table, what) in tables.items():
        paths = {key: path for key, path in snakemake.output.items() if key.startswith(f"{name}_")}
        write_table(table, paths, title=f"{title}, {what}")
