"""Further fits of methods that draw at random: their settings as chosen, other seeds, scores of the test documents."""

from qdrank.serving.refitting import refit_methods
from qdrank.workflow.script import job

with job() as this:
    refit_methods(
        this.files,
        this.out,
        this.fold,
        kinds=this.params["kinds"],
        refits=this.params["refits"],
        seed=this.params["seed"],
    )
