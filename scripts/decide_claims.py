"""Verdicts on the claims of all studies, with the seeds of a simulated world taken together."""

from qdrank.pages.claims import decide_claims
from qdrank.workflow.script import job

with job() as this:
    decide_claims(this.files, this.out, **this.params)
