"""Table of published figures beside ours."""

from collections import Counter

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.published import load_expected
from qdrank.figures.learners import published_table
from qdrank.figures.tables import write_table
from qdrank.store import read
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    files, judged = snakemake.input, load_judged(snakemake.input.judged, [])
    size = {"queries": judged.n_queries, "documents": judged.n_documents}
    table = published_table(load_expected(files.expected), read(files.measures, "measures"), **size)
    log.info("%s: %s", size, dict(Counter(table.column("verdict").to_pylist())) or "not the published data")
    title = f"{snakemake.params.title}: published against ours"
    write_table(table, dict(snakemake.output.items()), title=title)
