"""Table 1 of Geng 2008, measured."""

import numpy as np

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.figures.tables import write_table
from qdrank.jobs import job
from qdrank.learners.local import lay_ground
from qdrank.rankers.documents import fold_documents
from qdrank.studies.geng2008.timing import timing_table

QUERIES = 32

with job(snakemake.log[0]):
    params = snakemake.params
    documents = fold_documents(load_judged(snakemake.input.judged, ["features"]), params.fold, params.scale)
    test = documents.parts["test"]
    table = timing_table(
        lay_ground(documents.preferences(), lam=params.lam, tol=params.tol),
        documents.parts["train"],
        test.take(np.arange(min(QUERIES, test.n_queries))),
        reference_column(snakemake.input.columns),
    )
    write_table(table, dict(snakemake.output.items()), title=f"{params.title}: time of testing, one thread")
