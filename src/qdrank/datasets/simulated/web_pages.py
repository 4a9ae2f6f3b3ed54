"""Sites, pages and words of the simulated web: trees of URLs, names, what is written on each page, and what queries ask for.

Words are made up, so that no list of stop words and no real subject interferes. They are numbers; the texts are put together at
the very end. Four blocks of the vocabulary have a part to play: the *brand* of a site, *labels* (of which pages are named), the
words of each topic, and general words. A few real words are *cues* that show what kind of page is wanted; pages contain them
like any general word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.simulated.settings import QUERY_KINDS, WebSimulation
from qdrank.layout import FloatArray, IntArray, query_index

CUES = {
    "homepage": ("home", "official", "website", "portal"),
    "named_page": ("form", "schedule", "minutes", "brochure"),
    "topic": ("resources", "overview", "research", "policy"),
}
#: General words beside the cues, words of a topic, and how many pages share a label.
GENERAL, TOPIC_WORDS, PAGES_PER_LABEL = 600, 45, 14
#: Rank of the first cue among the general words.
CUE_RANK = 100
SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
ENDS = "bgkmnprtx"


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """All words, (n_words,), and where each block begins; blocks follow each other in this order."""

    words: NDArray[np.object_]
    cues: int
    general: int
    topics: int
    labels: int
    brands: int

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return self.brands - self.labels

    def topic_words(self, topic: IntArray, rank: IntArray) -> IntArray:
        """Number of the word at ``rank`` (from 0) in its ``topic``."""
        return self.topics + topic * TOPIC_WORDS + rank

    def text(self, ids: IntArray) -> str:
        """The words as text."""
        return " ".join(self.words[ids].tolist())


def make_vocabulary(settings: WebSimulation, rng: np.random.Generator) -> Vocabulary:
    """Make up as many words as the settings need."""
    cues = [word for kind in QUERY_KINDS for word in CUES[kind]]
    n_labels = max(settings.sites * settings.pages // PAGES_PER_LABEL, 10)
    sizes = [GENERAL, settings.topics * TOPIC_WORDS, n_labels, settings.sites]
    words = np.array(cues + made_words(sum(sizes), rng), dtype=object)
    starts = np.cumsum([len(cues), *sizes]).tolist()
    return Vocabulary(words, 0, *starts[:4])


def made_words(n: int, rng: np.random.Generator) -> list[str]:
    """Distinct words of three syllables and an end, such as ``tavogen``; none is a beginning of another."""
    base = len(SYLLABLES)
    numbers = rng.permutation(base**3)[:n]
    ends = rng.integers(len(ENDS), size=n)
    parts = np.array(SYLLABLES, dtype=object)
    digits = parts[numbers // base**2] + parts[numbers // base % base] + parts[numbers % base]
    return [word + ENDS[end] for word, end in zip(digits.tolist(), ends.tolist(), strict=True)]


def drawn(weight: NDArray[np.floating], size: int, rng: np.random.Generator) -> IntArray:
    """Numbers from 0 below n, each as often as its ``weight`` (n,) says, shape (size,)."""
    bounds: FloatArray = np.cumsum(weight)
    place = np.searchsorted(bounds / bounds[-1], rng.random(size), side="right")
    return place.clip(max=len(weight) - 1).astype(np.int64)


def zipf(n: int, size: int, rng: np.random.Generator, *, shift: float) -> IntArray:
    """Ranks from 0 below ``n``, rank r as often as 1 / (r + shift), shape (size,)."""
    return drawn(1.0 / (np.arange(n) + shift), size, rng)


def general_words(vocabulary: Vocabulary, size: int, rng: np.random.Generator) -> IntArray:
    """General words, the cues among them neither frequent nor rare, shape (size,)."""
    rank = zipf(vocabulary.topics, size, rng, shift=20.0)
    return (rank - CUE_RANK) % vocabulary.topics


def label_words(vocabulary: Vocabulary, size: int, rng: np.random.Generator) -> IntArray:
    """Labels, shape (size,); a frequent one several times as often as a rare one."""
    return vocabulary.labels + zipf(vocabulary.n_labels, size, rng, shift=vocabulary.n_labels / 8)


#: Share of the body's words that come from the page's own name, its site's brand, other pages' names, other brands.
NAME_SHARE, BRAND_SHARE, MENTION_SHARE, RIVAL_SHARE = 0.05, 0.04, 0.05, 0.02
#: Share of topic words in the body, at least and at most.
TOPIC_SHARE = (0.05, 0.45)


@dataclass(frozen=True, eq=False)
class Sites:
    """Sites, (n_sites,) each; site ``i`` owns the pages ``offsets[i]`` to ``offsets[i + 1] - 1``, its homepage first."""

    topic: IntArray
    popularity: FloatArray
    """Logarithm of how often the site is linked to and asked for, mean 0."""
    brand: IntArray
    subject: IntArray
    """Word of the site's topic that is part of its name."""
    offsets: IntArray


