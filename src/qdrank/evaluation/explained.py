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
    joined = judged_run(run, qrels)
    at = joined.query_id.index(query)
    start, stop = joined.offsets[at : at + 2].tolist()
    own = slice(start, stop)
    grade, known, score, doc = joined.grade[own], joined.judged[own], joined.score[own], joined.doc_id[own]
    left, bounds = joined.unranked
    missed = left[bounds[at] : bounds[at + 1]]
    offsets = np.array([0, stop - start])
    rows = Judgements(grade, offsets, doc).ranked(score, "docno").rows
    shown = rows[: depth_of(name)]
    place = np.argsort(rows)
    upto = np.where(place[:, None] < np.arange(len(rows) + 1), score[:, None], -np.inf)
    unranked = missed, np.array([0, len(missed)])
    (values,) = measure([name], grade, upto, offsets, doc_ids=doc, unranked=unranked, judged=known).values()
    grades = [str(one) if judged else "-" for one, judged in zip(grade[shown], known[shown], strict=True)]
    adds = [f"{one:+.4f}" for one in np.diff(values[0])[: len(shown)]]
    return float(values[0, -1]), list(zip(doc[shown].tolist(), grades, adds, strict=True))
