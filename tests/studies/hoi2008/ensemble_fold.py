"""A small fold whose features are scores of rankers, and everything that the study makes of it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.evaluation.measuring import measures_table
from qdrank.measures import CONVENTIONS
from qdrank.rankers.documents import FoldDocuments
from qdrank.studies.hoi2008.fold import EnsembleFold, gathered_weights, solve_shard
from qdrank.studies.hoi2008.learning_curve import curve_table
from qdrank.studies.hoi2008.methods import BASELINES, STACKED_METHODS
from qdrank.studies.hoi2008.options import Options
from qdrank.studies.hoi2008.scoring import Scored, WeightBank, score_fold
from qdrank.studies.hoi2008.settings import Hoi

OPTIONS = Options(**Hoi(gammas=[0, 0.5, 2], tried_C=[1, 10], tried_theta=[0.5], tried_delta=[1, 3]).solved())
SIZES = {"train": 25, "vali": 8, "test": 12}


def part(role: str, seed: int, rankers: int = 6) -> Judged:
    rng = np.random.default_rng([seed, list(SIZES).index(role)])
    sizes = rng.integers(5, 20, SIZES[role])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    X = np.round(rng.random((offsets[-1], rankers)), 2)
    X[:, -1] = 0.0  # constant within every query
    y = np.clip((3 * (0.6 * X[:, 0] + 0.4 * X[:, 1]) + rng.normal(0, 0.5, len(X))).astype(int), 0, 2)
    names = np.array([f"{role}{i:02}" for i in range(SIZES[role])], dtype=object)
    docs = np.array([f"d{i}" for i in range(len(X))], dtype=object)
    return Judged(names, np.full(SIZES[role], role, dtype=object), offsets, docs, y, X.astype(np.float32))


def fold(seed: int = 1, options: Options = OPTIONS) -> EnsembleFold:
    documents = FoldDocuments({role: part(role, seed) for role in SIZES}, np.zeros(6), np.ones(6))
    return EnsembleFold(documents, options, "ap", 1)


def weights(of: EnsembleFold, n_shards: int = 2) -> pa.Table:
    return gathered_weights([solve_shard(of, shard=i, n_shards=n_shards) for i in range(n_shards)], of.documents)


@cache
def made() -> tuple[EnsembleFold, pa.Table, Scored, pa.Table, pa.Table]:
    """The fold, its weights, its scores, its measures (random scores for the baselines) and its learning curve."""
    of = fold()
    solved = weights(of)
    scored = score_fold("fold1", of, WeightBank(solved))
    test = of.documents.parts["test"]
    rng = np.random.default_rng(5)
    others = [*(method.name for method in (*BASELINES, *STACKED_METHODS)), "reference"]
    scores = scored.scores | {name: rng.random(test.n_documents) for name in others}
    measures = measures_table(
        CONVENTIONS["letor4"], test, np.stack(list(scores.values()), axis=1), list(scores), "fold1"
    )
    return of, solved, scored, measures, curve_table("fold1", of, [5, 10], 2)
