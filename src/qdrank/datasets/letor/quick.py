"""LETOR text in its usual form, read without compiled kernels: loading those takes longer than reading a small file.

The usual form is a dense file of ASCII text whose rows have single blanks, and all or none of them end in ``#docid = NAME`` (other words may
follow). The result equals that of the kernels to the last bit. Any other form is left to them (None), so that they
report what is wrong.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.textfiles import blocks
from qdrank.errors import InputError

_Bytes = NDArray[np.uint8]
_Integers = NDArray[np.int64]
_Names = NDArray[np.bytes_]

#: Bytes of text up to which a file is read without kernels.
MOST_BYTES = 1 << 25
_BLOCK = 1 << 20
_LONGEST_NAME = 64
# Tables of `bytes.translate`, the fastest way to look at every byte
_USUAL = b"\n" + bytes(range(32, 127))
_SEPARATORS = b" :#\n"
_OTHERS = bytes(set(range(256)) - set(_SEPARATORS))
_SEPARATES = bytes(byte in _SEPARATORS for byte in range(256))
# The cost of a token is at most 1 if it has nothing but digits and one point.
_COST = bytes(0 if byte in b"0123456789" else 1 if byte == ord(".") else 2 for byte in range(256))
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,6})?")
#: Larger values are infinite in single precision, or stand for missing ones; a decimal longer than this may be one.
_LARGEST, _LONGEST_NUMBER = float(np.finfo(np.float32).max), 38


class QuickText(NamedTuple):
    """Rows of a file.

    Attributes
    ----------
    y : (n_rows,) labels
    query : (n_rows,) names of their queries
    document : (n_rows,) names of the documents; (0,) if the rows have none
    X : (n_rows, n_features), or (n_rows, 0) if the values were not wanted
    """

    y: NDArray[np.int8]
    query: _Names
    document: _Names
    X: NDArray[np.float32]

    @property
    def offsets(self) -> _Integers:
        """Bounds of the queries, shape (n_queries + 1,)."""
        starts = np.flatnonzero(self.query[1:] != self.query[:-1]) + 1
        return np.concatenate([[0], starts, [len(self.y)]]).astype(np.int64)

    @property
    def query_id(self) -> list[str]:
        """Names of the queries, in order."""
        return [name.decode() for name in self.query[self.offsets[:-1]].tolist()]

    @property
    def doc_id(self) -> _Names:
        """Names of the documents, made up where the rows have none, shape (n_rows,)."""
        if len(self.document):
            return self.document
        places = (i for n in np.diff(self.offsets).tolist() for i in range(1, n + 1))
        return np.array([b"%s-%d" % pair for pair in zip(self.query.tolist(), places, strict=True)])


def quick_text(
    path: str | os.PathLike[str], width: int, max_label: int, *, values: bool, most: int = MOST_BYTES
) -> QuickText | None:
    """A file of ``width`` features; None if it is not in the usual form or has more than ``most`` bytes."""
    n_bytes, pieces = 0, []
    try:
        if os.path.getsize(path) > most:
            return None
        for block in blocks(path, _BLOCK):
            n_bytes += len(block.text)
            rows = _rows(block.text, width, max_label, values) if n_bytes <= most else None
            if rows is None:
                return None
            pieces.append(rows)
    except (InputError, OSError):
        return None
    # An empty field would hide that only some rows name their documents.
    if not pieces or len({len(piece.document) > 0 for piece in pieces}) > 1:
        return None
    text = QuickText(*map(np.concatenate, zip(*pieces, strict=True)))
    return text if _names_differ(text) else None


def _rows(text: bytes, width: int, max_label: int, values: bool) -> QuickText | None:
    """Rows of whole lines; None if they are not in the usual form."""
    words = len(text[: text.index(b"\n")].partition(b"#")[2].split())
    row = b" :" * (width + 1) + (b" #" + b" " * (words - 1) if words else b"") + b"\n"
    if text.translate(None, _OTHERS) != row * text.count(b"\n") or text.translate(None, _USUAL):
        return None
    ends = np.flatnonzero(np.frombuffer(text.translate(_SEPARATES), dtype=bool))
    starts = np.concatenate([[0], ends[:-1] + 1]).reshape(-1, len(row)).T.copy()
    data = np.frombuffer(text, dtype=np.uint8)
    tokens = _Tokens(data, starts, ends.reshape(-1, len(row)).T - starts)
    comment = 3 + 2 * width
    spelled = {1: b"qid"} | {3 + 2 * j: b"%d" % (j + 1) for j in range(width)}
    spelled |= {comment: b"", comment + 1: b"docid", comment + 2: b"="} if words else {}
    labels = data[starts[0]] - ord("0")
    sound = (tokens.lengths[0] == 1).all() and labels.max() <= min(max_label, 9)
    sound = sound and words not in (1, 2) and all(tokens.spells(i, word) for i, word in spelled.items())
    if not sound or not tokens.are_numbers(slice(4, comment, 2)):
        return None
    query, document = tokens.names(2), tokens.names(comment + 3) if words else np.empty(0, dtype="S1")
    if query is None or document is None:
        return None
    X = tokens.numbers(slice(4, comment, 2)) if values else np.empty((len(labels), 0))
    return QuickText(labels.astype(np.int8), query, document, X.astype(np.float32))


class _Tokens(NamedTuple):
    """Where the tokens of the rows begin and how long they are, each of shape (n_tokens, n_rows)."""

    data: _Bytes
    starts: _Integers
    lengths: _Integers

    def spells(self, token: int, word: bytes) -> bool:
        """Whether a token is ``word`` in all rows."""
        agreeing = (self.data[self.starts[token] + i] == byte for i, byte in enumerate(word))
        return bool((self.lengths[token] == len(word)).all()) and all(bool(same.all()) for same in agreeing)

    def names(self, token: int) -> _Names | None:
        """A token of all rows as text, shape (n_rows,); None if one is empty or long."""
        lengths = self.lengths[token]
        longest = int(lengths.max())
        if lengths.min() == 0 or longest > _LONGEST_NAME:
            return None
        letters = np.zeros((len(lengths), longest), dtype=np.uint8)
        for i in range(longest):
            there = lengths > i
            letters[there, i] = self.data[self.starts[token][there] + i]
        return letters.view(f"S{longest}").ravel()

    def are_numbers(self, tokens: slice) -> bool:
        """Whether the tokens of all rows are finite numbers in single precision."""
        starts, lengths = self.starts[tokens].ravel(), self.lengths[tokens].ravel()
        cost = np.frombuffer(self.data.tobytes().translate(_COST), dtype=np.uint8)
        signs = self.data[starts] == ord("-")
        costs, place, last = np.zeros(len(starts), dtype=np.uint8), starts + signs, starts + lengths - 1
        for _ in range(min(int(lengths.max()), _LONGEST_NUMBER)):
            costs += cost[np.minimum(place, last)]  # the last byte may count twice: then the token is checked below
            place += 1
        odd = np.flatnonzero((costs > 1) | (lengths - signs < 1 + costs) | (lengths > _LONGEST_NUMBER))
        texts = (self.data[starts[i] : starts[i] + lengths[i]].tobytes() for i in odd)
        return all(_NUMBER.fullmatch(text) and abs(float(text)) <= _LARGEST for text in texts)

    def numbers(self, tokens: slice) -> NDArray[np.float64]:
        """Values of the tokens of all rows, shape (n_rows, n_tokens)."""
        starts, ends = self.starts[tokens].T.ravel(), (self.starts + self.lengths)[tokens].T.ravel()
        text = self.data.tobytes()
        values = [float(text[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        return np.array(values).reshape(-1, len(self.starts[tokens]))


def _names_differ(text: QuickText) -> bool:
    """Whether each query is in one place, and no document comes twice in its query (a clash of hashes counts as twice)."""
    offsets = text.offsets
    heads = text.query[offsets[:-1]]
    if len(set(heads.tolist())) < len(heads):
        return False
    if not len(text.document):
        return True
    wide = -(-text.document.dtype.itemsize // 8) * 8
    words = np.ascontiguousarray(text.document.astype(f"S{wide}")).view(np.uint64).reshape(len(text.y), -1)
    # Not from numpy.random, which takes as long to load as a small file to read.
    factors = np.frombuffer(hashlib.shake_128().digest(8 * (words.shape[1] + 1)), np.uint64) | np.uint64(1)
    hashes = np.repeat(np.arange(len(heads), dtype=np.uint64), np.diff(offsets)) * factors[0]
    for word, factor in zip(words.T, factors[1:], strict=True):
        hashes = (hashes + word * factor) ^ (hashes >> np.uint64(29))
    hashes.sort()
    return bool((hashes[1:] != hashes[:-1]).all())
