"""Simulated judged documents in the shape of the two private sets of Geng 2008.

Every query has a latent position in the plane. The mean of its documents' features depends smoothly on the
position, and so do the true weights by which its documents are graded: queries that look alike are to be ranked
alike. That is the locality property the paper builds on, here with a strength one can set. With ``locality=0``
all queries share the same weights while they still look different: the negative control, in which no method that
depends on the query can win by anything but chance.

Three types of query (thirds of the plane, with soft borders) can be guessed from a few query columns, about as well
as the paper's classifier guesses its types from the words of the query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from qdrank.datasets.simulated.settings import Count, Deviation, Documents, SplitWorld
from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.registry import refuse_unknown

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


class Simulation(SplitWorld):
    """What to simulate; the defaults have the size of the paper's Dataset 1.

    How large the effect is in the paper's own data cannot be known: its figures have no numbers. ``locality`` sets it here, and
    ``cues`` sets how well query types can be guessed, near the paper's 60 %.
    """

    features: Count = 200
    documents: Documents = (30, 50)
    locality: Deviation = 0.5
    """Deviation of the weights that vary with the query, relative to the common ones; 0 is the negative control."""
    noise: Deviation = 1.5
    """Deviation of the noise in the grades, relative to what the features explain."""
    smoothness: Annotated[float, Field(gt=0)] = 1.5
    """Distance in the latent plane over which weights change; the types are 1.7 apart."""
    spread: Deviation = 0.55
    """Deviation of the queries of a type around its corner: larger means softer borders."""
    looks: Deviation = 0.35
    """Deviation of the feature means over the plane, relative to that of the documents of one query."""
    blur: Deviation = 0.25
    """Deviation of the feature means that has nothing to do with the position."""
    cues: Deviation = 0.8
    """Clearness of the query columns as signs of the type."""


SIMULATIONS: dict[str, Simulation] = {
    "sim1": Simulation(),
    "sim2": Simulation(train=3000, vali=800, test=800),
}


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
    settings = simulation_settings(what, changes | {"seed": seed})
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


def simulation_settings(what: str | Simulation, changes: dict[str, Any]) -> Simulation:
    """Settings of a simulated data set, some changed; an unknown name is the user's error."""
    if isinstance(what, str):
        refuse_unknown("simulated data set", what, SIMULATIONS)
        what = SIMULATIONS[what]
    return what.changed(changes)


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
