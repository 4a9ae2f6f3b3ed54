"""A classic learner or aggregator on a fold: tuned on validation, its model, and its scores of the test documents."""

import numpy as np

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.measuring import scores_table
from qdrank.queries.artifacts import load_queries
from qdrank.queries.recipe import load_document_vectors
from qdrank.rankers.documents import load_fold
from qdrank.rankers.learned import LearnerRanker, WithQueryVectors
from qdrank.rankers.learning import choices_table, fit_method, model_table, rank_documents, with_query_vectors
from qdrank.serving.served import ServedRanker, write_ranker
from qdrank.store import write
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    files, params, out = snakemake.input, snakemake.params, snakemake.output
    fold, method = snakemake.wildcards.fold, snakemake.wildcards.method
    if params.ranks:
        documents = rank_documents(load_judged(files.judged), fold)
    else:
        documents = load_fold(files.judged, fold, params.scale, columns=["doc_id", "features"])
    view, queries = documents.view(), None
    if params.query_vectors:
        queries = load_document_vectors(files, params.queries, missing=view.missing)
        documents = with_query_vectors(documents, load_queries(files.queries))
    inverse, documents = (
        documents.inverse,
        documents.scaled(),
    )  # held once: at web size the features are most of the memory
    choice = fit_method(params.learner, params.grid, documents, measure=params.measure, seed=params.seed)
    choices = choices_table(fold, method, params.grid, choice, params.measure)
    for row in choices.to_pylist():
        log.info("%s: %s %.4f%s", row["setting"], row["measure"], row["value"], " chosen" * row["chosen"])
    write(out.choices, "choices", choices)
    write(out.models, "models", model_table(method, choice.chosen, inverse, documents.parts["train"]))
    test, alone = documents.parts["test"], LearnerRanker(learner=choice.chosen)
    write(out.scores, "scores", scores_table(test, alone.predict(test, np.zeros((test.n_queries, 0)))))
    ranker = alone if queries is None else WithQueryVectors(base=alone)
    write_ranker(out.served, ServedRanker(method=method, fold=fold, documents=view, queries=queries, ranker=ranker))
