"""Read rankings to be aggregated into the artifacts ranks, judged, columns and topics."""

from qdrank.datasets.importing import import_ranks
from qdrank.workflow.script import job

with job() as this:
    import_ranks(this.dataset, this.inputs[0], this.out, **this.params)
