"""Variants of KNN Online of some kinds on a fold."""

from qdrank.studies.geng2008.variants import write_variants
from qdrank.workflow.script import job

with job() as this:
    write_variants(this.files, this.out, this.fold, log=this.log, **this.params)
