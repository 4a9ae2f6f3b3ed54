"""From a text collection to the artifacts judged, columns and topics, with a table of settings and notes."""

from qdrank.figures.text_notes import write_text_features
from qdrank.workflow.script import job

with job() as this:
    write_text_features(this.out, log=this.log, **this.params)
