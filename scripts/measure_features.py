"""Measure every feature of a data set as a ranker."""

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.measuring import measure_features
from qdrank.store import write
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    judged = load_judged(snakemake.input.judged)
    write(snakemake.output[0], "measures", measure_features(snakemake.params.measures, judged, snakemake.params.folds))
