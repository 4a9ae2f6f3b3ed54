"""A small fold whose features are scores of rankers, and everything that the study makes of it."""

from functools import cache

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.evaluation.measuring import measures_table
from qdrank.measures import CONVENTIONS
from qdrank.rankers.documents import FoldDocuments
from qdrank.store.schemas import conform
from qdrank.studies.hoi2008.fold import ensemble_run, measure_subsets, weights_table
from qdrank.studies.hoi2008.methods import BASELINES, ENSEMBLES, STACKED_METHODS
from qdrank.studies.hoi2008.settings import Hoi
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.running import FoldRun

HOI = Hoi(gammas=[0, 0.5, 2], tried_C=[1, 10], tried_theta=[0.5], tried_delta=[1, 3]).solved()
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


def documents(seed: int = 1) -> FoldDocuments:
    return FoldDocuments({role: part(role, seed) for role in SIZES}, np.zeros(6), np.ones(6))


def unrun(seed: int = 1, refits: int = 2) -> FoldRun:
    return ensemble_run("fold1", documents(seed), HOI, measure="ap", seed=1, measures=["ap"], refits=refits)


@cache
def made() -> tuple[FoldRun, pa.Table, pa.Table, pa.Table]:
    """The run of a fold, its weights, its measures (random scores for the baselines) and its learning curve."""
    run, rng = unrun().run(ENSEMBLES), np.random.default_rng(5)
    others = [*(method.name for method in (*BASELINES, *STACKED_METHODS)), "reference"]
    scores = {name: fits[0] for name, fits in run.scores.items()}
    scores |= {name: rng.random(run.test.n_documents) for name in others}
    measures = measures_table(
        CONVENTIONS["letor4"], run.test, np.stack(list(scores.values()), axis=1), list(scores), "fold1"
    )
    return run, conform(weights_table(run), ENSEMBLES_SHAPE), measures, measure_subsets(unrun(), [5, 10], 2)
