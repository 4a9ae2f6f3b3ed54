"""Which documents are ranked for a query: the best by BM25, with or without all judged ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.collections.model import Collection, JudgedPairs
from qdrank.datasets.folds import assign_parts
from qdrank.errors import InputError
from qdrank.layout import IntArray
from qdrank.text.retrieve import RankedDocuments

PARTS = {"train": "train", "dev": "vali", "vali": "vali", "test": "test"}


class Candidates(NamedTuple):
    """Pairs of query and document, by row numbers, sorted by both; unjudged documents have grade 0.

    ``query``, ``document``, ``label`` have shape (n_pairs,). Documents come in the order of their ids, not of their
    scores: a model that gives all documents the same score must not inherit BM25's order.
    """

    query: IntArray
    document: IntArray
    label: NDArray[np.int8]

    def where(self, keep: NDArray[np.bool_] | slice) -> Candidates:
        """Some of the pairs."""
        return Candidates(self.query[keep], self.document[keep], self.label[keep])


def find_candidates(
    ranking: RankedDocuments, qrels: JudgedPairs, n_documents: int, *, judged: bool = False
) -> Candidates:
    """Documents of a ranking of all queries (`retrieve.retrieve`); with ``judged`` also every judged document."""
    row, column = np.nonzero(ranking.document >= 0)
    keys = row * n_documents + ranking.document[row, column]
    known = qrels.query * n_documents + qrels.document
    keys = np.unique(np.concatenate([keys, known]) if judged else keys)
    return Candidates(keys // n_documents, keys % n_documents, _labels(keys, known, qrels))


def missed_documents(candidates: Candidates, qrels: JudgedPairs, n_documents: int) -> dict[int, list[tuple[int, int]]]:
    """Grade and row of the relevant documents that are not among the candidates, highest grade first, by row of the query."""
    known = qrels.query * n_documents + qrels.document
    absent = (qrels.grade > 0) & ~np.isin(known, candidates.query * n_documents + candidates.document)
    missed: dict[int, list[tuple[int, int]]] = {}
    for query, *one in zip(
        *(column[absent].tolist() for column in (qrels.query, qrels.grade, qrels.document)), strict=True
    ):
        missed.setdefault(query, []).append((one[0], one[1]))
    return {query: sorted(of_query, key=lambda one: (-one[0], one[1])) for query, of_query in missed.items()}


def _labels(keys: IntArray, known: IntArray, qrels: JudgedPairs) -> NDArray[np.int8]:
    """Grade of each pair; ``known`` is sorted, because the judgments are."""
    labels = np.zeros(len(keys), dtype=np.int8)
    place = np.searchsorted(known, keys)
    place[place == len(known)] = 0
    hit = known[place] == keys if len(known) else np.zeros(len(keys), dtype=bool)
    labels[hit] = qrels.grade[place[hit]]
    return labels


def parts_of(collection: Collection, *, folds: int | None = None, seed: int = 0) -> list[str | None]:
    """Part of each query, None for a query without judgments, which belongs to no part.

    ``folds``: number of rotating parts S1, S2 ... drawn with ``seed``. Without it, the collection's own split (train, dev
    read as vali, test) if it has one, else five parts.
    """
    judged = np.bincount(collection.qrels.query, minlength=len(collection.queries)) > 0
    with_judgments = [query for query, known in zip(collection.queries, judged, strict=True) if known]
    splits = {query.split for query in with_judgments}
    if folds is None and None not in splits:
        return [_part(query.split) if known else None for query, known in zip(collection.queries, judged, strict=True)]
    parts = assign_parts([query.query_id for query in with_judgments], seed=seed, n_parts=folds or 5)
    return [parts.get(query.query_id) for query in collection.queries]


def _part(split: str | None) -> str:
    if split not in PARTS:
        fix = "call the splits train, dev (or vali) and test, or draw folds"
        raise InputError(f"the split {split!r} is neither for training, validation nor test", fix=fix)
    return PARTS[split]
