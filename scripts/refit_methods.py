"""Further fits of methods that draw at random: their settings as chosen, other seeds, scores of the test documents."""

from qdrank.serving.refitting import refit_methods
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        refit_methods(
            one.files,
            one.out,
            one.fold,
            kinds=one.params["kinds"],
            refits=one.params["refits"],
            seed=one.params["seed"],
        )
