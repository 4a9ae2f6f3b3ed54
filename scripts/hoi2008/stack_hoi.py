"""Ensembles of methods on a fold, learned on the validation queries."""

import numpy as np

from qdrank.evaluation.measuring import scores_table
from qdrank.rankers.documents import load_fold
from qdrank.serving.loading import load_ranker
from qdrank.serving.served import ServedRanker, write_ranker
from qdrank.store import write
from qdrank.studies.hoi2008.options import Options
from qdrank.studies.hoi2008.stacking import stacked_rankers
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    files, params, out, fold = snakemake.input, snakemake.params, snakemake.output, snakemake.wildcards.fold
    documents = load_fold(files.judged, fold, params.scale, columns=["doc_id", "features"])
    test, bases = documents.seen("test"), [load_ranker(path).ranker for path in files.rankers]
    for method, ranker in stacked_rankers(documents, bases, Options(**params.hoi)).items():
        scores = ranker.predict(test, np.zeros((test.n_queries, 0)))
        write(out[method], "scores", scores_table(test, scores))
        served = ServedRanker(method=method, fold=fold, documents=documents.view(), ranker=ranker)
        write_ranker(out[f"served_{method}"], served)
