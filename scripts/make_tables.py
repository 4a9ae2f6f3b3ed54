"""Tables of a study that belong together."""

from qdrank.figures.tables import write_table
from qdrank.registry import loaded
from qdrank.studies.making import from_job
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    params = snakemake.params
    tables = loaded(params.make)(*from_job(snakemake))
    for place, (table, title) in enumerate(params.titles.items()):
        paths = {key: path for key, path in snakemake.output.items() if key.startswith(f"t{place}_")}
        write_table(tables[table], paths, title=f"{params.title}: {title}")
