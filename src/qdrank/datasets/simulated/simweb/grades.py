"""Grades: what a page is worth to a user who asks for a homepage, for a named page, or for a topic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.simulated.features import BORDERS, RICHNESS
from qdrank.datasets.simulated.simweb.settings import QUERY_KINDS, WebSimulation
from qdrank.layout import FloatArray, IntArray

#: Weight of each property of a page in the rule of each kind. A user who wants a homepage looks for the entry to a
#: site that others link to by this name; one who wants a named page for a title and an address that say so, wherever
#: it lies; one who wants to know about a topic for text about it, on a popular page, with links to go on from there.
RULES: dict[str, dict[str, float]] = {
    "homepage": {"depth": -1.0, "inlinks": 0.5, "anchor": 0.7},
    "named_page": {"title": 1.0, "url": 0.5, "depth": 0.3},
    "topic": {"body": 1.0, "inlinks": 0.4, "outlinks": 0.4},
}
#: Deviations beyond which a page that fits better is hardly worth more: the noise concerns the outstanding page too.
ENOUGH = 1.5


def utilities(properties: dict[str, FloatArray], kind: IntArray, query: IntArray, *, one_rule: bool) -> FloatArray:
    """Worth of each page to the user of its query, deviation 1 over the pairs of a kind (over all with one rule).

    Returns an array of shape (n_pairs,).

    Parameters
    ----------
    properties : name to (n_pairs,) values
    kind : (n_queries,) numbers in ``QUERY_KINDS``
    query : (n_pairs,)
    one_rule : whether the mean of the rules takes the place of each
    """
    fits = [_fit(rule, properties, query) for rule in RULES.values()]
    if one_rule:
        return _saturated(np.mean(fits, axis=0))
    worth = np.zeros(len(query))
    for number, name in enumerate(QUERY_KINDS):
        of_kind = kind[query] == number
        worth[of_kind] = _saturated(fits[list(RULES).index(name)][of_kind])
    return worth


def _fit(rule: dict[str, float], properties: dict[str, FloatArray], query: IntArray) -> FloatArray:
    """How well pages fit a rule, in comparison with the other candidates of the query."""
    fit = sum((weight * _scaled(properties[name]) for name, weight in rule.items()), np.zeros(len(query)))
    n = np.maximum(np.bincount(query), 1)
    return _scaled(fit - (np.bincount(query, weights=fit) / n)[query])


def _saturated(fit: FloatArray) -> FloatArray:
    return _scaled(np.tanh(_scaled(fit) / ENOUGH))


def _scaled(values: FloatArray) -> FloatArray:
    """Mean 0 and deviation 1; constant values become 0."""
    deviation = values.std() if len(values) else 0.0
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros(len(values))


def make_grades(
    settings: WebSimulation, worth: FloatArray, query: IntArray, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Grades 0 to 4, (n_pairs,): the worth and noise, cut at the borders of the other simulated sets."""
    utility = worth + settings.noise * rng.standard_normal(len(worth))
    utility /= (1 + settings.noise**2) ** 0.5
    utility += RICHNESS * rng.standard_normal(settings.queries)[query]
    utility /= (1 + RICHNESS**2) ** 0.5
    return np.searchsorted(BORDERS, utility.round(9), side="right").astype(np.int64)
