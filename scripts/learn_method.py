"""A classic learner or aggregator on one or more folds: tuned on validation, its model, its scores of the test documents."""

from qdrank.rankers.learning import learn_method
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        learn_method(one.files, one.out, one.fold, one.wildcards["method"], shard=one.shard, log=one.log, **one.params)
