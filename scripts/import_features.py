"""Read LETOR text, or runs and judgments, into the artifacts judged, columns and topics, with a table of notes."""

from qdrank.figures.imported import import_dataset
from qdrank.workflow.script import job

with job() as this:
    import_dataset(this.dataset, this.inputs[0], this.out, log=this.log, **this.params)
