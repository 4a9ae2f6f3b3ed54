"""Learners on the retrievers' columns: the best documents of a mix, ranked again by Ranking SVM or LambdaMART.

Past queries are the training queries, each asked as if it had not been judged, so that no column holds its own answer.

Exploratory. In a collection where every document was gathered for some query, a document that no past query has is likely
to be relevant to the new one, and trees learn it. Where scores may only rise with what judgments say, they cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.choose import fit_seed
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.one_model import without_choice
from qdrank.rankers.tuning import tune_rankers
from qdrank.studies.beyond.choosing import Chooser, in_blocks, measured
from qdrank.studies.beyond.methods import BUDGETS, LEARNED, MEASURE, RECOMMENDED, TEXT_MIX, TEXT_PARTS
from qdrank.studies.beyond.options import Options
from qdrank.studies.beyond.retrievers import Known, Mixed, Retriever, weighted, z_scores
from qdrank.studies.running import setting_texts
from qdrank.text.expansion import AskedQueries
from qdrank.text.retrieve import RankedDocuments, best_documents


@dataclass(frozen=True, eq=False)
class Listed:
    """The best documents of queries by a mix, with the columns of retrievers.

    Attributes
    ----------
    ranking : the documents, (n_queries, n_top)
    columns : (n_queries, n_candidates, n_columns) z-scores of the first documents of the ranking; 0 where there is none
    """

    ranking: RankedDocuments
    columns: FloatArray

    @classmethod
    def joined(cls, blocks: Sequence[Listed]) -> Listed:
        """Queries of all blocks, in their order."""
        ranking = RankedDocuments(
            *(np.concatenate(field) for field in zip(*(one.ranking for one in blocks), strict=True))
        )
        return cls(ranking, np.concatenate([one.columns for one in blocks]))

    @property
    def answered(self) -> IntArray:
        """Numbers of the queries that have a candidate; the others (no known word) have nothing to learn from."""
        return np.flatnonzero(self.ranking.document[:, 0] >= 0)

    def take(self, rows: IntArray) -> Listed:
        """Some of the queries."""
        document, score, size, matches = self.ranking
        ranking = RankedDocuments(document[rows], score[rows], size[rows], matches[rows])
        return Listed(ranking, self.columns[rows])

    def judged(self, grades: sparse.csr_array, columns: Sequence[int]) -> Judged:
        """The candidates with some of the columns as features; ``grades`` (n_queries, n_documents) has all judgments.

        Relevant documents that are no candidates are missed.
        """
        document = self.ranking.document[:, : self.columns.shape[1]]
        query, place = np.nonzero(document >= 0)
        left: NDArray[np.int64] = grades.toarray().astype(np.int64)
        y = left[query, document[query, place]]
        left[query, document[query, place]] = 0
        missed = np.empty(len(left), dtype=object)
        missed[:] = [tuple(row[row > 0].tolist()) for row in left]
        names = np.arange(len(left)).astype(str).astype(object)
        counts = np.bincount(query, minlength=len(left))
        return Judged(
            query_id=names,
            part=np.full(len(left), "past", dtype=object),
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            doc_id=document[query, place].astype(str).astype(object),
            y=y,
            X=self.columns[query, place][:, list(columns)].astype(np.float32),
            missed=missed,
        )

    def reordered(self, scores: FloatArray) -> RankedDocuments:
        """The ranking with its candidates by ``scores`` (n_candidates of all queries,), ties as before; the rest follows."""
        document = self.ranking.document.copy()
        candidates = self.columns.shape[1]
        there = document[:, :candidates] >= 0
        of_query = np.full(there.shape, -np.inf)
        of_query[there] = scores
        order = np.argsort(-of_query, axis=1, kind="stable")
        document[:, :candidates] = np.take_along_axis(document[:, :candidates], order, axis=1)
        place = -np.arange(document.shape[1], dtype=np.float64)
        return self.ranking._replace(document=document, score=np.where(document >= 0, place, 0.0))


def listed(
    known: Known,
    asked: AskedQueries,
    mixes: Sequence[Mixed],
    parts: Sequence[Retriever],
    *,
    candidates: int,
    n_top: int,
) -> list[Listed]:
    """Best ``n_top`` documents by each of the ``mixes`` of some of the ``parts``, with the columns of all parts."""
    blocks = []
    for rows in in_blocks(known, len(asked)):
        block = asked.take(rows)
        z = {part: z_scores(part.scores(known, block)) for part in parts}
        columns = [z[part] for part in parts]
        blocks.append(
            [
                _listed(weighted([z[part] for part in mix.parts], mix.weights), columns, candidates, n_top)
                for mix in mixes
            ]
        )
    return [Listed.joined(of_mix) for of_mix in zip(*blocks, strict=True)]


def _listed(scores: FloatArray, columns: Sequence[FloatArray], candidates: int, n_top: int) -> Listed:
    ranking = best_documents(scores, n_top)
    document = ranking.document[:, :candidates]
    values = [np.where(document >= 0, np.take_along_axis(one, np.maximum(document, 0), axis=1), 0.0) for one in columns]
    return Listed(ranking, np.stack(values, axis=2))


def divided(n: int, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Numbers of ``n`` queries in two random parts, ascending; the second has a ``share`` of them, one at least."""
    order = np.random.default_rng(seed).permutation(n)
    held = max(1, round(share * n))
    return np.sort(order[held:]), np.sort(order[:held])


