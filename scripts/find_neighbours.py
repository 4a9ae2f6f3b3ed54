"""The k-NN graph of a fold."""

from qdrank.rankers.neighbour_lists import write_neighbours
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        write_neighbours(one.files, one.out, one.fold, **one.params)
