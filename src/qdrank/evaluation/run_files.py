"""Runs against judgments, or scores against a LETOR file: from files to values per query.

Judgments are pooled, as trec_eval takes them: some documents are judged, some are ranked. One file is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.datasets.letor import read_letor
from qdrank.datasets.runs.reading import distinct_names, is_rows, read_qrels, read_runs
from qdrank.datasets.runs.rows import first_row
from qdrank.datasets.runs.run import Qrels, Run
from qdrank.datasets.textfiles import blocks, lines
from qdrank.errors import AnyPath, InputError
from qdrank.layout import FloatArray, IntArray, rows_of_queries
from qdrank.measures.compute import TieValues, measure_ranked, tie_values
from qdrank.measures.ranking import MAX_GRADE, Judgements

_BLOCK = 1 << 20
LETOR = "LETOR features"
_SAME = "give the judgments of the collection that the run was made on"


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A run's documents of the judged queries, in the judgments' order.

    Attributes
    ----------
    query_id : (n_queries,) all judged queries
    judgements : of its documents; a query that the run lacks has none
    score, doc_id : (n_documents,) score and id of each document
    n_other : queries of the run that have no judgments
    """

    query_id: list[str]
    judgements: Judgements
    score: FloatArray
    doc_id: NDArray[Any]
    n_other: int

    def measured(self, names: Iterable[str]) -> dict[str, FloatArray]:
        """Values of measures, by name, each of shape (n_queries,)."""
        return measure_ranked(names, self.judgements, self.score)

    @property
    def missing(self) -> list[str]:
        """Judged queries for which the run has no document."""
        return [self.query_id[i] for i in np.flatnonzero(self.judgements.n_documents == 0)]


def judged_run(run: Run, qrels: Qrels, *, file: AnyPath | None = None) -> JudgedRun:
    """Join a run with judgments, as trec_eval does with ``-c``.

    A document without a judgment, or with a negative one, counts as not relevant; a relevant one that the run does not return
    still counts. A judged query that the run lacks is an empty list; queries without judgments are left out.

    Raises `InputError` if the two have no query in common, or no document of a common query: judgments of another
    collection.
    """
    place = np.array([run.place.get(query, -1) for query in qrels.place], dtype=np.int64)
    if (place < 0).all():
        both = f"query {next(iter(run.place))} in the run, {next(iter(qrels.place))} in the judgments ({run.form})"
        raise InputError("the run has none of the judged queries", file=file, found=both, fix=_SAME)
    rows, _ = rows_of_queries(run.offsets, place[place >= 0])
    offsets = np.append(0, np.cumsum(np.where(place < 0, 0, np.diff(run.offsets)[place])))
    doc = run.doc[rows]
    judged_row = _rows_in(qrels, doc, offsets)
    level = np.where(judged_row < 0, -1, qrels.grade[judged_row])
    if (level < 0).all() and not set(qrels.doc.tolist()) & set(run.doc.tolist()):
        both = f"document {run.doc[0]} in the run, {qrels.doc[0]} in the judgments"
        raise InputError("the run has none of the judged documents", file=file, found=both, fix=_SAME)
    rest = qrels.grade >= 0
    rest[judged_row[judged_row >= 0]] = False
    unranked = qrels.grade[rest], np.append(0, np.cumsum(rest))[qrels.offsets]
    n_other = len(run.place) - int((place >= 0).sum())
    judgements = Judgements(np.maximum(level, 0), offsets, doc, unranked, level >= 0)
    return JudgedRun(list(qrels.place), judgements, run.score[rows], doc, n_other)


