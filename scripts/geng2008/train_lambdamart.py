"""LambdaMART: its trees, and its scores of the test documents."""

from math import nan

import pyarrow as pa

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.measuring import scores_table
from qdrank.jobs import job
from qdrank.learners.trees import LambdaMART
from qdrank.rankers.documents import fold_documents
from qdrank.store import write

with job(snakemake.log[0]) as log:
    parts = fold_documents(load_judged(snakemake.input.judged), snakemake.wildcards.fold, snakemake.params.scale).parts
    train, vali, test = parts["train"], parts["vali"], parts["test"]
    watched = (vali.X, vali.y, vali.query) if vali.n_queries else None
    learner = LambdaMART(**snakemake.params.learner).fit(train.X, train.y, train.query, validation=watched)
    row = {"model": "lambdamart", "k": train.n_queries, "lam": nan, "weights": [], "text": learner.to_text()}
    row |= {"pairs": int(train.pairs.sum()), "gap": nan, "iterations": learner.to_text().count("Tree=")}
    log.info("%d trees", row["iterations"])
    write(snakemake.output.models, "models", pa.Table.from_pylist([row]))
    write(snakemake.output.scores, "scores", scores_table(test, learner.predict(test.X)))
