"""Runs and judgments in memory; runs side by side, with scores made comparable within each query; runs as data to learn from.

As data, every document that a run returns for a judged query has five columns of every run: the score scaled within the query by
min-max and as a z-score, the rank, the reciprocal rank, and whether the run retrieves it. A document that the run lacks has 0, the
lowest z-score of the query, the rank behind the last, 0 and 0. A document without a judgment has grade 0. Relevant documents that
no run returns are kept as missed: measures count them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_index, query_offsets


@dataclass(frozen=True, eq=False)
class _Lists:
    """Documents grouped by query: ids, each of shape (n_documents,)."""

    query: NDArray[Any]
    doc: NDArray[Any]

    @cached_property
    def offsets(self) -> IntArray:
        """Bounds of the queries, shape (n_queries + 1,)."""
        return query_offsets(self.query)

    @cached_property
    def place(self) -> dict[str, int]:
        """From each query to its number, in their order."""
        return {query: i for i, query in enumerate(self.query[self.offsets[:-1]].tolist())}


@dataclass(frozen=True, eq=False)
class Run(_Lists):
    """Scored documents: their scores, (n_documents,), the name of the run, and the form in which it was written, in words."""

    score: FloatArray
    tag: str
    form: str = "arrays"


@dataclass(frozen=True, eq=False)
class Qrels(_Lists):
    """Judged documents: their grades, (n_documents,), and the form in words."""

    grade: IntArray
    form: str = "arrays"

    @property
    def words(self) -> str:
        """What they are, and how many."""
        return f"{self.form}: {len(self.place):,} queries, {len(self.doc):,} judged documents"

    @cached_property
    def by_query(self) -> dict[str, dict[str, int]]:
        """Grades of each query's judged documents, in the order of the file."""
        docs, grades, offsets = self.doc.tolist(), self.grade.tolist(), self.offsets.tolist()
        bounds = zip(self.place, pairwise(offsets), strict=True)
        return {query: dict(zip(docs[a:b], grades[a:b], strict=True)) for query, (a, b) in bounds}


def together(query: NDArray[Any]) -> IntArray | None:
    """Rows grouped by query, queries in order of first appearance; None if they are grouped already.

    ``query`` has shape (n_rows,), ids or numbers of the queries.
    """
    starts = np.flatnonzero(np.concatenate([[True], query[1:] != query[:-1]]))
    heads = query[starts].tolist()
    place = {name: i for i, name in enumerate(dict.fromkeys(heads))}
    if len(place) == len(heads):
        return None
    sizes = np.diff(np.append(starts, len(query)))
    return np.argsort(np.repeat([place[name] for name in heads], sizes), kind="stable")


def system_runs(ranks: Judged, best: str = "low") -> Iterator[Run]:
    """The systems of a rank-aggregation set: one run for each column of ranks, ``system-1`` and so on; without any rank none.

    A document without a rank is not retrieved. With ``best`` "low" minus the rank is the score; "high" is for files whose best document has the highest number.
    """
    sign = 1.0 if best == "high" else -1.0
    for system, rank in enumerate(ranks.X.T, 1):
        rows = np.flatnonzero(~np.isnan(rank))
        if len(rows):
            score = sign * rank[rows].astype(np.float64)
            yield Run(ranks.query[rows], ranks.doc_id[rows], score, f"system-{system}", "ranks of a system")


def judgments_of(ranks: Judged) -> Qrels:
    """The judgments of all documents."""
    return Qrels(ranks.query, ranks.doc_id, ranks.y, "judgments of a LETOR file")


#: Names of a run's columns; the tag follows.
COLUMNS = ("min-max of", "z-score of", "rank in", "1/rank in", "retrieved by")


def min_max(scores: FloatArray, rank: IntArray, offsets: IntArray) -> FloatArray:  # noqa: ARG001
    """Scores of each query from 0 to 1, all 1 where they are equal; shape (n_documents,)."""
    low, high = _ends(scores, offsets)
    scaled: FloatArray = np.divide(scores - low, high - low, out=np.ones(len(scores)), where=high > low)
    return scaled


def z_score(scores: FloatArray, rank: IntArray, offsets: IntArray) -> FloatArray:  # noqa: ARG001
    """Scores of each query with mean 0 and variance 1, all 0 where they are equal; shape (n_documents,)."""
    of_query, n = query_index(offsets), np.diff(offsets)
    low, high = _ends(scores, offsets)
    centred = scores - (np.bincount(of_query, weights=scores, minlength=len(n)) / n)[of_query]
    deviation = np.sqrt(np.bincount(of_query, weights=centred**2, minlength=len(n)) / n)[of_query]
    scaled: FloatArray = np.divide(centred, deviation, out=np.zeros(len(scores)), where=high > low)
    return scaled


