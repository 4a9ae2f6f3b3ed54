"""Tables of the single features."""

from qdrank.figures.features import fold_table, mean_table
from qdrank.figures.tables import write_table
from qdrank.jobs import job
from qdrank.store import read

with job(snakemake.log[0]):
    measures, columns = read(snakemake.input.measures, "measures"), read(snakemake.input.columns, "columns")
    paths = dict(snakemake.output.items())
    by_fold = {name.removeprefix("folds_"): paths.pop(name) for name in list(paths) if name.startswith("folds_")}
    title = f"{snakemake.params.title}: single features"
    write_table(mean_table(measures, columns), paths, title=f"{title}, mean of folds")
    write_table(fold_table(measures, columns), by_fold, title=f"{title}, by fold")
