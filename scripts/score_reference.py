"""Scores of the reference feature on the test documents of a fold."""

import numpy as np

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.evaluation.measuring import scores_table
from qdrank.jobs import job
from qdrank.store import write

with job(snakemake.log[0]):
    test = load_judged(snakemake.input.judged).of_role(snakemake.wildcards.fold, "test")
    scores = test.X[:, reference_column(snakemake.input.columns)].astype(np.float64)
    write(snakemake.output[0], "scores", scores_table(test, np.where(np.isnan(scores), -np.inf, scores)))