def _rows_in(qrels: Qrels, doc: NDArray[Any], offsets: IntArray) -> IntArray:
    """Row of each ranked document in the judgments, -1 if it is not judged, shape (n_documents,)."""
    judged, row = qrels.doc.tolist(), np.empty(len(doc), dtype=np.int64)
    for (a, b), (c, d) in zip(pairwise(offsets.tolist()), pairwise(qrels.offsets.tolist()), strict=True):
        known = dict(zip(judged[c:d], range(c, d), strict=True))
        row[a:b] = np.fromiter(map(known.get, doc[a:b].tolist(), repeat(-1)), dtype=np.int64, count=b - a)
    return row


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """What is kept of a run.

    Attributes
    ----------
    name : its tag, or the file's name where a file has none
    file, form : where it was read, and in which form
    query_id : (n_queries,) all judged queries
    values : from each measure's name to its values, shape (n_queries,)
    n_documents : documents returned for judged queries
    missing : judged queries without a document
    n_other : queries without judgments, which are left out
    ties : from each measure's name to its values over the orders of ties, if requested
    """

    name: str
    file: str
    form: str
    query_id: list[str]
    values: Mapping[str, FloatArray]
    n_documents: int
    missing: Sequence[str] = ()
    n_other: int = 0
    ties: Mapping[str, TieValues] = field(default_factory=dict)

    @property
    def means(self) -> dict[str, float]:
        """Mean of each measure over all queries."""
        return {name: float(column.mean()) for name, column in self.values.items()}


def is_letor(path: AnyPath) -> bool:
    """Whether a file is LETOR text: its first row has ``qid:`` behind the label."""
    words = first_row(path)[1].split() if is_rows(path) else []
    return len(words) > 1 and words[1].startswith(b"qid:")


def measured_runs(
    qrels: Qrels, paths: Sequence[AnyPath], names: Sequence[str], *, ties: bool = False
) -> Iterator[MeasuredRun]:
    """All runs of the files against judgments, in order."""
    return (measured_run(run, qrels, path, names, ties=ties) for path in paths for run in read_runs(path))


def measured_run(run: Run, qrels: Qrels, path: AnyPath, names: Sequence[str], *, ties: bool = False) -> MeasuredRun:
    """A run of a file against judgments."""
    joined = judged_run(run, qrels, file=path)
    return MeasuredRun(
        run.tag,
        str(path),
        run.form,
        joined.query_id,
        joined.measured(names),
        len(joined.score),
        joined.missing,
        joined.n_other,
        tie_values(names, joined.judgements, joined.score) if ties else {},
    )


def measured_scores(
    labels: Judged, paths: Sequence[AnyPath], names: Sequence[str], *, features: AnyPath, ties: bool = False
) -> Iterator[MeasuredRun]:
    """Files of scores, one for each row of a LETOR file, in order."""
    for path in paths:
        scores = read_scores(path)
        if len(scores) != len(labels.y):
            raise InputError(
                f"{len(scores):,} scores for {len(labels.y):,} documents",
                file=path,
                fix=f"give one score per line, in the order of the rows of {features}",
            )
        judgements = Judgements(labels.y, labels.offsets, labels.doc_id)
        values = measure_ranked(names, judgements, scores)
        over = tie_values(names, judgements, scores) if ties else {}
        name = str(path).rpartition("/")[2]
        form = f"scores for {LETOR}"
        yield MeasuredRun(name, str(path), form, labels.query_id.tolist(), values, len(labels.y), ties=over)


def measured_files(
    qrels: AnyPath, paths: Sequence[AnyPath], names: Sequence[str], *, ties: bool = False
) -> tuple[str, Iterator[MeasuredRun]]:
    """A description of the judgments, and the runs, read and measured one at a time."""
    if qrels in paths:
        fix = "give the judgments first, then files of runs or scores; only one of them can be standard input"
        raise InputError("the same file as judgments and as a run", file=qrels, fix=fix)
    if is_letor(qrels):
        labels = read_labels(qrels)
        empty = int((np.maximum.reduceat(labels.y, labels.offsets[:-1]) == 0).sum())
        words = f"{LETOR}: {len(labels.query_id):,} queries, {len(labels.y):,} documents, {empty:,} queries without a "
        words += "relevant document (counted as each measure's convention has it)"
        return words, measured_scores(labels, paths, names, features=qrels, ties=ties)
    judgments = read_qrels(qrels)
    return judgments.words, measured_runs(judgments, paths, names, ties=ties)


