"""Variants of KNN Online of some kinds on a fold."""

from qdrank.studies.geng2008.variants import write_variants
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        write_variants(one.files, one.out, one.fold, log=one.log, **one.params)
