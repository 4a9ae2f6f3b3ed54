"""Runs as data to learn from: every document that a run returns for a judged query, with columns of every run.

A run gives five columns: the score scaled within the query by min-max and as a z-score, the rank, the reciprocal rank, and whether
it retrieves the document. A document that the run lacks has 0, the lowest z-score of the query, the rank behind the last, 0 and 0.
A document without a judgment has grade 0. Relevant documents that no run returns are kept as missed: measures count them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise, repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.datasets.runs.model import COLUMNS, Qrels, Run, Union, min_max, run_ranks, union_of, z_score
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray

if TYPE_CHECKING:
    from qdrank.datasets.importing import Notes


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
    notes: Notes


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


def _notes(runs: Sequence[Run], qrels: Qrels, judged: Judged, level: IntArray) -> Notes:
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