def by_rank(scores: FloatArray, rank: IntArray, offsets: IntArray) -> FloatArray:  # noqa: ARG001
    """1 for the first of n documents, 1 - 1/n for the second, 1/n for the last; shape (n_documents,)."""
    n = np.diff(offsets)[query_index(offsets)]
    return 1 - (rank - 1) / n


def _ends(scores: FloatArray, offsets: IntArray) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest score of each document's query."""
    sizes = np.diff(offsets)
    low, high = (ufunc.reduceat(scores, offsets[:-1]) for ufunc in (np.minimum, np.maximum))
    return np.repeat(low, sizes), np.repeat(high, sizes)


def run_ranks(run: Run) -> IntArray:
    """Rank of each document in its query, from 1: by descending score, ties by descending id; shape (n_documents,)."""
    of_query = query_index(run.offsets)
    _, docno = np.unique(run.doc.astype(str), return_inverse=True)
    order = np.lexsort((-docno, -run.score, of_query))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order)) - run.offsets[:-1][of_query] + 1
    return ranks


def alone(X: NDArray[Any]) -> FloatArray:
    """Each run's own ranking from the columns of runs, (n_documents, n_runs): 1/rank, minus infinity where it lacks the document."""
    first = X[:, COLUMNS.index("1/rank in") :: len(COLUMNS)].astype(np.float64)
    return np.where(first > 0, first, -np.inf)


class Union(NamedTuple):
    """All documents that any run returns: ids in order, query and document of each pair, and the pairs of each run's rows."""

    queries: NDArray[Any]
    docs: NDArray[Any]
    of_query: IntArray
    docno: IntArray
    rows: list[IntArray]


