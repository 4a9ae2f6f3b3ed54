"""Other judgments of a query, given where judgments come from: in the collection.

What a ranker computes for a query must not change with the query's own judgments. Grades exchanged among fixed candidates
do not show that: judgments may also decide which documents are candidates. So the collection is judged again, and the
candidates are found again by the code that found them first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qdrank.datasets.collections.model import Collection, JudgedPairs
from qdrank.datasets.judged import TextArray
from qdrank.layout import IntArray
from qdrank.text.index import analyse_queries, build_index
from qdrank.text.judged import TextSettings
from qdrank.text.retrieve import RankedDocuments, find_candidates, missed_documents, retrieve

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
