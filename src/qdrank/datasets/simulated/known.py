"""Two small worlds of which the right answer is known.

**Affine copies** of one query: the data for which aTVT (Zha 2006) is made. One rule grades the documents of all queries, but
every query has its own zero and unit: a document of merit 0, 1 or 2 gets the grade ``offset + scale * merit``. Half of the
features are shifted by query, as in the paper's example of a popular and a rare query whose links differ by orders of
magnitude: the same feature value means another merit in another query. A regressor that ignores queries underrates such
features; one that learns the maps does not.

**Two runs** whose best weights depend on the query by a known amount. Every query has a type t, 1 or -1, which shows in its
documents: queries of one type retrieve from the same topics, so that they have documents in common, and queries of different
types do not. Run 0 scores a document by ``(1 + d t) r + noise``, run 1 by ``(1 - d t) r + noise``, where r is 1 for a
relevant document and 0 for others. With d = 0 the best weights are equal for all queries: the negative control. With d > 0
run 0 is the better one for t = 1, run 1 for t = -1, and a weight per query gains.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from qdrank.datasets.runs.model import Qrels, Run
from qdrank.datasets.simulated.features import Simulated, names_of, rounded
from qdrank.datasets.simulated.settings import Count, Deviation, Documents, Share, SplitWorld, World
from qdrank.layout import FloatArray, IntArray, query_index

#: Scale and offset of the maps; all grades are between 0 and 4.
MAPS = np.array([[1, 0], [1, 1], [1, 2], [2, 0]])
#: Borders of merit 0, 1 and 2 as values of a standard normal variable: shares 0.6, 0.25, 0.15.
_BORDERS = (0.2533471031, 1.0364333895)


class AffineCopies(SplitWorld):
    """What to simulate."""

    train: Count = 300
    vali: Annotated[int, Field(ge=0)] = 100
    test: Annotated[int, Field(ge=0)] = 200
    features: Annotated[int, Field(ge=2)] = 20
    documents: Documents = (15, 30)
    noise: Deviation = 0.7
    """Deviation of the noise in the merits, relative to what the features explain."""
    shift: Deviation = 2.0
    """Deviation by query of the latter half of the features, relative to that of the documents of one query."""


def simulate_affine(seed: int = 0, **changes: Any) -> Simulated:
    """Draw affine copies; ``latent`` holds scale and offset of every query, ``types`` names them.

    Parameters
    ----------
    seed : seed of the draw; another seed is another rule
    **changes : fields of `AffineCopies` that differ, for instance ``shift=0``
    """
    settings = AffineCopies().changed(changes | {"seed": seed})
    world, queries, documents, grades = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(4))
    n = settings.queries
    maps = MAPS[queries.integers(len(MAPS), size=n)]
    low, high = settings.documents
    offsets = np.concatenate([[0], np.cumsum(documents.integers(low, high + 1, size=n))]).astype(np.int64)
    X = documents.standard_normal((offsets[-1], settings.features))
    weights = _weights(settings, world)
    merit = _merit(X @ weights, settings.noise, grades)
    of = query_index(offsets)
    shifted = settings.features // 2
    shifts = settings.shift * queries.standard_normal((n, settings.features - shifted))
    X[:, shifted:] += shifts[of]
    scale, offset = maps.T
    return Simulated(
        X=rounded(X),
        y=(offset[of] + scale[of] * merit).astype(np.int8),
        **names_of(settings, offsets),
        types=np.array([f"scale {a}, offset {b}" for a, b in maps]),
        query_columns=np.empty((n, 0), dtype=np.float32),
        latent=maps.astype(np.float64),
        weights=np.broadcast_to(weights, (n, settings.features)).copy(),
    )


def _weights(settings: AffineCopies, rng: np.random.Generator) -> FloatArray:
    """The one rule, of length 1; the first feature, the reference, helps."""
    weights = rng.standard_normal(settings.features)
    weights[0] = 2.0
    return np.asarray(weights / np.linalg.norm(weights))


def _merit(utility: FloatArray, noise: float, rng: np.random.Generator) -> IntArray:
    """Merit 0, 1 or 2 of every document."""
    noisy = (utility + noise * rng.standard_normal(len(utility))) / (1 + noise**2) ** 0.5
    merit: IntArray = np.searchsorted(_BORDERS, noisy.round(9), side="right")
    return merit


class TwoRuns(World):
    """What to simulate."""

    queries: Count = 2000
    documents: Count = 40
    """Documents of a query."""
    relevant: Count = 6
    """How many of them are relevant."""
    dependence: Share = 0.5
    """d, 0 to 1: how much the better run depends on the query."""
    topics: Count = 4
    """Topics of each type, whose documents its queries share."""

    @field_validator("relevant")
    @classmethod
    def _among_the_documents(cls, relevant: int, others: ValidationInfo) -> int:
        if relevant > others.data.get("documents", relevant):
            raise ValueError("a query has fewer documents")
        return relevant


def two_runs(seed: int = 1, **changes: Any) -> tuple[list[Run], Qrels]:
    """Draw two runs and their judgments.

    Parameters
    ----------
    seed : of everything random
    **changes : fields of `TwoRuns` that differ, for instance ``dependence=0``
    """
    settings = TwoRuns().changed(changes | {"seed": seed})
    queries, documents, topics = settings.queries, settings.documents, settings.topics
    rng = np.random.default_rng(seed)
    kind = np.where(np.arange(queries) % 2, 1.0, -1.0)
    topic = rng.integers(0, topics, queries) + np.where(kind > 0, 0, topics)
    names = np.repeat([f"q{i}" for i in range(queries)], documents).astype(object)
    pool = np.stack([rng.permutation(3 * documents)[:documents] for _ in range(queries)])
    docs = np.array([f"t{t}d{d}" for t, row in zip(topic, pool, strict=True) for d in row], dtype=object)
    grade = np.zeros((queries, documents), dtype=np.int64)
    grade[:, : settings.relevant] = 1
    runs = []
    for sign, tag in ((1.0, "first"), (-1.0, "second")):
        signal = (1 + sign * settings.dependence * kind)[:, None] * grade
        runs.append(Run(names, docs, (signal + rng.standard_normal(grade.shape)).ravel(), tag))
    return runs, Qrels(names, docs, grade.ravel())
