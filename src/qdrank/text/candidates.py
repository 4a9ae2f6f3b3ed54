"""Which documents are ranked for a query: the best by BM25, with or without all judged ones; also under other judgments.

What a ranker computes for a query must not change with the query's own judgments. Grades exchanged among fixed candidates
do not show that: judgments may also decide which documents are candidates. So the collection is judged again, and the
candidates are found again by the code that found them first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.collections.model import Collection, JudgedPairs
from qdrank.datasets.folds import assign_parts
from qdrank.datasets.judged import TextArray
from qdrank.errors import InputError
from qdrank.layout import IntArray
from qdrank.text.index import analyse_queries, build_index
from qdrank.text.judged import TextSettings
from qdrank.text.retrieve import RankedDocuments, retrieve

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

    ``folds``: number of rotating parts S1, S2 ... drawn with ``seed``. Without it, the collection's own
    split (train, dev read as vali, test) if it has one, else five parts.
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


#: Fewest documents that a query is judged on when it is judged again.
FEWEST = 5


@dataclass(frozen=True, eq=False)
class RejudgedQuery:
    """A query with other judgments: its candidates by id with their grades, and relevant documents that they miss."""

    doc_id: TextArray
    grade: IntArray
    missed: tuple[int, ...]
    missed_id: tuple[str, ...]

    def share_changed(self, doc_id: TextArray) -> float:
        """Share of the candidates that only one of the two lists has; 0 if they are the same."""
        before, after = set(doc_id.tolist()), set(self.doc_id.tolist())
        return len(before ^ after) / len(before | after)


@dataclass(frozen=True, eq=False)
class Rejudging:
    """A collection whose queries can be judged again; what judgments cannot touch, the ranking of BM25, is computed once."""

    collection: Collection
    settings: TextSettings

    @cached_property
    def ranking(self) -> RankedDocuments:
        """What the first stage finds for every query."""
        index = build_index(self.collection.documents, self.settings.analyser)
        queries = analyse_queries(index, [query.text for query in self.collection.queries])
        return retrieve(index.field(self.settings.searched), queries, self.settings.bm25, n_top=self.settings.n_top)

    def of(self, query_id: str, rng: np.random.Generator) -> RejudgedQuery:
        """The query as if documents drawn at random had been judged, with grades drawn from its own and one above 0."""
        row = [query.query_id for query in self.collection.queries].index(query_id)
        documents, qrels = self.collection.documents.doc_id, self._qrels(row, rng)
        candidates = find_candidates(self.ranking, qrels, len(documents), judged=self.settings.judged)
        ours = candidates.where(candidates.query == row)
        missed = missed_documents(ours, _of_query(qrels, row), len(documents)).get(row, [])
        return RejudgedQuery(
            doc_id=np.array([documents[place] for place in ours.document], dtype=object),
            grade=ours.label.astype(np.int64),
            missed=tuple(grade for grade, _ in missed),
            missed_id=tuple(documents[place] for _, place in missed),
        )

    def _qrels(self, row: int, rng: np.random.Generator) -> JudgedPairs:
        """All judgments, those of one query replaced, in order of query and document."""
        qrels, n_documents = self.collection.qrels, len(self.collection.documents.doc_id)
        other, known = qrels.query != row, qrels.grade[qrels.query == row]
        n = min(max(len(known), FEWEST), n_documents)
        document = rng.choice(n_documents, n, replace=False)
        grade = np.append(rng.choice(known, n - 1) if len(known) else np.ones(n - 1), max(1, known.max(initial=1)))
        whole = [
            np.append(qrels.query[other], np.full(n, row)),
            np.append(qrels.document[other], document),
            np.append(qrels.grade[other], grade).astype(np.int64),
        ]
        order = np.lexsort((whole[1], whole[0]))
        return JudgedPairs(*(column[order] for column in whole))


def _of_query(qrels: JudgedPairs, row: int) -> JudgedPairs:
    ours = qrels.query == row
    return JudgedPairs(qrels.query[ours], qrels.document[ours], qrels.grade[ours])
