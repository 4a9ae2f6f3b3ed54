"""Verdicts on the claims of the papers, seeds of a simulated set taken together."""

from qdrank.evaluation.claims import Rules, pooled_evidence
from qdrank.figures.claims import claims_overview
from qdrank.figures.tables import write_table
from qdrank.jobs import job
from qdrank.store import read, write
from qdrank.studies.geng2008.claims import judge_groups

with job(snakemake.log[0]):
    params = snakemake.params
    files = dict(zip(params.datasets, snakemake.input.evidence, strict=True))
    groups = {
        name: {member: pooled_evidence([read(files[member], "evidence")]) for member in members}
        for name, members in params.groups.items()
    }
    table = judge_groups(groups, params.pairs, Rules(margin=params.margin))
    write(snakemake.output.table, "claims", table)
    write_table(table, {"html": snakemake.output.html}, title="Claims of the papers")
    glance = {"html": snakemake.output.overview, "csv": snakemake.output.csv, "md": snakemake.output.md}
    write_table(claims_overview(table), glance, title="Claims at a glance")
