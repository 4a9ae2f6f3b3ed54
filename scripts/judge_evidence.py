"""Evidence for the claims of a study on a data set, and the verdicts."""

from qdrank.evaluation.claims import Rules, evidence_table, judge_all
from qdrank.figures.tables import write_table
from qdrank.jobs import job
from qdrank.registry import loaded
from qdrank.store import write
from qdrank.studies.making import from_job

with job(snakemake.log[0]):
    params, paths = snakemake.params, dict(snakemake.output.items())
    found = loaded(params.make)(*from_job(snakemake))
    write(paths.pop("evidence"), "evidence", evidence_table(found))
    claims = loaded(params.claims)()
    table = judge_all(claims, found, Rules(margin=params.margin), dataset=snakemake.wildcards.dataset)
    write_table(table, paths, title=f"{params.title}: claims of {next(iter(claims.values())).paper}")
