"""The resolved configuration, and the files that it was resolved from."""

from qdrank.workflow.recorded import write_configuration
from qdrank.workflow.script import job

with job() as this:
    write_configuration(this.path, **this.params)
