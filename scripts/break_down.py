"""Measures of all methods of a data set by the difficulty of the queries: a table, and a figure."""

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.difficulty import breakdown, difficulty
from qdrank.figures.difficulty import draw, readable_breakdown
from qdrank.figures.style import save_figure
from qdrank.figures.tables import write_table
from qdrank.store import read, write
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    params, measures = snakemake.params, read(snakemake.input.measures, "measures")
    classes = difficulty(load_judged(snakemake.input.judged, []), params.classes)
    known = measures.column("method").to_pylist()
    baseline = next((method for method in params.against if method in known), known[0])
    log.info("against %s", baseline)
    table = breakdown(measures, classes, params.measures, baseline=baseline, interval=params.interval)
    paths = dict(snakemake.output.items())
    pictures = {form: paths.pop(f"figure_{form}") for form in [*params.formats, "parquet"]}
    write_table(
        readable_breakdown(table, params.labels, baseline), paths, title=f"{params.title}: measures by difficulty"
    )
    write(pictures.pop("parquet"), "figure", table)
    options = {"labels": params.labels, "colours": params.colours, "level": params.interval["level"]}
    save_figure(draw(table, title=params.title, baseline=baseline, **options), pictures, dpi=params.dpi)
