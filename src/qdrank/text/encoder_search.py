"""The documents whose vectors have the largest inner products with a query's, exactly, in bounded memory.

As for nearest queries (`qdrank.queries.neighbours`): products in single precision, which round differently from block to block,
only propose documents, with a margin wider than their error. Proposed ones are then scored in double precision, one pair at a
time, so that the answer depends on no block and no number of cores, and equal vectors tie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qdrank.layout import FloatArray, IntArray
from qdrank.text.retrieve import RankedDocuments

if TYPE_CHECKING:
    from qdrank.text.encoder import Vectors

#: Queries and documents of one block of products, 32 MiB.
_QUERIES, _DOCUMENTS = 256, 1 << 15
#: Documents of a query that are scored at a time.
_PAIRS = 1 << 13


def search(queries: Vectors, documents: Vectors, n_top: int) -> RankedDocuments:
    """Best ``n_top`` documents of each query by inner product, best first, ties by document number.

    Parameters
    ----------
    queries, documents : (n_queries, n_dimensions), (n_documents, n_dimensions)
    """
    n_top = min(n_top, len(documents))
    best, scores = np.empty((len(queries), n_top), dtype=np.int64), np.empty((len(queries), n_top))
    margin = _margins(queries, documents)
    for start in range(0, len(queries), _QUERIES):
        block = slice(start, start + _QUERIES)
        for row, proposed in enumerate(_proposed(queries[block], documents, n_top, margin[block]), start):
            best[row], scores[row] = _decided(queries[row], documents, proposed, n_top)
    size, matches = np.full((2, len(queries)), [[n_top], [len(documents)]])
    return RankedDocuments(best, scores, size, matches)


def cosines(queries: Vectors, documents: Vectors, query: IntArray, document: IntArray) -> FloatArray:
    """Inner products of pairs of rows, (n_pairs,), as `search` gives them."""
    blocks = range(0, len(query), _PAIRS)
    parts = [_exact(queries[query[a : a + _PAIRS]], documents[document[a : a + _PAIRS]]) for a in blocks]
    return np.concatenate([np.empty(0), *parts])


def _exact(left: Vectors, right: Vectors) -> FloatArray:
    """Inner products row by row, or of one vector with all rows; each is a sum in the order of its own components."""
    wide = np.broadcast_to(left.astype(np.float64), right.shape)
    return np.asarray(np.einsum("ij,ij->i", wide, right.astype(np.float64)))


def _margins(queries: Vectors, documents: Vectors) -> NDArray[np.float32]:
    """Twice the largest error of a product in single precision, for each query (Higham 2002, (3.5))."""
    blocks = (documents[start : start + _DOCUMENTS] for start in _starts(documents))
    largest = max((float(np.einsum("ij,ij->i", block, block).max()) ** 0.5 for block in blocks), default=0.0)
    rounding = (documents.shape[1] + 2) * np.finfo(np.float32).eps
    return np.asarray(2 * rounding * np.linalg.norm(queries, axis=1) * largest, dtype=np.float32)


def _starts(documents: Vectors) -> range:
    return range(0, len(documents), _DOCUMENTS)


def _proposed(queries: Vectors, documents: Vectors, n_top: int, margin: NDArray[np.float32]) -> list[IntArray]:
    """For each query the documents that may be among its best ``n_top``."""
    floor = np.full(len(queries), -np.inf, dtype=np.float32)
    pools = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)) for _ in queries]
    # Made once: fresh memory for each block would cost a third of its products.
    room = np.empty((len(queries), min(_DOCUMENTS, len(documents))), dtype=np.float32)
    for start in _starts(documents):
        block = documents[start : start + _DOCUMENTS]
        for row, value in enumerate(np.matmul(queries, block.T, out=room[:, : len(block)])):
            hit = np.flatnonzero(value >= floor[row])
            pool = np.concatenate([pools[row][0], hit + start]), np.concatenate([pools[row][1], value[hit]])
            if len(pool[0]) >= 2 * n_top:
                floor[row] = _floor(pool[1], n_top, margin[row])
                pool = _pruned(*pool, floor[row], n_top, queries[row], documents)
            pools[row] = pool
    return [document[value >= _floor(value, n_top, margin[row])] for row, (document, value) in enumerate(pools)]


def _floor(value: NDArray[np.float32], n_top: int, margin: np.float32) -> np.float32:
    """The least estimate of a document that may be among the best ``n_top``."""
    return np.float32(np.partition(value, -n_top)[-n_top] - margin)


def _pruned(
    document: IntArray, value: NDArray[np.float32], floor: np.float32, n_top: int, query: Vectors, documents: Vectors
) -> tuple[IntArray, NDArray[np.float32]]:
    """A pool of documents with their estimates, without those that cannot be among the best any more."""
    keep = value >= floor
    if keep.sum() > 4 * n_top:  # so many near-ties that only exact scores keep the pool small
        keep = np.isin(document, _decided(query, documents, document[keep], n_top)[0])
    return document[keep], value[keep]


def _decided(query: Vectors, documents: Vectors, document: IntArray, n_top: int) -> tuple[IntArray, FloatArray]:
    """The best of some documents, and their scores."""
    parts = [_exact(query, documents[document[a : a + _PAIRS]]) for a in range(0, len(document), _PAIRS)]
    score = np.concatenate([np.empty(0), *parts])
    order = np.lexsort((document, -score))[:n_top]
    return document[order], score[order]
