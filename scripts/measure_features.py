"""Measure every feature of a data set as a ranker."""

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.measuring import measure_features
from qdrank.jobs import job
from qdrank.store import write

with job(snakemake.log[0]):
    judged = load_judged(snakemake.input.judged)
    write(snakemake.output[0], "measures", measure_features(snakemake.params.measures, judged, snakemake.params.folds))
