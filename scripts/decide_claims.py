"""Verdicts on the claims of all studies, with the seeds of a simulated world taken together."""

import pyarrow as pa

from qdrank.evaluation.deciding import decide, stamped, verdicts_table
from qdrank.evaluation.observations import load_observations
from qdrank.figures.tables import write_table
from qdrank.figures.verdicts import FOLDED, expected_errors, readable, titled, verdicts_overview
from qdrank.registry import loaded
from qdrank.store import read, write
from qdrank.workflow.provenance import commit
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    tables = [verdicts_table([])]
    paths = dict(zip(map(tuple, snakemake.params.decided), snakemake.input.observations, strict=True))
    for short, of in snakemake.params.studies.items():
        declaration = loaded(of["claims"])(of["budget"])
        observations = {
            name: {member: load_observations(read(paths[member, short], "observations")) for member in members}
            for name, members in of["members"].items()
        }
        for name, members in observations.items():
            called = name if len(members) == 1 else f"{name} ({len(members)} seeds)"
            tables.append(decide(declaration, members, dataset=called, world=of["worlds"][name]))
        if of["across"]:
            tables.append(loaded(of["across"])(declaration, observations, of["worlds"]))
    table = stamped(pa.concat_tables(tables), commit=commit(), configuration=snakemake.params.configuration)
    write(snakemake.output.table, "verdicts", table)
    titles = snakemake.params.titles
    write_table(
        readable(table, titles),
        {"html": snakemake.output.html},
        title="Claims of the papers",
        folded=[*FOLDED, "purpose"],
    )
    glance = verdicts_overview(table)
    write_table(glance, {"csv": snakemake.output.csv, "md": snakemake.output.md})
    write_table(
        titled(glance, titles),
        {"html": snakemake.output.overview},
        title="Claims at a glance",
        said=expected_errors(table),
    )
