"""A classic learner or aggregator on one or more folds: tuned on validation, its model, its scores of the test documents."""

from qdrank.rankers.learning import learn_method
from qdrank.workflow.script import job

with job() as this:
    learn_method(this.files, this.out, this.wildcards["method"], log=this.log, **this.params)
