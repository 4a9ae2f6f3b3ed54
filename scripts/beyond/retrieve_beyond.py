"""Retrieval with past queries for a fold of a text set, in one form of the judgments, or learners on it."""

from qdrank.studies.beyond.retrieval import write_retrieval
from qdrank.workflow.script import job

with job() as this:
    write_retrieval(this.files, this.out, this.fold, this.wildcards["job"], log=this.log, **this.params)
