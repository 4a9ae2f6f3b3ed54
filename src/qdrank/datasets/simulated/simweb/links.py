"""The link graph, and the words of the links: who links to whom, and what they call it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.datasets.simulated.simweb.pages import Pages, Sites, Tokens, tokens
from qdrank.datasets.simulated.simweb.settings import WebSimulation
from qdrank.datasets.simulated.simweb.words import GENERAL, Vocabulary
from qdrank.layout import FloatArray, IntArray

#: Share of links between sites that stay within a topic, and that lead to the homepage.
SAME_TOPIC, TO_HOMEPAGE = 0.5, 0.25
#: Share of links whose words say nothing ("click here").
EMPTY_WORDS = 0.25


@dataclass(frozen=True, eq=False)
class Links:
    """Links, (n_links,) each; the same two pages may be linked more than once."""

    source: IntArray
    target: IntArray

    @property
    def distinct(self) -> IntArray:
        """Pairs of pages, each once, sorted, (n, 2)."""
        return np.unique(np.column_stack([self.source, self.target]), axis=0)


def make_links(settings: WebSimulation, sites: Sites, pages: Pages, rng: np.random.Generator) -> Links:
    """Links up and down every tree and home from every page, and links between sites that favour the popular."""
    child = np.flatnonzero(pages.parent >= 0)
    parent, home = pages.parent[child], sites.offsets[pages.site[child]]
    deep = pages.depth[child] > 1
    source, target = _between_sites(settings, sites, pages, rng)
    return Links(
        np.concatenate([child, parent, child[deep], source]), np.concatenate([parent, child, home[deep], target])
    )


def _between_sites(
    settings: WebSimulation, sites: Sites, pages: Pages, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    # Some pages are hubs: the number of their links varies widely.
    expected = settings.links * np.exp(0.5 * rng.standard_normal(len(pages.site)) - 0.125)
    source = np.repeat(np.arange(len(pages.site)), rng.poisson(expected))
    site = pages.site[source]
    weight = np.exp(sites.popularity)
    target_site = _draw(weight, np.zeros(len(site), dtype=np.int64), np.zeros(len(weight), dtype=np.int64), rng)
    same = _draw(weight, sites.topic[site], sites.topic, rng)
    target_site = np.where(rng.random(len(site)) < SAME_TOPIC, same, target_site)
    size = np.diff(sites.offsets)[target_site]
    inner = (rng.random(len(site)) * size).astype(np.int64)
    target = sites.offsets[target_site] + np.where(rng.random(len(site)) < TO_HOMEPAGE, 0, inner)
    other = target_site != site
    return source[other], target[other]


def _draw(weight: FloatArray, kind: IntArray, kind_of: IntArray, rng: np.random.Generator) -> IntArray:
    """One site for every link, out of the link's ``kind``, by ``weight`` (n_sites,)."""
    order = np.argsort(kind_of, kind="stable")
    bounds = np.concatenate([[0.0], np.cumsum(weight[order])])
    first = np.searchsorted(kind_of[order], kind, side="left")
    last = np.searchsorted(kind_of[order], kind, side="right")
    at = bounds[first] + rng.random(len(kind)) * (bounds[last] - bounds[first])
    place = np.searchsorted(bounds, at, side="right") - 1
    return np.asarray(order[place.clip(first, last - 1)], dtype=np.int64)


def make_anchors(links: Links, pages: Pages, vocabulary: Vocabulary, rng: np.random.Generator) -> Tokens:
    """Words of the links to each page: one or both words of its name, or words that say nothing."""
    n = len(links.target)
    name = pages.name[links.target]
    both = rng.random(n) < 0.5
    empty = rng.random(n) < EMPTY_WORDS
    first = np.where(empty, vocabulary.general + rng.integers(GENERAL // 20, size=n), name[:, 0])
    second = both & ~empty
    return tokens(np.concatenate([links.target, links.target[second]]), np.concatenate([first, name[second, 1]]))
