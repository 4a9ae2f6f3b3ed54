"""A simulated web: sites, pages, links and anchors; queries for homepages, named pages and topics.

Nothing is drawn as a feature. Sites have names, topics and popularity; pages hang in trees of URLs and are written
word by word (`web_pages`); popular sites are linked to more often, and a link calls its target by name. A query asks for a
homepage, for a named page or for a topic, in words of the site, the page or the topic; a page's grade is what it is worth to such a
user. That queries of different kinds want different rankings, and that this shows in the pages they retrieve, follows without
further rules. `simulate_web` makes a `Collection`, like any that is read from files.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qdrank.datasets.collections.model import Collection, Documents, JudgedPairs, Note, Notebook, Query
from qdrank.datasets.simulated.features import BORDERS, RICHNESS
from qdrank.datasets.simulated.settings import QUERY_KINDS, WebSimulation
from qdrank.datasets.simulated.web_pages import (
    GENERAL,
    Asked,
    Pages,
    Sites,
    Tokens,
    Vocabulary,
    make_bodies,
    make_pages,
    make_queries,
    make_sites,
    make_titles,
    make_urls,
    make_vocabulary,
    tokens,
    url_tokens,
)
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


@dataclass(frozen=True, eq=False)
class SimulatedWeb:
    """A simulated web.

    Attributes
    ----------
    collection : every candidate is judged, and no other page: the judgments are the lists of candidates
    cues : (n_queries, 3); how many words of a query hint at each of ``QUERY_KINDS``
    worth : (n_judgments,)
        Worth of the candidates without noise, deviation 1 for each kind; for judging methods, which must not see it.
    """

    collection: Collection
    cues: IntArray
    worth: FloatArray


@dataclass(frozen=True, eq=False)
class _Web:
    """Everything about the pages."""

    vocabulary: Vocabulary
    sites: Sites
    pages: Pages
    links: Links
    fields: dict[str, Tokens]


def simulate_web(seed: int = 0, settings: WebSimulation | None = None, **changes: Any) -> SimulatedWeb:
    """Draw a web and its queries.

    Parameters
    ----------
    seed : seed of the draw; another seed is another web, not another sample of queries
    settings : WebSimulation, optional
    **changes
        Settings that differ, for instance ``one_rule=True`` for the negative control, which has the same pages,
        queries and candidates.
    """
    settings = (settings or WebSimulation()).changed(changes | {"seed": seed})
    pages_rng, queries_rng, order_rng, grades_rng = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(4))
    web = _make_web(settings, pages_rng)
    asked = make_queries(settings, web.sites, web.pages, web.vocabulary, queries_rng)
    query, page, fits = _candidates(settings, web, asked)
    worth = utilities(fits, asked.kind, query, one_rule=settings.one_rule)
    grade = make_grades(settings, worth, query, grades_rng)
    # Pages are numbered at random: their order must not tell homepages from the rest.
    number = order_rng.permutation(len(web.pages.site))
    order = np.lexsort((number[page], query))
    qrels = JudgedPairs(query[order], number[page][order], grade[order])
    queries = _queries(settings, web, asked)
    collection = Collection(_documents(web, number), queries, qrels, _notes(queries, qrels))
    return SimulatedWeb(collection, asked.cues, worth[order])


def _make_web(settings: WebSimulation, rng: np.random.Generator) -> _Web:
    vocabulary = make_vocabulary(settings, rng)
    sites = make_sites(settings, vocabulary, rng)
    pages = make_pages(sites, vocabulary, rng)
    links = make_links(settings, sites, pages, rng)
    fields = {
        "title": make_titles(pages, sites, rng),
        "body": make_bodies(settings, sites, pages, vocabulary, rng),
        "anchor": make_anchors(links, pages, vocabulary, rng),
        "url": url_tokens(sites, pages),
    }
    return _Web(vocabulary, sites, pages, links, fields)


def _candidates(settings: WebSimulation, web: _Web, asked: Asked) -> tuple[IntArray, IntArray, dict[str, FloatArray]]:
    """Pairs of query and page, and the properties by which they are graded."""
    shape = len(web.pages.site), len(web.vocabulary.words)
    counts = {name: match_matrix(field, shape) for name, field in web.fields.items()}
    wanted = query_matrix(asked, shape[1])
    whole = reduce(operator.add, counts.values())
    query, page = candidate_pages(wanted, whole, settings.candidates)
    fits = {name: _matched(wanted, matrix, query, page) for name, matrix in counts.items()}
    links = web.links.distinct
    fits |= {
        "depth": web.pages.depth[page].astype(np.float64),
        "inlinks": np.log1p(np.bincount(links[:, 1], minlength=shape[0]))[page],
        "outlinks": np.log1p(np.bincount(links[:, 0], minlength=shape[0]))[page],
    }
    return query, page, fits


def match_matrix(field: Tokens, shape: tuple[int, int]) -> sparse.csr_array:
    """Counts of each word on each page, shape (n_pages, n_words)."""
    counts = sparse.coo_array((np.ones(len(field.word)), (field.page, field.word)), shape=shape).tocsr()
    counts.sum_duplicates()
    return counts


def query_matrix(asked: Asked, n_words: int) -> sparse.csr_array:
    """1 for each word of each query, shape (n_queries, n_words)."""
    row, column = np.nonzero(asked.words >= 0)
    ones = np.ones(len(row))
    return sparse.coo_array((ones, (row, asked.words[row, column])), shape=(len(asked.words), n_words)).tocsr()


def candidate_pages(asked: sparse.csr_array, whole: sparse.csr_array, most: int) -> tuple[IntArray, IntArray]:
    """Pages that a simple search engine returns: the best by idf and saturated counts in all fields together.

    Returns queries and pages, (n_pairs,) each, sorted by both.

    Parameters
    ----------
    asked : (n_queries, n_words)
    whole : (n_pages, n_words) counts in all fields
    most : candidates of a query, at most
    """
    n = whole.shape[0]
    df = np.bincount(whole.indices, minlength=whole.shape[1])
    weight = whole.copy()
    weight.data = weight.data / (weight.data + 1.0) * np.log(n / np.maximum(df, 1))[weight.indices]
    score = (asked @ weight.T).tocsr()
    query = np.repeat(np.arange(len(score.indptr) - 1), np.diff(score.indptr))
    # Rounded, so that the order does not depend on the last digit.
    order = np.lexsort((score.indices, -score.data.round(9), query))
    rank = np.arange(len(order)) - score.indptr[query]
    kept = np.sort(order[rank < most])
    pair = np.unique(query[kept] * n + score.indices[kept])
    return pair // n, pair % n


def _matched(wanted: Any, counts: Any, query: IntArray, page: IntArray) -> FloatArray:
    """Sum of log(1 + count) of the query's words in the page's field, (n_pairs,)."""
    logs = counts.copy()
    logs.data = np.log1p(logs.data)
    return np.asarray(wanted[query].multiply(logs[page]).sum(axis=1), dtype=np.float64).ravel()


def _documents(web: _Web, number: IntArray) -> Documents:
    n = len(number)
    texts = {name: field.texts(web.vocabulary, n) for name, field in web.fields.items() if name != "url"}
    texts["url"] = make_urls(web.sites, web.pages, web.vocabulary)
    place = np.argsort(number).tolist()
    links = number[web.links.distinct]
    fields = {name: [of_field[i] for i in place] for name, of_field in texts.items()}
    return Documents([f"p{i:06d}" for i in range(n)], fields, links[np.lexsort((links[:, 1], links[:, 0]))])


def _queries(settings: WebSimulation, web: _Web, asked: Asked) -> list[Query]:
    splits = np.repeat(["train", "vali", "test"], [settings.train, settings.vali, settings.test]).tolist()
    rows = zip(asked.words, asked.kind.tolist(), splits, strict=True)
    return [
        Query(f"q{i:05d}", web.vocabulary.text(words[words >= 0]), QUERY_KINDS[kind], split)
        for i, (words, kind, split) in enumerate(rows, start=1)
    ]


def _notes(queries: list[Query], qrels: JudgedPairs) -> tuple[Note, ...]:
    book = Notebook()
    for row in np.setdiff1d(np.arange(len(queries)), qrels.query).tolist():
        book.add("query without judgments, left out", queries[row].query_id)
    return book.notes()