@dataclass(frozen=True, eq=False)
class Pages:
    """Pages, (n_pages,) each; names have shape (n_pages, 2)."""

    site: IntArray
    parent: IntArray
    """Page one step up the tree; -1 for a homepage."""
    depth: IntArray
    name: IntArray
    """Two words: brand and subject for a homepage, two labels for every other page."""
    affinity: FloatArray
    """Share of topic words in the body."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """Words of one field: ``word`` (n_tokens,) is on ``page`` (n_tokens,), pages in order."""

    page: IntArray
    word: IntArray

    def texts(self, vocabulary: Vocabulary, n_pages: int) -> list[str]:
        """The field of every page as text."""
        bounds = np.searchsorted(self.page, np.arange(n_pages + 1))
        words = vocabulary.words[self.word].tolist()
        return [" ".join(words[a:b]) for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]


def tokens(page: IntArray, word: IntArray) -> Tokens:
    """Words in any order of pages, sorted by page; words of a page keep their order."""
    order = np.argsort(page, kind="stable")
    return Tokens(page[order], word[order])


def make_sites(settings: WebSimulation, vocabulary: Vocabulary, rng: np.random.Generator) -> Sites:
    """Sites: a popular one has more pages."""
    n = settings.sites
    topic = rng.permutation(np.arange(n) % settings.topics)
    popularity = 0.6 * rng.standard_normal(n)
    size = settings.pages * np.exp(0.2 * popularity + 0.3 * rng.standard_normal(n))
    offsets = np.concatenate([[0], np.cumsum(np.rint(size).astype(np.int64).clip(min=4))])
    subject = vocabulary.topic_words(topic, zipf(TOPIC_WORDS, n, rng, shift=8.0))
    return Sites(topic, popularity, vocabulary.brands + np.arange(n), subject, offsets)


def make_pages(sites: Sites, vocabulary: Vocabulary, rng: np.random.Generator) -> Pages:
    """The tree of every site: a homepage, about a root of its pages as sections, pages below, some one step deeper."""
    site = query_index(sites.offsets)
    place = np.arange(len(site)) - sites.offsets[site]
    size = np.diff(sites.offsets)[site]
    sections = np.rint(np.sqrt(size)).astype(np.int64)
    middle = sections + 1 + ((size - sections - 1) * 7) // 10  # the first place three steps down
    u = rng.random(len(site))
    below_section = 1 + (u * sections).astype(np.int64)
    below_page = sections + 1 + (u * (middle - sections - 1)).astype(np.int64)
    depth = np.select([place == 0, place <= sections, place < middle], [0, 1, 2], 3)
    parent = np.select([depth == 1, depth == 2], [0, below_section], below_page) + sites.offsets[site]
    name = label_words(vocabulary, 2 * len(site), rng).reshape(-1, 2)
    home = depth == 0
    name[home] = np.column_stack([sites.brand, sites.subject])
    affinity = TOPIC_SHARE[0] + (TOPIC_SHARE[1] - TOPIC_SHARE[0]) * rng.beta(1.5, 2.0, len(site))
    return Pages(site, np.where(home, -1, parent), depth, name, affinity)


def make_titles(pages: Pages, sites: Sites, rng: np.random.Generator) -> Tokens:
    """Title of a page: its name, sometimes cut short, and mostly the brand of its site."""
    n = len(pages.site)
    number = np.arange(n)
    whole = rng.random(n) < 0.8
    branded = (rng.random(n) < 0.6) & (pages.depth > 0)
    return tokens(
        np.concatenate([number, number[whole], number[branded]]),
        np.concatenate([pages.name[:, 0], pages.name[whole, 1], sites.brand[pages.site[branded]]]),
    )


def make_bodies(
    settings: WebSimulation, sites: Sites, pages: Pages, vocabulary: Vocabulary, rng: np.random.Generator
) -> Tokens:
    """Body of every page: each word comes from one of six sources."""
    n = len(pages.site)
    length = np.rint(settings.body * np.exp(0.4 * rng.standard_normal(n))).astype(np.int64).clip(min=10)
    page = np.repeat(np.arange(n), length)
    fixed = np.cumsum([NAME_SHARE, BRAND_SHARE, MENTION_SHARE, RIVAL_SHARE])
    u = rng.random(len(page))
    source = np.where(
        u < fixed[-1], np.searchsorted(fixed, u, side="right"), 4 + (u >= fixed[-1] + pages.affinity[page])
    )
    own_name = pages.name[page, rng.integers(2, size=len(page))]
    site = pages.site[page]
    words = [
        own_name,
        sites.brand[site],
        label_words(vocabulary, len(page), rng),
        vocabulary.brands + drawn(np.exp(sites.popularity), len(page), rng),
        vocabulary.topic_words(sites.topic[site], zipf(TOPIC_WORDS, len(page), rng, shift=8.0)),
        general_words(vocabulary, len(page), rng),
    ]
    return Tokens(page, np.choose(source, words))


def make_urls(sites: Sites, pages: Pages, vocabulary: Vocabulary) -> list[str]:
    """Address of every page: host from the site's name, a folder for each page on the way, a file for the last ones."""
    words = vocabulary.words
    host = [f"http://www.{words[b]}-{words[s]}.org" for b, s in zip(sites.brand, sites.subject, strict=True)]
    has_children = np.bincount(pages.parent[pages.parent >= 0], minlength=len(pages.site)) > 0
    urls: dict[str, int] = {}
    known: list[str] = []
    # A parent comes before its children, so its address is known.
    for page, (parent, site) in enumerate(zip(pages.parent.tolist(), pages.site.tolist(), strict=True)):
        path = host[site] if parent < 0 else known[parent] + "-".join(words[pages.name[page]].tolist())
        if urls.setdefault(path, page) != page:
            path += f"-{page}"  # two pages of one name in one folder
        known.append(path + ("/" if has_children[page] else ".html"))
    return known


def url_tokens(sites: Sites, pages: Pages) -> Tokens:
    """The words of the addresses: brand, subject, and the names on the way."""
    inside = np.arange(len(pages.site))
    page, word = [np.repeat(inside, 2)], [np.column_stack([sites.brand, sites.subject])[pages.site].ravel()]
    step = inside
    for _ in range(3):
        inner = pages.depth[step] > 0
        inside, step = inside[inner], step[inner]
        page.append(np.repeat(inside, 2))
        word.append(pages.name[step].ravel())
        step = pages.parent[step]
    return tokens(np.concatenate(page), np.concatenate(word))


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
