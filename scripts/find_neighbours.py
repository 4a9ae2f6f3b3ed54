"""The k-NN graph of a fold."""

from qdrank.rankers.neighbour_lists import write_neighbours
from qdrank.workflow.script import job

with job() as this:
    write_neighbours(this.files, this.out, this.fold, **this.params)
