"""Retrieval with past queries for a fold of a text set, in one form of the judgments, or learners on it."""

from qdrank.studies.beyond.retrieval import write_retrieval
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        write_retrieval(one.files, one.out, one.fold, one.wildcards["job"], log=one.log, **one.params)
