"""One regressor with and without aTVT on a fold."""

from qdrank.studies.zha2006.regressor import fit_regressor
from qdrank.workflow.script import job

with job() as this:
    fit_regressor(this.files, this.out, this.fold, this.wildcards["regressor"], log=this.log, **this.params)
