"""Observations for the claims of a study on a data set, and the verdicts."""

from qdrank.evaluation.deciding import decide
from qdrank.evaluation.observations import observations_table
from qdrank.figures.tables import write_table
from qdrank.figures.verdicts import FOLDED, readable
from qdrank.registry import loaded
from qdrank.store import write
from qdrank.studies.making import from_job
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    params, paths, dataset = snakemake.params, dict(snakemake.output.items()), snakemake.wildcards.dataset
    observations = loaded(params.make)(*from_job(snakemake))
    write(paths.pop("observations"), "observations", observations_table(observations))
    declaration = loaded(params.claims)(params.budget)
    table = decide(declaration, {dataset: observations}, dataset=dataset, world=params.world)
    title = f"{params.title}: claims of {declaration.paper}"
    write_table(readable(table), paths, title=title, folded=[*FOLDED, "data set", "paper"])
