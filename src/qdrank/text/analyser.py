"""From text to terms: Unicode words, case folding, stop words, Snowball stems.

A word is a run of letters and digits; an apostrophe inside it belongs to it (``don't``, ``o'neill``), and so does a
point or comma between digits (``3.5``, ``1,000``). Hyphens, underscores and all else divide words: ``plant-based`` is two.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.layout import IntArray
from qdrank.registry import needed, refuse_unknown

# Texts that are split at a time: few, so that their pieces are still in the processor's cache when they are counted.
_BLOCK = 16
# Pieces that are replaced by terms at a time, which bounds the memory of the intermediates.
LONG_BLOCK = 1 << 20
WORD = re.compile(r"\d+(?:[.,]\d+)+(?![^\W_])|[^\W_]+(?:'[^\W_]+)*")


class AnalysedTokens(NamedTuple):
    """Terms of many texts: ``ids`` (n_tokens,) into ``terms``, text ``i`` owning ``offsets[i]:offsets[i+1]``."""

    ids: NDArray[np.int32]
    offsets: IntArray
    terms: list[str]


@dataclass(frozen=True)
class Analyser:
    """Specification of the analysis; kept with the index.

    Attributes
    ----------
    stemmer : a Snowball algorithm (``"english"``, ``"german"``, ``"porter"`` ...) or ``"none"``
    stop_words : ``"snowball"``, ``"lucene"`` or ``"none"``; stop words are removed before stemming
    unicode : normal form to begin with, ``"NFKC"`` or ``"none"``
    """

    stemmer: str = "english"
    stop_words: str = "snowball"
    unicode: str = "NFKC"

    def __post_init__(self) -> None:
        algorithms = needed("Stemmer", "text").algorithms

        allowed = {
            "stemmer": [*algorithms(), "none"],
            "stop_words": list(STOP_WORDS),
            "unicode": ["NFC", "NFD", "NFKC", "NFKD", "none"],
        }
        for name, values in allowed.items():
            refuse_unknown(name, getattr(self, name), values)

    def words(self, text: str) -> list[str]:
        """Words of ``text``, folded, before stop words and stems."""
        if self.unicode != "none" and not text.isascii():
            text = unicodedata.normalize(self.unicode, text).replace("’", "'")  # type: ignore[arg-type]
        return WORD.findall(text.casefold())

    def terms_of(self, words: Sequence[str]) -> list[str]:
        """Term of each word; ``""`` for a stop word."""
        stops = STOP_WORDS[self.stop_words]
        if self.stemmer == "none":
            stems = list(words)
        else:
            stems = needed("Stemmer", "text").Stemmer(self.stemmer).stemWords(list(words))
        return ["" if word in stops else stem for word, stem in zip(words, stems, strict=True)]

    def analyse(self, texts: Iterable[str]) -> AnalysedTokens:
        """Terms of every text; the terms come sorted, so that the order of the texts does not matter.

        No word reaches across white space, so each text is only split there, and each *distinct* piece (``"plant-based,"``)
        is taken apart, folded and stemmed once.
        """
        number: defaultdict[str, int] = defaultdict()
        number.default_factory = number.__len__
        numbered, lengths = [], []
        source = iter(texts)
        while block := [text.split() for text in islice(source, _BLOCK)]:
            lengths += [len(pieces) for pieces in block]
            numbered.append(np.fromiter(map(number.__getitem__, chain.from_iterable(block)), dtype=np.int32))
        ids, starts, terms = self._terms_of_pieces(list(number))
        pieces = np.concatenate(numbered) if numbered else np.zeros(0, dtype=np.int32)
        return AnalysedTokens(*_expand(pieces, _bounds(lengths), ids, starts), terms)

    def _terms_of_pieces(self, pieces: list[str]) -> tuple[NDArray[np.int32], IntArray, list[str]]:
        """Terms of each piece without stop words: ids (n,), bounds (n_pieces + 1,), and the sorted terms themselves."""
        words = [self.words(piece) for piece in pieces]
        distinct = list(dict.fromkeys(chain.from_iterable(words)))
        term_of = dict(zip(distinct, self.terms_of(distinct), strict=True))
        terms = sorted(set(term_of.values()) - {""})
        place = {term: i for i, term in enumerate(terms)}
        numbers = [[place[term_of[word]] for word in some if term_of[word]] for some in words]
        ids = np.fromiter(chain.from_iterable(numbers), dtype=np.int32)
        return ids, _bounds([len(some) for some in numbers]), terms


def _bounds(lengths: list[int] | IntArray) -> IntArray:
    """Offsets of runs of these lengths."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def _expand(
    pieces: NDArray[np.int32], offsets: IntArray, ids: NDArray[np.int32], starts: IntArray
) -> tuple[NDArray[np.int32], IntArray]:
    """Replace each piece by its terms, ``ids[starts[piece]:starts[piece + 1]]``; terms and offsets of the texts."""
    sizes = np.diff(starts).astype(np.int32)
    blocks = [np.zeros(0, dtype=np.int32)]
    for first in range(0, len(pieces), LONG_BLOCK):
        some = pieces[first : first + LONG_BLOCK]
        ends = np.cumsum(sizes[some], dtype=np.int64)
        shift = np.repeat(starts[some] - ends + sizes[some], sizes[some])
        blocks.append(ids[np.arange(ends[-1]) + shift])
    before = np.concatenate([[0], np.cumsum(sizes[pieces], dtype=np.int64)])
    return np.concatenate(blocks), before[offsets]


# The 33 words of Lucene's English analyser.
LUCENE = """a an and are as at be but by for if in into is it no not of on or such that the their then there these they
this to was will with"""

# The English list of the Snowball project.
SNOWBALL = """i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves what which who whom this that these those am is are was were be
been being have has had having do does did doing would should could ought i'm you're he's she's it's we're they're i've
you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't
hasn't haven't hadn't doesn't don't didn't won't wouldn't shan't shouldn't can't cannot couldn't mustn't let's that's
who's what's here's there's when's where's why's how's a an the and but if or because as until while of at by for with
about against between into through during before after above below to from up down in out on off over under again further
then once here there when where why how all any both each few more most other some such no nor not only own same so than
too very"""

STOP_WORDS: dict[str, frozenset[str]] = {
    "none": frozenset(),
    "lucene": frozenset(LUCENE.split()),
    "snowball": frozenset(SNOWBALL.split()),
}
