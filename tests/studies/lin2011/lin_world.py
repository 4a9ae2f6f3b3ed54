"""A small simulated fold with all that the study of Lin 2011 needs, trained once for the tests."""

from functools import cache

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.datasets.simulated.features import REFERENCE, simulate
from qdrank.rankers.documents import fold_documents
from qdrank.studies.lin2011.bank import FoldBank, gathered_shards
from qdrank.studies.lin2011.fold import LinFold
from qdrank.studies.lin2011.methods import Grid, Readings
from qdrank.studies.lin2011.settings import Lin
from qdrank.studies.lin2011.training import train_singles
from qdrank.studies.lin2011.units import Workshop, units

SEED = 3
LAMBDAS = (0.1, 0.01)
GRID = Grid(ms=[2, 5], lambdas=LAMBDAS, ts=[1, 4], ks=[1, 3])


@cache
def judged():
    data = simulate("sim1", SEED, train=20, vali=8, test=9, features=6, documents=(7, 11))
    y = data.y.astype(np.int64)
    y[data.offsets[4] : data.offsets[5]] = 0  # a training query without relevant documents
    y[data.offsets[30] : data.offsets[31]] = 0  # and a test query
    texts = [array.astype(object) for array in (data.query_id, data.query_part)]
    return Judged(*texts, data.offsets, data.document.astype(object), y, data.X)


@cache
def documents():
    return fold_documents(judged(), "fold1")


@cache
def singles():
    return train_singles(documents().preferences(), LAMBDAS)


def chosen():
    """Weights of the global model on the learner's scale."""
    return singles()[0.01].w


def workshop(random=True, **readings):
    return Workshop(documents(), REFERENCE, singles(), chosen(), Readings(**Lin(**readings).readings()), random=random)


@cache
def trained(ms=(2, 5), seeds=(1, 2), n_shards=1, **given):
    shop, wanted = workshop(**given), units(ms, seeds)
    return gathered_shards([shop.run(wanted[shard::n_shards]) for shard in range(n_shards)])


def clustering(key, **readings):
    """A clustering of K-means, as the fold has it."""
    return next(workshop(**readings).clusterings(key))


def fold(ms=(2, 5), seeds=(1, 2), random=True, **readings):
    """The fold with its models, read in some way."""
    bank = FoldBank(trained(ms, seeds, random=random, **readings))
    return LinFold(documents(), REFERENCE, documents().stored(chosen()), bank, Readings(**Lin(**readings).readings()))
