"""Variants of KNN Online of one kind on a fold."""

from qdrank.studies.geng2008.variants import write_variants
from qdrank.workflow.script import job

with job() as this:
    write_variants(this.files, this.path, this.fold, this.wildcards["kind"], log=this.log, **this.params)
