"""Draw a simulated data set into the artifacts judged, columns and topics."""

from qdrank.datasets.simulated.tables import write_simulated
from qdrank.workflow.script import job

with job() as this:
    write_simulated(this.out, **this.params["options"])
