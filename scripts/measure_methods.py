"""Measure the methods of a data set on its test queries."""

from itertools import product

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.measuring import measure_scores
from qdrank.store import write
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    params = snakemake.params
    files = dict(zip(product(params.folds, params.methods), snakemake.input.scores, strict=True))
    refits = dict(zip(product(params.folds, params.refitted), snakemake.input.refits, strict=True))
    judged = load_judged(snakemake.input.judged, ["doc_id"])
    write(snakemake.output[0], "measures", measure_scores(params.measures, judged, files, params.folds, refits))
