"""Files of runs, or of scores for a LETOR file, as values per query; only one is in memory at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from qdrank.datasets.runs.columns import first_row
from qdrank.datasets.runs.model import Qrels
from qdrank.datasets.runs.reading import read_runs
from qdrank.errors import AnyPath, InputError
from qdrank.evaluation.runs import judged_run
from qdrank.evaluation.score_files import Labels, read_scores
from qdrank.layout import FloatArray
from qdrank.measures.compute import measure
from qdrank.measures.ties import TieValues, tie_values

LETOR = "LETOR features"


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
    n_missing : judged queries without a document
    n_other : queries without judgments, which are left out
    ties : from each measure's name to its values over the orders of ties, if requested
    """

    name: str
    file: str
    form: str
    query_id: list[str]
    values: Mapping[str, FloatArray]
    n_documents: int
    n_missing: int
    n_other: int = 0
    ties: Mapping[str, TieValues] = field(default_factory=dict)


def is_letor(path: AnyPath) -> bool:
    """Whether a file is LETOR text: its first row has ``qid:`` behind the label."""
    words = first_row(path)[1].split()
    return len(words) > 1 and words[1].startswith(b"qid:")


def measured_runs(
    qrels: Qrels, paths: Sequence[AnyPath], names: Sequence[str], *, ties: bool = False
) -> Iterator[MeasuredRun]:
    """All runs of the files against judgments, in order."""
    for path in paths:
        for run in read_runs(path):
            joined = judged_run(run, qrels, file=path)
            lists = joined.grade, joined.score, joined.offsets
            yield MeasuredRun(
                run.tag,
                str(path),
                run.form,
                joined.query_id,
                joined.measured(names),
                len(joined.grade),
                joined.n_missing,
                joined.n_other,
                tie_values(names, *lists, unranked=joined.unranked, judged=joined.judged) if ties else {},
            )


def measured_scores(
    labels: Labels, paths: Sequence[AnyPath], names: Sequence[str], *, features: AnyPath, ties: bool = False
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
        nothing = np.empty(0, dtype=np.int64), np.zeros(len(labels.offsets), dtype=np.int64)
        values = measure(names, labels.y, scores, labels.offsets, doc_ids=labels.doc_id, unranked=nothing)
        over = tie_values(names, labels.y, scores, labels.offsets) if ties else {}
        name = str(path).rpartition("/")[2]
        form = f"scores for {LETOR}"
        yield MeasuredRun(name, str(path), form, labels.query_id, values, len(labels.y), 0, ties=over)


def told_apart(runs: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """The runs under distinct names: those that share one are named after their files, and numbered if needed."""
    shared = Counter(run.name for run in runs)
    named = [replace(run, name=f"{run.name} ({run.file})") if shared[run.name] > 1 else run for run in runs]
    again = Counter(run.name for run in named)
    places = Counter[str]()
    for i, run in enumerate(named):
        if again[run.name] > 1:
            places[run.name] += 1
            named[i] = replace(run, name=f"{run.name} {places[run.name]}")
    return named


def named_run(runs: Sequence[MeasuredRun], wanted: str) -> MeasuredRun:
    """The run with this file or tag.

    Raises
    ------
    InputError
        If there is none, or there are several.
    """
    matching = [run for run in runs if wanted in (run.name, run.file)]
    if len(matching) != 1:
        problem = f"{wanted} is {'none' if not matching else 'more than one'} of the runs"
        raise InputError(problem, fix="name one of: " + ", ".join(run.name for run in runs))
    return matching[0]
