"""Measures of all methods of a data set by the difficulty of the queries: a table, and a figure."""

from qdrank.figures.difficulty import write_breakdown
from qdrank.workflow.script import job

with job() as this:
    write_breakdown(this.files, this.out, log=this.log, **this.params)
