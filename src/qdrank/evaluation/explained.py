"""Why a run has the value that it has on a query: its documents, and what each adds."""

from __future__ import annotations

import numpy as np

from qdrank.datasets.runs.model import Qrels, Run
from qdrank.evaluation.run_files import judged_run
from qdrank.evaluation.unjudged import depth_of
from qdrank.measures.compute import measure
from qdrank.measures.ranking import Judgements


def explained(run: Run, qrels: Qrels, query: str, name: str) -> tuple[float, list[tuple[str, str, str]]]:
    """The value of a measure on a judged query; document, grade ("-": not judged) and what it adds, from the first rank on.

    A document adds the value of the list up to it, minus the value of the list before it.
    """
    own = qrels.query == query
    joined = judged_run(run, Qrels(qrels.query[own], qrels.doc[own], qrels.grade[own], qrels.form))
    rows = Judgements(joined.grade, joined.offsets, joined.doc_id).ranked(joined.score, "docno").rows
    shown = rows[: depth_of(name)]
    place = np.empty(len(rows), dtype=np.int64)
    place[rows] = np.arange(len(rows))
    upto = np.where(place[:, None] < np.arange(len(shown) + 1), joined.score[:, None], -np.inf)
    ids = {"doc_ids": joined.doc_id, "judged": joined.judged}
    (values,) = measure([name], joined.grade, upto, joined.offsets, unranked=joined.unranked, **ids).values()
    grades = [
        str(grade) if known else "-" for grade, known in zip(joined.grade[shown], joined.judged[shown], strict=True)
    ]
    adds = [f"{one:+.4f}" for one in np.diff(values[0])]
    (whole,) = joined.measured([name]).values()
    return float(whole[0]), list(zip(joined.doc_id[shown].tolist(), grades, adds, strict=True))
