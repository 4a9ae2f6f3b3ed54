"""For one fold: results without near-duplicate queries, checks of the implementation, and document recurrence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.evidence import recurrence
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.one_model import LinearRanker, WithEvidence
from qdrank.rankers.tuning import query_values_of
from qdrank.studies.beyond.fold import Ladder
from qdrank.studies.beyond.methods import MEASURE, SINGLE, WITH_EVIDENCE
from qdrank.studies.beyond.rejudged import Rejudging

#: Training queries whose judgments are replaced to see whether they leak into the query's own evidence.
PERMUTED = 20


def without_near(ladder: Ladder, near: float, names: Iterable[str]) -> dict[str, FloatArray]:
    """Values (n_queries, 1) of tuned methods and controls with evidence or prior, by name, without near-duplicates.

    One fit each, with the settings chosen with all queries.
    """
    values = {}
    for name in names:
        columns = ladder.options.evidence if name in WITH_EVIDENCE else ladder.options.prior
        tuned = ladder.rankers[name]
        assert isinstance(tuned, WithEvidence)
        ranker = WithEvidence(base=tuned.base.fresh(), evidence=columns(ladder.data.reference, near))
        ranker.fit(*ladder.data.train, validation=ladder.data.vali)
        values[name] = query_values_of(MEASURE, ladder.data.test[0], ranker.predict(*ladder.data.test))[:, None]
    return values


def checks_table(fold: str, ladder: Ladder, rejudging: Rejudging | None = None) -> pa.Table:
    """Largest differences where there must be none: a query's grades in its evidence, all neighbours against Single.

    ``rejudging`` is the collection that raw text comes from.
    """
    rows = {"leak": _leak(ladder, rejudging), "all neighbours": _all_neighbours(ladder)}
    return pa.table({"fold": pa.array([fold] * len(rows)), "check": list(rows), "value": list(rows.values())})


def _leak(ladder: Ladder, rejudging: Rejudging | None) -> float:
    """Largest change of a query's evidence, or of its list of candidates, when its judgments are replaced.

    In raw text they are replaced in the collection; else its grades are permuted and raised.
    """
    (train, vectors), rng = ladder.data.train, np.random.default_rng(ladder.options.seed)
    given = vectors if ladder.options.similarity == "vectors" else None
    before = ladder.options.evidence(ladder.data.reference).fit_transform(train, given)
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
        changed = ladder.options.evidence(ladder.data.reference).fit(other, given)
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


def _all_neighbours(ladder: Ladder) -> float:
    """Largest difference between Single and a local model of all training queries."""
    single: QueryRanker = ladder.rankers[SINGLE]
    assert isinstance(single, LinearRanker)
    ranker = LocalRanker(k=1.0, lam=single.lam, tol=single.tol).fit(*ladder.data.train)
    return float(np.abs(ranker.models(ladder.data.test[1][:2]) - single.coef_).max())


def recurrence_table(fold: str, ladder: Ladder) -> pa.Table:
    """How often documents of the test queries also occur in the training queries."""
    train, test = ladder.data.train[0], ladder.data.test[0]
    shares = vars(recurrence(train, test))
    size = {"training queries": train.n_queries, "test queries": test.n_queries, "test rows": test.n_documents}
    return pa.Table.from_pylist([{"fold": fold, **size, **shares}])
