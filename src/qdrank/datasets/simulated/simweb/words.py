"""The words of the simulated web: made up, so that no list of stop words and no real subject interferes.

Words are numbers; the texts are put together at the very end. Four blocks of the vocabulary have a part to play: the
*brand* of a site, *labels* (of which pages are named), the words of each topic, and general words. A few real words
are *cues* that show what kind of page is wanted; pages contain them like any general word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.simulated.simweb.settings import QUERY_KINDS, WebSimulation
from qdrank.layout import FloatArray, IntArray

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
