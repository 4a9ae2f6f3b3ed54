"""Verdicts on the claims of all studies, seeds of a simulated set taken together."""

import pyarrow as pa

from qdrank.evaluation.claims import Rules, judge_groups, pooled_evidence
from qdrank.figures.claims import claims_overview
from qdrank.figures.tables import write_table
from qdrank.jobs import job
from qdrank.registry import loaded
from qdrank.store import read, write

with job(snakemake.log[0]):
    tables = []
    for short, of in snakemake.params.studies.items():
        groups = {
            name: {m: pooled_evidence([read(f"results/{m}/{short}/evidence.parquet", "evidence")]) for m in members}
            for name, members in of["groups"].items()
        }
        across = loaded(of["across"]) if of["across"] else None
        if groups:
            tables.append(judge_groups(loaded(of["claims"])(), groups, Rules(margin=of["margin"]), across))
    table = pa.concat_tables(tables)
    write(snakemake.output.table, "claims", table)
    write_table(table, {"html": snakemake.output.html}, title="Claims of the papers")
    glance = {"html": snakemake.output.overview, "csv": snakemake.output.csv, "md": snakemake.output.md}
    write_table(claims_overview(table), glance, title="Claims at a glance")
