"""Further fits of a method that draws at random: its settings as chosen, other seeds, scores of the test documents."""

from qdrank.serving.refitting import refit_method
from qdrank.workflow.script import job

with job() as this:
    refit_method(
        this.files,
        this.path,
        this.fold,
        kinds=this.params["kinds"],
        refits=this.params["refits"],
        seed=this.params["seed"],
    )
