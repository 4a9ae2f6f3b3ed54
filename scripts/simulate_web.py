"""Draw a simulated web into the artifacts judged, columns and topics."""

from qdrank.text.simweb import write_simweb
from qdrank.workflow.script import job

with job() as this:
    write_simweb(this.out, **this.params["options"])
