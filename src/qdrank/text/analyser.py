"""From text to terms: Unicode words, case folding, stop words, Snowball stems.

A word is a run of letters and digits; an apostrophe inside it belongs to it (``don't``, ``o'neill``), and so does a
point or comma between digits (``3.5``, ``1,000``). Hyphens, underscores and all else part words: ``plant-based`` is two.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.groups import IntArray
from qdrank.registry import nearest
from qdrank.text.stopwords import STOP_WORDS

WORD = re.compile(r"\d+(?:[.,]\d+)+(?![^\W_])|[^\W_]+(?:'[^\W_]+)*")


class Tokens(NamedTuple):
    """Terms of many texts: ``ids`` (n_tokens,) into ``terms``, text ``i`` owning ``offsets[i]:offsets[i+1]``."""

    ids: NDArray[np.int32]
    offsets: IntArray
    terms: list[str]


@dataclass(frozen=True)
class Analyser:
    """Specification of the analysis; kept with the index as a plain dict (`to_dict`).

    Attributes
    ----------
    stemmer : str
        A Snowball algorithm (``"english"``, ``"german"``, ``"porter"`` ...) or ``"none"``.
    stop_words : str
        ``"snowball"``, ``"lucene"`` or ``"none"``; stop words are removed before stemming.
    unicode : str
        Normal form to begin with, ``"NFKC"`` or ``"none"``.
    """

    stemmer: str = "english"
    stop_words: str = "snowball"
    unicode: str = "NFKC"

    def __post_init__(self) -> None:
        from Stemmer import algorithms

        allowed = {
            "stemmer": [*algorithms(), "none"],
            "stop_words": list(STOP_WORDS),
            "unicode": ["NFC", "NFD", "NFKC", "NFKD", "none"],
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise InputError(
                    f"unknown {name} {getattr(self, name)!r}", mend=nearest(str(getattr(self, name)), values)
                )

    def to_dict(self) -> dict[str, str]:
        """Plain dict, for JSON; `from_dict` is the way back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, specification: Mapping[str, Any]) -> Analyser:
        """Analyser from `to_dict`'s form; unknown keys are errors."""
        known = [field.name for field in fields(cls)]
        for key in specification:
            if key not in known:
                raise InputError(f"unknown setting {key!r} of the analyser", mend=nearest(key, known))
        return cls(**specification)

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
            from Stemmer import Stemmer

            stems = Stemmer(self.stemmer).stemWords(list(words))
        return ["" if word in stops else stem for word, stem in zip(words, stems, strict=True)]

    def analyse(self, texts: Iterable[str]) -> Tokens:
        """Terms of every text; the terms come sorted, so that the order of the texts does not matter.

        Each text costs one regular-expression call; each *distinct* word is stemmed once.
        """
        number: defaultdict[str, int] = defaultdict()
        number.default_factory = number.__len__
        parts = []
        for text in texts:
            found = self.words(text)
            parts.append(np.fromiter(map(number.__getitem__, found), dtype=np.int32, count=len(found)))
        return self._stemmed(parts, list(number))

    def _stemmed(self, parts: list[NDArray[np.int32]], words: list[str]) -> Tokens:
        """Replace words by terms, dropping stop words."""
        terms, term_of_word = np.unique(np.array(["", *self.terms_of(words)], dtype=object), return_inverse=True)
        lengths = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
        ids = np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
        # Term 0 is "", the stop words (always there, for the sake of the ""in front); it leaves, and all shift by one.
        ids = (term_of_word[1:].astype(np.int32) - 1)[ids] if len(words) else ids
        kept = ids >= 0
        text = np.repeat(np.arange(len(parts)), lengths)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(text[kept], minlength=len(parts)))]).astype(np.int64)
        return Tokens(ids[kept], offsets, terms[1:].tolist())