def told_apart(runs: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """The runs under `distinct_names`."""
    names = distinct_names([(run.file, run.name) for run in runs])
    return [replace(run, name=name) for run, name in zip(runs, names, strict=True)]


def named_run(runs: Sequence[MeasuredRun], wanted: str) -> MeasuredRun:
    """The run with this file or tag.

    Raises `InputError` if there is none, or there are several.
    """
    matching = [run for run in runs if wanted in (run.name, run.file)]
    if len(matching) != 1:
        problem = f"{wanted} is {'none' if not matching else 'more than one'} of the runs"
        raise InputError(problem, fix="name one of: " + ", ".join(run.name for run in runs))
    return matching[0]


def read_labels(path: AnyPath) -> Judged:
    """The documents of a LETOR file without features, which are checked and skipped, in bounded memory."""
    y: list[NDArray[np.int8]] = []
    doc_id: list[NDArray[Any]] = []
    query_id: list[str] = []
    starts: list[int] = []
    n = 0
    for chunk in read_letor(path, missing=True, max_label=MAX_GRADE):
        # A query that began in the previous chunk is counted already.
        starts += (n + chunk.offsets[:-1][chunk.continues :]).tolist()
        query_id += chunk.query_id[chunk.continues :]
        y.append(chunk.y)
        doc_id.append(np.array(chunk.doc_id.to_pylist(), dtype=object))
        n += len(chunk.y)
    names = np.array(query_id, dtype=object)
    offsets, nothing = np.array([*starts, n], dtype=np.int64), np.empty((n, 0), dtype=np.float32)
    return Judged(names, names, offsets, np.concatenate(doc_id), np.concatenate(y).astype(np.int64), nothing)


def read_scores(path: AnyPath) -> FloatArray:
    """Scores, one per line: the line's only number, or the last of its columns; shape (n_documents,).

    Columns are separated by white space or commas. The file may be compressed. Blank lines are allowed only at its end.
    """
    quick = _single_column(path)
    if quick is not None:
        return quick
    scores: list[float] = []
    blank: int | None = None
    for number, line in lines(path):
        columns = line.replace(b",", b" ").split()
        if not columns:
            blank = blank or number
            continue
        if blank is not None:
            raise InputError("a line without a score", file=path, line=blank, fix="give one score per document")
        scores.append(_score(columns[-1], path, number))
    return np.array(scores, dtype=np.float64)


def _single_column(path: AnyPath) -> FloatArray | None:
    """Scores of a file with exactly one number per line; None for any other file, which is then read line by line."""
    read: list[FloatArray] = []
    for block in blocks(path, _BLOCK):
        text = block.text
        tokens = text.split()
        lines = text.count(b"\n") + (not text.endswith(b"\n"))
        # \r and \f would divide tokens and lines differently; Python takes 1_000 for a number
        if (
            len(tokens) != lines
            or b"\n\n" in text
            or text[:1] == b"\n"
            or any(odd in text for odd in (b",", b"_", b"\r", b"\f", b"\v"))
        ):
            return None
        try:
            read.append(np.array(list(map(float, tokens))))
        except ValueError:
            return None
    scores = np.concatenate([np.empty(0), *read])
    return None if np.isnan(scores).any() else scores


def _score(text: bytes, path: AnyPath, line: int) -> float:
    try:
        score = float(text)
    except ValueError:
        score = float("nan")
    # Python accepts 1_000 as a number, but no tool writes scores like that.
    if score != score or b"_" in text:
        fix = "write the score as a number in the last column, without a heading"
        raise InputError("the score is not a number", file=path, line=line, found=text, fix=fix)
    return score
