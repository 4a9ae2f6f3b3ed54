"""Scores of the reference feature on the test documents of a fold."""

import numpy as np

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.evaluation.measuring import scores_table
from qdrank.rankers.documents import FoldDocuments
from qdrank.rankers.learned import OneFeature
from qdrank.serving.served import ServedRanker, write_ranker
from qdrank.store import write
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    judged, fold = load_judged(snakemake.input.judged), snakemake.wildcards.fold
    ranker, width = OneFeature(column=reference_column(snakemake.input.columns)), judged.X.shape[1]
    test = judged.of_role(fold, "test")
    write(snakemake.output.scores, "scores", scores_table(test, ranker.predict(test, np.zeros((test.n_queries, 0)))))
    view = FoldDocuments({"all": judged}, np.zeros(width), np.ones(width)).view()
    write_ranker(snakemake.output.served, ServedRanker(method="reference", fold=fold, documents=view, ranker=ranker))
