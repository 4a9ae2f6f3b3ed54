"""Tables of the methods of Geng 2008."""

from qdrank.figures.tables import write_table
from qdrank.jobs import job
from qdrank.store import read
from qdrank.studies.geng2008.tables import classes_table, comparisons_table, folds_table, methods_table

with job(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    measures = read(files.measures, "measures")
    choices = [read(path, "choices") for path in files.choices]
    classes = {fold: read(path, "classes") for fold, path in zip(params.folds, files.classes, strict=True)}
    tables = {
        "methods": (methods_table(measures, choices, params.interval), "methods"),
        "folds": (folds_table(measures), "methods by fold"),
        "tests": (comparisons_table(measures, params.interval), "KNN against Single and QC, mean NDCG"),
        "qc": (classes_table(classes), "classes for QC, test queries"),
    }
    for name, (table, what) in tables.items():
        paths = {key: path for key, path in snakemake.output.items() if key.startswith(f"{name}_")}
        write_table(table, paths, title=f"{params.title}: {what}")
