"""Putting the simulated web together."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from qdrank.datasets.collections.model import Collection, Documents, JudgedPairs, Note, Notebook, Query
from qdrank.datasets.simulated.changing import changed_settings
from qdrank.datasets.simulated.simweb.grades import make_grades, utilities
from qdrank.datasets.simulated.simweb.links import Links, make_anchors, make_links
from qdrank.datasets.simulated.simweb.pages import (
    Pages,
    Sites,
    Tokens,
    make_bodies,
    make_pages,
    make_sites,
    make_titles,
    make_urls,
    url_tokens,
)
from qdrank.datasets.simulated.simweb.queries import Asked, candidate_pages, make_queries, match_matrix, query_matrix
from qdrank.datasets.simulated.simweb.settings import QUERY_KINDS, WebSimulation
from qdrank.datasets.simulated.simweb.words import Vocabulary, make_vocabulary
from qdrank.layout import FloatArray, IntArray


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
    settings = changed_settings(settings or WebSimulation(), changes)
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
