"""Simulated judged documents: data in the shape of the two private sets of Geng 2008, and two small worlds of which the right answer is known.

**Geng's shape.** Every query has a latent position in the plane. The mean of its documents' features depends smoothly on the
position, and so do the true weights by which its documents are graded: queries that look alike are to be ranked
alike. That is the locality property the paper builds on, here with a strength one can set. With ``locality=0``
all queries share the same weights while they still look different: the negative control, in which no method that
depends on the query can win by anything but chance. Three types of query (thirds of the plane, with soft borders) can be
guessed from a few query columns, about as well as the paper's classifier guesses its types from the words of the query.

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

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.columns import columns_table, topics_table
from qdrank.datasets.judged import Judged
from qdrank.datasets.runs.run import Qrels, Run, judged_runs
from qdrank.datasets.simulated.settings import SIMULATIONS, AffineCopies, Simulation, SplitWorld, TwoRuns
from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.registry import refuse_unknown
from qdrank.store import write

#: Share of documents that are bad, fair, good, excellent and perfect.
GRADES = (0.58, 0.22, 0.11, 0.06, 0.03)
#: The same as borders of a standard normal variable.
BORDERS = (0.2018934791, 0.8416212336, 1.3407550337, 1.8807936082)
#: Names of the query columns, what can be known of a query before its documents are seen.
SIMULATED_QUERY_COLUMNS = ("words", "characters", "topic_cue", "named_page_cue", "homepage_cue", "rare_word")
TYPES = ("topic", "named_page", "homepage")
#: Column of the BM25-like reference feature.
REFERENCE = 0
#: Corners of the triangle around which the types are placed.
CORNERS = np.array([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]])
#: Weight of the reference feature relative to all others together: BM25 alone ranks better than chance.
REFERENCE_WEIGHT = 0.7
#: Hidden factors behind the features, and the share of the features' variance they explain.
FACTORS, CORRELATED = 10, 0.3
#: Deviation of the queries' richness in good documents, relative to that of the documents of one query.
RICHNESS = 0.4
#: Values are rounded to multiples of this, far coarser than the rounding that differs between machines.
GRID = 2.0**-12


@dataclass(frozen=True)
class Simulated:
    """Simulated documents (n_documents rows) and what is known of their queries (n_queries rows)."""

    X: NDArray[np.float32]
    y: NDArray[np.int8]
    query: NDArray[np.str_]
    document: NDArray[np.str_]
    part: NDArray[np.str_]
    offsets: IntArray
    query_id: NDArray[np.str_]
    query_part: NDArray[np.str_]
    types: NDArray[np.str_]
    query_columns: NDArray[np.float32]
    """Shape (n_queries, len(QUERY_COLUMNS))."""
    latent: FloatArray
    """True positions, shape (n_queries, 2); for judging methods, not for them."""
    weights: FloatArray
    """True weights, shape (n_queries, n_features); also hidden from learners."""


def simulate(what: str | Simulation = "sim1", seed: int = 0, **changes: Any) -> Simulated:
    """Draw a data set.

    Parameters
    ----------
    what : a name in ``SIMULATIONS``, or the settings themselves
    seed : seed of the draw; another seed is another world (weights and feature means too), not another sample
    **changes : settings that differ, for instance ``locality=0`` for the negative control
    """
    if isinstance(what, str):
        refuse_unknown("simulated data set", what, SIMULATIONS)
        what = SIMULATIONS[what]
    settings = what.changed(changes | {"seed": seed})
    world, queries, documents, grades = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(4))
    kind, latent = _positions(settings, queries)
    columns = _query_columns(settings, kind, queries)
    weights = _weights(settings, latent, world)
    means = _means(settings, latent, world, queries)
    low, high = settings.documents
    offsets = np.concatenate([[0], np.cumsum(documents.integers(low, high + 1, size=len(kind)))]).astype(np.int64)
    hidden = _documents(settings, offsets, world, documents)
    y = _grades(settings, hidden, weights, offsets, grades)
    X = _visible(hidden, means, offsets)
    return Simulated(
        X=X,
        y=y,
        **names_of(settings, offsets),
        types=np.array(TYPES)[kind],
        query_columns=columns,
        latent=latent,
        weights=weights,
    )


def _positions(settings: Simulation, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Type (0, 1, 2) and position of every query."""
    kind = rng.integers(len(TYPES), size=settings.queries)
    return kind, CORNERS[kind] + settings.spread * rng.standard_normal((len(kind), 2))