def union_of(runs: Sequence[Run]) -> Union:
    """Join runs on query and document; queries in order of first appearance, documents by their ids."""
    queries = list(dict.fromkeys(name for run in runs for name in run.place))
    place = {name: i for i, name in enumerate(queries)}
    docs, docno = np.unique(np.concatenate([run.doc.astype(str) for run in runs]), return_inverse=True)
    of_query = [np.array([place[name] for name in run.place])[query_index(run.offsets)] for run in runs]
    pairs, row = np.unique(np.concatenate(of_query) * len(docs) + docno, return_inverse=True)
    rows = np.split(row, np.cumsum([len(run.doc) for run in runs])[:-1])
    names = np.array(queries, dtype=object), docs.astype(object)
    return Union(*names, pairs // len(docs), pairs % len(docs), rows)


class JudgedRuns(NamedTuple):
    """Runs as data.

    Attributes
    ----------
    judged : judged documents with the runs' columns
    names : names of the columns
    scores : (n_queries, 2 n_runs) mean and deviation of each run's scores of the query, which z-scores no longer show; 0 where
        the run lacks the query
    notes : what a reader should know, in words
    """

    judged: Judged
    names: list[str]
    scores: FloatArray
    notes: list[tuple[str, str]]


def judged_runs(runs: Sequence[Run], qrels: Qrels, part: Mapping[str, str], *, max_label: int) -> JudgedRuns:
    """Join runs with judgments; queries in the order of the judgments, documents by their ids.

    Raises `InputError` if no judged query has documents, two runs share a tag, a score is infinite or a grade is above
    ``max_label``.

    Parameters
    ----------
    runs : at least one, with tags that differ and finite scores
    qrels : the judgments; a negative grade counts as no judgment
    part : part of each judged query
    max_label : highest grade allowed
    """
    _check(runs, qrels, max_label)
    kept = [_of_judged(run, qrels) for run in runs]
    union = union_of([run for run in kept if len(run.doc)])
    # Queries in the order of the judgments, whichever run has them first.
    place = {name: i for i, name in enumerate(qrels.by_query)}
    new = np.array([place[name] for name in union.queries], dtype=np.int64)[union.of_query]
    order = np.lexsort((union.docno, new))
    retrieved = set(union.queries.tolist())
    query_id = [name for name in qrels.by_query if name in retrieved]
    docs, sizes = union.docs[union.docno[order]], np.bincount(new, minlength=len(place))
    offsets = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
    filled = iter(union.rows)
    X = np.hstack([_columns(run, next(filled) if len(run.doc) else None, union) for run in kept])[order]
    lists = [
        (qrels.by_query[name], docs[a:b].tolist()) for name, (a, b) in zip(query_id, pairwise(offsets), strict=True)
    ]
    level = np.array(
        [*chain.from_iterable(map(grades.get, names, repeat(-1)) for grades, names in lists)], dtype=np.int64
    )
    missed = [_missed(grades, set(names)) for grades, names in lists]
    judged = Judged(
        query_id=np.array(query_id, dtype=object),
        part=np.array([part[name] for name in query_id], dtype=object),
        offsets=offsets,
        doc_id=docs,
        y=np.maximum(level, 0),
        X=X.astype(np.float32),
        missed=_objects([tuple(grades.values()) for grades in missed]),
        missed_id=_objects([tuple(grades) for grades in missed]),
    )
    names = [f"{column} {run.tag}" for run in runs for column in COLUMNS]
    scores = np.hstack([_mean_and_deviation(run, query_id) for run in kept])
    return JudgedRuns(judged, names, scores, _notes(kept, qrels, judged, level))


def _check(runs: Sequence[Run], qrels: Qrels, max_label: int) -> None:
    tags = [run.tag for run in runs]
    if len(set(tags)) < len(tags):
        twice = next(tag for tag in tags if tags.count(tag) > 1)
        raise InputError(
            "two runs have the same tag", found=twice, fix="give each run a tag of its own, or a file of its own name"
        )
    for run in runs:
        if not np.isfinite(run.score).all():
            raise InputError(f"run {run.tag} has an infinite score", fix="write finite scores")
    if not any(run.place.keys() & qrels.by_query.keys() for run in runs):
        fix = "give the judgments of the collection that the runs were made on"
        raise InputError("the runs have none of the judged queries", found=f"query {runs[0].query[0]}", fix=fix)
    if int(qrels.grade.max()) > max_label:
        fix = "set max_label, if so high a grade is meant"
        raise InputError(f"a grade is above {max_label}", found=str(qrels.grade.max()), fix=fix)


def _of_judged(run: Run, qrels: Qrels) -> Run:
    """The run without queries that have no judgments."""
    rows = np.flatnonzero([name in qrels.by_query for name in run.query.tolist()])
    return Run(run.query[rows], run.doc[rows], run.score[rows], run.tag, run.form)


def _columns(run: Run, rows: IntArray | None, union: Union) -> FloatArray:
    """The five columns of a run for all documents, shape (n_documents, 5)."""
    n = len(union.of_query)
    X = np.zeros((n, len(COLUMNS)))
    X[:, 2] = 1
    if rows is None:
        return X
    rank, bounds = run_ranks(run), run.offsets
    z = z_score(run.score, rank, bounds)
    query = union.of_query[rows[bounds[:-1]]]
    lowest, behind = np.zeros(len(union.queries)), np.ones(len(union.queries))
    lowest[query], behind[query] = np.minimum.reduceat(z, bounds[:-1]), np.diff(bounds) + 1
    X[:, 1], X[:, 2] = lowest[union.of_query], behind[union.of_query]
    X[rows] = np.column_stack([min_max(run.score, rank, bounds), z, rank, 1 / rank, np.ones(len(rank))])
    return X


def _mean_and_deviation(run: Run, queries: Sequence[str]) -> FloatArray:
    """Mean and deviation of a run's scores of each query, shape (n_queries, 2)."""
    lists = {name: run.score[run.offsets[i] : run.offsets[i + 1]] for name, i in run.place.items()}
    return np.array([(lists[name].mean(), lists[name].std()) if name in lists else (0, 0) for name in queries])


def _missed(judged: Mapping[str, int], returned: set[str]) -> dict[str, int]:
    """Relevant documents that no run returns, the best first."""
    absent = [(doc, grade) for doc, grade in judged.items() if grade > 0 and doc not in returned]
    return dict(sorted(absent, key=lambda pair: (-pair[1], pair[0])))


def _objects(lists: Sequence[tuple[object, ...]]) -> NDArray[np.object_]:
    array = np.empty(len(lists), dtype=object)
    array[:] = lists
    return array


def _notes(runs: Sequence[Run], qrels: Qrels, judged: Judged, level: IntArray) -> list[tuple[str, str]]:
    """What is missing, not judged and how deep the runs go."""
    relevant = int(judged.n_relevant.sum())
    absent = relevant - int((judged.y > 0).sum())
    notes = [
        ("judgments", qrels.form),
        ("judged queries with documents; the others are left out", f"{judged.n_queries:,} of {len(qrels.by_query):,}"),
        ("documents that are not judged: grade 0", f"{int((level < 0).sum()):,} of {len(level):,}"),
        ("relevant documents that no run retrieves: measures count them", f"{absent:,} of {relevant:,}"),
    ]
    for run in runs:
        depth = int(np.diff(run.offsets).max(initial=0))
        lists = f"{len(run.place):,} queries, {len(run.doc):,} documents, at most {depth:,} a query"
        lacks = f"{judged.n_documents - len(run.doc):,} documents of the other runs are missing"
        notes.append((f"run {run.tag} ({run.form})", f"{lists}; {lacks}"))
    return notes
