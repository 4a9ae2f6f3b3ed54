"""Evidence for the claims of a study on a data set, and the verdicts."""

from qdrank.evaluation.evidence import evidence_table
from qdrank.evaluation.judging import judge
from qdrank.figures.tables import write_table
from qdrank.figures.verdicts import FOLDED, readable
from qdrank.registry import loaded
from qdrank.store import write
from qdrank.studies.making import from_job
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    params, paths, dataset = snakemake.params, dict(snakemake.output.items()), snakemake.wildcards.dataset
    found = loaded(params.make)(*from_job(snakemake))
    write(paths.pop("evidence"), "evidence", evidence_table(found))
    declaration = loaded(params.claims)(params.budget)
    table = judge(declaration, {dataset: found}, dataset=dataset, world=params.world)
    title = f"{params.title}: claims of {declaration.paper}"
    write_table(readable(table), paths, title=title, folded=[*FOLDED, "data set", "paper"])