def _query_columns(settings: Simulation, kind: IntArray, rng: np.random.Generator) -> NDArray[np.float32]:
    """Noisy signs of the type: lengths and cues, as a query-type classifier would take them from the words."""
    n = len(kind)
    words = 1 + rng.poisson(np.array([2.0, 2.6, 1.4])[kind])
    characters = words * 6 + rng.integers(-3, 9, size=n)
    cues = settings.cues * (kind[:, None] == np.arange(len(TYPES))) + rng.standard_normal((n, len(TYPES)))
    rare = rng.standard_normal(n)  # says nothing
    return rounded(np.column_stack([words, characters, cues, rare]))


def _smooth(latent: FloatArray, width: int, length: float, rng: np.random.Generator, waves: int = 64) -> FloatArray:
    """Values of ``width`` random smooth functions of the position, deviation 1, shape (n_queries, width).

    Sums of random cosines: draws from a Gaussian process with a squared-exponential kernel of the given length.
    """
    frequency = rng.standard_normal((2, waves)) / length
    phase = rng.uniform(0, 2 * np.pi, waves)
    amplitude = rng.standard_normal((waves, width))
    values: FloatArray = np.cos(latent @ frequency + phase) @ amplitude
    values -= values.mean(axis=0)
    values /= np.sqrt(np.square(values).mean(axis=0))
    return values


def _weights(settings: Simulation, latent: FloatArray, rng: np.random.Generator) -> FloatArray:
    """True weights of every query: common ones, and ones that vary with the position."""
    common = rng.standard_normal(settings.features)
    common[REFERENCE] = REFERENCE_WEIGHT * settings.features**0.5
    varying = _smooth(latent, settings.features, settings.smoothness, rng)
    varying[:, REFERENCE] = 0.0
    varying *= settings.locality
    varying += common
    return varying


def _means(
    settings: Simulation, latent: FloatArray, world: np.random.Generator, queries: np.random.Generator
) -> FloatArray:
    """What the documents of a query have in common, shape (n_queries, n_features)."""
    smooth = _smooth(latent, settings.features, 2 * settings.smoothness, world)
    return settings.looks * smooth + settings.blur * queries.standard_normal(smooth.shape)


def _documents(
    settings: Simulation, offsets: IntArray, world: np.random.Generator, rng: np.random.Generator
) -> FloatArray:
    """What sets a document apart from the others of its query: correlated features of deviation 1."""
    loadings = world.standard_normal((FACTORS, settings.features)) * (CORRELATED / FACTORS) ** 0.5
    X = rng.standard_normal((offsets[-1], settings.features))
    X *= (1 - CORRELATED) ** 0.5
    X += rng.standard_normal((offsets[-1], FACTORS)) @ loadings
    return X


def _grades(
    settings: Simulation, hidden: FloatArray, weights: FloatArray, offsets: IntArray, rng: np.random.Generator
) -> NDArray[np.int8]:
    """Grades 0 to 4: the weighted sum of the features, and noise, cut at fixed borders."""
    utility = np.einsum("ij,ij->i", hidden, weights[query_index(offsets)])
    utility /= utility.std()
    utility += settings.noise * rng.standard_normal(len(hidden))
    utility /= (1 + settings.noise**2) ** 0.5
    fertile = RICHNESS * rng.standard_normal(len(weights))  # some queries have many good documents, some none
    utility += fertile[query_index(offsets)]
    utility /= (1 + RICHNESS**2) ** 0.5
    grade: IntArray = np.searchsorted(BORDERS, utility.round(9), side="right")
    return grade.astype(np.int8)


