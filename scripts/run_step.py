"""Every job: the library's function that its rule names as ``call``, with what the function takes."""

from qdrank.workflow.script import run_job

run_job()
