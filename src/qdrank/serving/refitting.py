"""Further fits of a stored ranker that draws at random: the same settings, the same documents, other seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged, load_roles, refits_table
from qdrank.layout import FloatArray
from qdrank.learners.refits import fit_seed
from qdrank.queries.recipe import topics_of
from qdrank.rankers.base import Validation
from qdrank.rankers.served import ServedRanker
from qdrank.rankers.state import from_state_table
from qdrank.registry import loaded
from qdrank.store import read, write


def refit_scores(
    served: ServedRanker, parts: Mapping[str, Judged], topics: pa.Table, seeds: Iterable[int]
) -> list[FloatArray]:
    """Scores (n_documents,) of the test documents by the ranker fitted anew with each of the seeds.

    Parameters
    ----------
    served : the ranker as it is stored; only its settings count
    parts : documents of the fold by role; without validation queries the training queries take their place, as in tuning
    topics : artifact ``topics``, for rankers that see the query
    """

    def seen(documents: Judged) -> Validation:
        columns, text = topics_of(topics, documents.query_id.tolist())
        asked = () if served.queries is None else (columns, text)
        vectors = served.query_vectors(documents.X, documents.offsets, *asked)
        features = served.documents.features(documents.X, documents.offsets)
        worded = replace(documents, text=None if text is None else np.array(text, dtype=object))
        return worded.with_features(features), vectors

    train, vali, test = (seen(parts[role]) if parts[role].n_queries else None for role in ("train", "vali", "test"))
    assert train is not None
    assert test is not None
    return [served.ranker.redrawn(seed).fit(*train, validation=vali or train).predict(*test) for seed in seeds]


def refit_methods(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    kinds: Mapping[str, Mapping[str, str]],
    refits: int,
    seed: int,
) -> None:
    """Write the scores of the further fits of stored rankers by method, ``refits`` fits in all.

    ``kinds`` are the classes by name that each method is stored with.
    """
    parts, topics = load_roles(files["judged"], fold, columns=["doc_id", "features"]), read(files["topics"], "topics")
    seeds = [fit_seed(seed, fit) for fit in range(1, refits)]
    for method, targets in kinds.items():
        classes = {name: loaded(target) for name, target in targets.items()} | {ServedRanker.NAME: ServedRanker}
        served = from_state_table(read(files[method], "rankers"), classes.__getitem__)
        write(out[method], "refits", refits_table(parts["test"], refit_scores(served, parts, topics, seeds)))
