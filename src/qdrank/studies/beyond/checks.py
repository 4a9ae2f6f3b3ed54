"""For one fold: checks of the implementation, and document recurrence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.rankers.evidence import recurrence
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.one_model import LinearRanker
from qdrank.studies.beyond.methods import SINGLE
from qdrank.studies.beyond.rejudged import Rejudging
from qdrank.studies.running import FoldRun

#: Training queries whose judgments are replaced to see whether they leak into the query's own evidence.
PERMUTED = 20


def checks_table(run: FoldRun, rejudging: Rejudging | None = None) -> pa.Table:
    """Largest differences where there must be none: a query's grades in its evidence, all neighbours against Single.

    ``rejudging`` is the collection that raw text comes from.
    """
    rows = {"leak": _leak(run, rejudging), "all neighbours": _all_neighbours(run)}
    return pa.table({"fold": pa.array([run.fold] * len(rows)), "check": list(rows), "value": list(rows.values())})


def _leak(run: FoldRun, rejudging: Rejudging | None) -> float:
    """Largest change of a query's evidence, or of its list of candidates, when its judgments are replaced.

    In raw text they are replaced in the collection; else its grades are permuted and raised.
    """
    (train, vectors), rng = run.views[""].parts["train"], np.random.default_rng(run.options.seed)
    given = vectors if run.options.similarity == "vectors" else None
    before = run.options.evidence().fit_transform(train, given)
    worst = 0.0
    for query in rng.permutation(train.n_queries)[:PERMUTED].tolist():
        rows, y = slice(train.offsets[query], train.offsets[query + 1]), train.y.copy()
        missed: tuple[Sequence[int], Sequence[str]] = (), ()
        if rejudging is None:
            y[rows] = rng.permutation(y[rows]) + rng.integers(0, 2, len(y[rows]))
        else:
            again = rejudging.of(train.query_id[query], rng)
            worst = max(worst, again.share_changed(train.doc_id[rows]))
            grades = dict(zip(again.doc_id.tolist(), again.grade.tolist(), strict=True))
            y[rows] = [grades.get(name, 0) for name in train.doc_id[rows].tolist()]
            missed = again.missed, again.missed_id
        other = _with_missed(replace(train, y=y), query, *missed)
        changed = run.options.evidence().fit(other, given)
        asked = train.take(np.array([query]))
        after = changed.transform(asked, None if given is None else given[[query]])
        worst = max(worst, float(np.abs(after - before[rows]).max(initial=0.0)))
    return worst


def _with_missed(train: Judged, query: int, grades: Sequence[int], names: Sequence[str]) -> Judged:
    """``train`` with other missed documents of one query, if it knows any."""
    if train.missed is None or train.missed_id is None:
        return train
    all_grades, all_names = train.missed.copy(), train.missed_id.copy()
    all_grades[query], all_names[query] = tuple(grades), tuple(names)
    return replace(train, missed=all_grades, missed_id=all_names)


def _all_neighbours(run: FoldRun) -> float:
    """Largest difference between Single and a local model of all training queries."""
    single, parts, two = run.made[SINGLE], run.views[""].parts, np.arange(2)
    assert isinstance(single, LinearRanker)
    ranker, (test, vectors) = LocalRanker(k=1.0, lam=single.lam, tol=single.tol).fit(*parts["train"]), parts["test"]
    return float(np.abs(ranker.models(test.take(two), vectors[two]) - single.coef_).max())


def recurrence_table(run: FoldRun) -> pa.Table:
    """How often documents of the test queries also occur in the training queries."""
    train, test = run.views[""].parts["train"][0], run.test
    shares = vars(recurrence(train, test))
    size = {"training queries": train.n_queries, "test queries": test.n_queries, "test rows": test.n_documents}
    return pa.Table.from_pylist([{"fold": run.fold, **size, **shares}])
