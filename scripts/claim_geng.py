"""Evidence for the claims of Geng 2008 on a data set, and the verdicts."""

import pyarrow as pa

from qdrank.evaluation.claims import Rules, evidence_table, judge_all
from qdrank.figures.tables import write_table
from qdrank.jobs import job
from qdrank.queries.artifacts import load_neighbours, load_queries
from qdrank.store import read, write
from qdrank.studies.geng2008.claims import claims, evidence, locality_evidence

with job(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    nearest = load_neighbours(files.neighbours[0])[1]
    found = evidence(
        read(files.measures, "measures"),
        pa.concat_tables([read(path, "sweep") for path in files.sweeps]),
        pa.concat_tables([read(path, "figure") for path in files.bounds]),
        locality_evidence(load_queries(files.queries[0]), nearest, read(files.classes[0], "classes")),
        params.lam,
    )
    paths = dict(snakemake.output.items())
    write(paths.pop("evidence"), "evidence", evidence_table(found))
    rules = Rules(margin=params.margin)
    table = judge_all(claims(), found, rules, dataset=snakemake.wildcards.dataset)
    write_table(table, paths, title=f"{params.title}: claims of Geng 2008")