def _visible(hidden: FloatArray, means: FloatArray, offsets: IntArray) -> NDArray[np.float32]:
    """Features as a learner sees them; the reference column is positive and skewed as BM25 scores are."""
    hidden += means[query_index(offsets)]
    hidden[:, REFERENCE] = np.logaddexp(0.0, hidden[:, REFERENCE])
    return rounded(hidden)


def rounded(values: FloatArray) -> NDArray[np.float32]:
    """Values on a grid that is far coarser than the rounding that differs between machines."""
    return (np.rint(values / GRID) * GRID).astype(np.float32)


def names_of(settings: SplitWorld, offsets: IntArray) -> dict[str, Any]:
    """Ids and parts of queries and documents."""
    sizes = {"train": settings.train, "vali": settings.vali, "test": settings.test}
    query_part = np.repeat(np.array(list(sizes)), list(sizes.values()))
    query_id = np.array([f"{part}-{i + 1:04d}" for part, n in sizes.items() for i in range(n)])
    of = query_index(offsets)
    place = np.arange(offsets[-1]) - offsets[of] + 1
    document = np.char.add(np.char.add(query_id[of], "-"), np.char.zfill(place.astype(np.str_), 3))
    return {
        "query": query_id[of],
        "document": document,
        "part": query_part[of],
        "offsets": offsets,
        "query_id": query_id,
        "query_part": query_part,
    }


#: Scale and offset of the maps; all grades are between 0 and 4.
MAPS = np.array([[1, 0], [1, 1], [1, 2], [2, 0]])
#: Borders of merit 0, 1 and 2 as values of a standard normal variable: shares 0.6, 0.25, 0.15.
_BORDERS = (0.2533471031, 1.0364333895)


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
    weights = _rule(settings, world)
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


def _rule(settings: AffineCopies, rng: np.random.Generator) -> FloatArray:
    """The one rule, of length 1; the first feature, the reference, helps."""
    weights = rng.standard_normal(settings.features)
    weights[0] = 2.0
    return np.asarray(weights / np.linalg.norm(weights))


def _merit(utility: FloatArray, noise: float, rng: np.random.Generator) -> IntArray:
    """Merit 0, 1 or 2 of every document."""
    noisy = (utility + noise * rng.standard_normal(len(utility))) / (1 + noise**2) ** 0.5
    merit: IntArray = np.searchsorted(_BORDERS, noisy.round(9), side="right")
    return merit


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


def write_simulated(out: Mapping[str, str | Path], *, like: str, seed: int, **changes: Any) -> None:
    """Draw a simulated data set and write the three artifacts."""
    if like == "two-runs":
        _write_runs(out, seed, **changes)
        return
    data = simulate_affine(seed, **changes) if like == "affine" else simulate(like, seed, **changes)
    names = ["BM25-like" if i == REFERENCE else f"feature {i + 1}" for i in range(data.X.shape[1])]
    write(out["judged"], "judged", _judged(data).to_table())
    write(out["columns"], "columns", columns_table(names, REFERENCE))
    write(
        out["topics"],
        "topics",
        topics_table(data.query_id, data.query_part, types=data.types.tolist(), columns=data.query_columns),
    )


def _write_runs(out: Mapping[str, str | Path], seed: int, **changes: Any) -> None:
    """Draw two runs; of every ten queries six train, two validate and two test."""
    runs, qrels = two_runs(seed, **changes)
    names = list(qrels.by_query)
    place = np.arange(len(names)) * 10 // len(names)
    part = dict(zip(names, np.array([*["train"] * 6, *["vali"] * 2, *["test"] * 2])[place].tolist(), strict=True))
    made = judged_runs(runs, qrels, part, max_label=1)
    write(out["judged"], "judged", made.judged.to_table())
    write(out["columns"], "columns", columns_table(made.names, 0))
    known = topics_table(made.judged.query_id, made.judged.part, run_scores=made.scores)
    write(out["topics"], "topics", known)


def _judged(data: Simulated) -> Judged:
    return Judged(
        query_id=data.query_id.astype(object),
        part=data.query_part.astype(object),
        offsets=data.offsets,
        doc_id=data.document.astype(object),
        y=data.y.astype(np.int64),
        X=data.X,
    )
