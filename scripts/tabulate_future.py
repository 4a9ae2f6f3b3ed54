"""The future work of Geng 2008, compared."""

import pyarrow as pa

from qdrank.figures.tables import write_table
from qdrank.jobs import job
from qdrank.store import read
from qdrank.studies.geng2008.variants_table import future_table

with job(snakemake.log[0]):
    measures = pa.concat_tables([read(path, "measures") for path in snakemake.input.measures])
    table = future_table(measures, snakemake.params.interval)
    write_table(table, dict(snakemake.output.items()), title=f"{snakemake.params.title}: the paper's future work")