#: Retrievers whose z-scores are columns after those of text; the last three are judgments.
PARTS = ("past-bm25", "past-rm3", "nearest", "ridge", "prior")
_JUDGMENTS = 3
#: Documents that are ranked again, past queries to learn from, and the share of them that settings are chosen on.
CANDIDATES, PAST, HELD_OUT = BUDGETS[0], 500, 0.25


def tried(name: str, options: Options, n_columns: int) -> list[QueryRanker]:
    """Settings of a learner, the same number for each; the last of ``n_columns`` are judgments."""
    if name == "learned-linear":
        return options.linear()
    judgments = tuple(int(column >= n_columns - _JUDGMENTS) for column in range(n_columns))
    return options.trees(judgments if name == "learned-monotone" else ())


def learned_values(
    chooser: Chooser,
    methods: Mapping[str, Retriever],
    asked: AskedQueries,
    grades: sparse.csr_array,
    *,
    options: Options,
    refits: int,
    measures: Sequence[str],
) -> Iterator[tuple[str, int, dict[str, FloatArray]]]:
    """Learner, number of the fit, and measures of the queries asked, (n_queries,) each; ``grades`` are all of theirs.

    Trees are fitted ``refits`` times with other seeds, as many trees as the first fit has; Ranking SVM has one solution.
    """
    names = [name for name in (*TEXT_PARTS, *PARTS) if name in methods]
    known, parts = chooser.known, [methods[name] for name in names]
    widths = {"learned-text": len(names) - len(PARTS), "learned-past": len(names) - _JUDGMENTS}
    drawn = np.random.default_rng(options.seed).permutation(len(known.past))[:PAST]
    rows = [np.sort(drawn)[part] for part in divided(len(drawn), HELD_OUT, options.seed)]
    mixes = [mix for first in (TEXT_MIX, RECOMMENDED) if isinstance(mix := methods[first], Mixed)]
    who = [*(known.past_asked.take(some) for some in rows), asked]
    of_all = [listed(known, some, mixes, parts, candidates=CANDIDATES, n_top=BUDGETS[-1]) for some in who]
    for on_text, (*past, test) in zip((True, False), zip(*of_all, strict=True), strict=True):
        for name in (name for name in LEARNED if (name == "learned-text") == on_text):
            columns = range(widths.get(name, len(names)))
            train, vali = (seen(one, known.past.judgments[some], columns) for one, some in zip(past, rows, strict=True))
            documents = test.judged(grades, columns)  # their grades are not looked at
            settings = tried(name, options, len(names))
            choice = tune_rankers(settings, train, vali, name=MEASURE, seed=options.seed)
            chooser.tried[name] = setting_texts([one.settings() for one in settings]), choice
            for fit in range(refits if choice.chosen.SEEDS else 1):
                ranker = choice.chosen
                if fit:
                    ranker = without_choice(ranker.redrawn(fit_seed(options.seed, fit)), ranker).fit(*train)
                scores = ranker.predict(documents, np.zeros((documents.n_queries, 0)))
                yield name, fit, measured(measures, test.reordered(scores), grades)


def seen(one: Listed, grades: sparse.csr_array, columns: Sequence[int]) -> Validation:
    """Queries to learn from with some of the columns; those without a candidate are left out."""
    rows = one.answered
    documents = one.take(rows).judged(grades[rows], columns)
    return documents, np.zeros((documents.n_queries, 0))
