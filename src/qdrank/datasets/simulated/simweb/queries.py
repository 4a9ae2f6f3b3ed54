"""Queries: what the user wants, and in which words; and the pages that a search engine would return for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from qdrank.datasets.simulated.settings import QUERY_KINDS, WebSimulation
from qdrank.datasets.simulated.simweb.pages import (
    CUES,
    GENERAL,
    TOPIC_WORDS,
    Pages,
    Sites,
    Tokens,
    Vocabulary,
    drawn,
    zipf,
)
from qdrank.layout import FloatArray, IntArray

#: Share of queries with a word that is typical of any kind, for full ambiguity.
STRAY = 0.35
#: Share of queries of each of ``QUERY_KINDS`` that have a general word.
WORDY = (0.1, 0.3, 0.5)


@dataclass(frozen=True, eq=False)
class Asked:
    """Queries, (n_queries,) kinds as numbers in ``QUERY_KINDS``; words (n_queries, 6), -1 where there are fewer."""

    kind: IntArray
    words: IntArray

    @property
    def cues(self) -> IntArray:
        """How many cues of each kind a query has, (n_queries, n_kinds)."""
        n = len(CUES[QUERY_KINDS[0]])
        return np.stack([((self.words >= i * n) & (self.words < (i + 1) * n)).sum(axis=1) for i in range(3)], axis=1)


def make_queries(
    settings: WebSimulation, sites: Sites, pages: Pages, vocabulary: Vocabulary, rng: np.random.Generator
) -> Asked:
    """One third of the queries for each kind; popular sites are wanted more often."""
    n = settings.queries
    kind = rng.permutation(np.arange(n) % len(QUERY_KINDS))
    site = drawn(np.exp(0.5 * sites.popularity), n, rng)
    size = np.diff(sites.offsets)[site]
    page = sites.offsets[site] + 1 + (rng.random(n) * (size - 1)).astype(np.int64)
    wanted = [
        _homepage_words(sites, site, rng),
        _page_words(sites, pages, page, rng),
        _topic_words(sites, vocabulary, site, rng),
    ]
    words = np.stack(wanted)[kind, np.arange(n)]
    stray = _stray_word(settings, wanted, rng)
    stray = np.where((words == stray[:, None]).any(axis=1), -1, stray)
    extra = np.column_stack([stray, _general_word(vocabulary, kind, rng), _cue(settings, kind, rng)])
    return Asked(kind, np.hstack([words, extra]))


def _maybe(word: IntArray, share: float | FloatArray, rng: np.random.Generator) -> IntArray:
    return np.where(rng.random(len(word)) < share, word, -1)


def _homepage_words(sites: Sites, site: IntArray, rng: np.random.Generator) -> IntArray:
    """The name of the site."""
    subject = sites.subject[site]
    return np.column_stack([sites.brand[site], _maybe(subject, 0.4, rng), np.full(len(site), -1)])


def _page_words(sites: Sites, pages: Pages, page: IntArray, rng: np.random.Generator) -> IntArray:
    """The name of the page, sometimes with that of its site."""
    name = pages.name[page]
    brand = _maybe(sites.brand[pages.site[page]], 0.3, rng)
    return np.column_stack([name[:, 0], _maybe(name[:, 1], 0.85, rng), brand])


def _topic_words(sites: Sites, vocabulary: Vocabulary, site: IntArray, rng: np.random.Generator) -> IntArray:
    """Words of a topic."""
    n = len(site)
    first = zipf(TOPIC_WORDS, n, rng, shift=8.0)
    second = (first + rng.integers(1, TOPIC_WORDS, size=n)) % TOPIC_WORDS
    words = vocabulary.topic_words(sites.topic[site], np.stack([first, second]))
    return np.column_stack([words[0], _maybe(words[1], 0.6, rng), np.full(n, -1)])


def _stray_word(settings: WebSimulation, wanted: list[IntArray], rng: np.random.Generator) -> IntArray:
    """A word that any kind of query for this site may contain: its brand, the name of a page, or its topic."""
    n = len(wanted[0])
    word = np.stack(wanted)[rng.integers(len(wanted), size=n), np.arange(n), 0]
    return _maybe(word, STRAY * settings.ambiguity, rng)


def _general_word(vocabulary: Vocabulary, kind: IntArray, rng: np.random.Generator) -> IntArray:
    """A word that could be in any query; a user who wants a homepage writes few words."""
    word = vocabulary.general + zipf(GENERAL, len(kind), rng, shift=20.0)
    return _maybe(word, np.array(WORDY)[kind], rng)


def _cue(settings: WebSimulation, kind: IntArray, rng: np.random.Generator) -> IntArray:
    """A cue to the kind of the query, or none."""
    n = len(CUES[QUERY_KINDS[0]])
    return _maybe(kind * n + rng.integers(n, size=len(kind)), 1 - settings.ambiguity, rng)


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
