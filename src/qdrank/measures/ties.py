"""Tied documents: what a measure would be over all of their orders, the best, the worst and the mean.

Scores often tie, and tools break ties by the id of the document or by the order of the rows: neither means anything, and the value then
depends on names. The best order has better grades first within a run of ties, the worst has them last (documents that are not
judged count below grade 0). The mean over all orders is computed exactly, by each `Definition.expected`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.measures.compute import Rankings, definitions
from qdrank.measures.definition import Definition, Tied
from qdrank.measures.ranking import Judgements, Ranking, tie_numbers


class TieValues(NamedTuple):
    """A measure of each query over the orders of its tied documents, each of shape (n_queries,)."""

    worst: FloatArray
    expected: FloatArray
    best: FloatArray


def tie_values(
    names: Iterable[str],
    y: ArrayLike,
    scores: ArrayLike,
    offsets: ArrayLike,
    *,
    unranked: tuple[ArrayLike, ArrayLike] | None = None,
    judged: ArrayLike | None = None,
) -> dict[str, TieValues]:
    """Each measure over the orders of tied documents; the parameters are those of `qdrank.measures.measure`."""
    rankings = Rankings.of(Judgements(y, offsets, None, unranked, judged), np.asarray(scores))
    values: dict[str, TieValues] = {}
    for definition, only_judged, wanted in definitions(names):
        judgements, own_scores = rankings.lists(only_judged)
        columns = _columns(definition, judgements, own_scores, np.array([cutoff for cutoff, _ in wanted]))
        values |= {m.name: TieValues(*(each[:, i] for each in columns)) for i, (_, m) in enumerate(wanted)}
    return values


def _columns(definition: Definition, judgements: Judgements, scores: FloatArray, cutoffs: IntArray) -> list[FloatArray]:
    """Worst, expected and best values, each of shape (n_queries, n_cutoffs)."""
    compared = judgements.compared(scores, definition.ties)
    level = np.where(judgements.judged, judgements.grades, -1)
    keys = -compared, query_index(judgements.offsets)
    worst, best = (Ranking(judgements, np.lexsort((sign * level, *keys))) for sign in (1, -1))
    tied = Tied(best, tie_numbers(compared[best.rows], judgements.offsets))
    return [definition.values(worst, cutoffs), definition.expected(tied, cutoffs), definition.values(best, cutoffs)]
