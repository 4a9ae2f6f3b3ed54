"""The learning curve of each fold."""

from qdrank.studies.hoi2008.learning_curve import write_curve
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        write_curve(one.files, one.path, one.fold, **one.params)
