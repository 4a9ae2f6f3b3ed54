"""The learner of pairs or lists that a regressor is set against, on one or more folds: tuned on validation."""

from qdrank.studies.zha2006.regressor import learn_pairwise
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        learn_pairwise(one.files, one.out, one.fold, shard=one.shard, log=one.log, **one.params)
