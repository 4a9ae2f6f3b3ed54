"""Measures by name: each ranking is sorted once, and all measures are taken from it.

Scores often tie, and tools break ties by the id of the document or by the order of the rows: neither means anything, and the
value then depends on names. `tie_values` gives a measure over all orders of tied documents. The best order has better grades
first within a run of ties, the worst has them last (documents that are not judged count below grade 0). The mean over all
orders is computed exactly, by each `Definition.expected`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.measures import MEASURES
from qdrank.measures.definition import Definition, Tied
from qdrank.measures.names import Measure, parse
from qdrank.measures.ranking import Judgements, Ranking, TieOrder, tie_numbers

_NO_CUTOFF = np.iinfo(np.int64).max


def measure(
    names: Iterable[str],
    y: ArrayLike,
    scores: ArrayLike,
    offsets: ArrayLike,
    *,
    doc_ids: ArrayLike | None = None,
    unranked: tuple[ArrayLike, ArrayLike] | None = None,
    judged: ArrayLike | None = None,
) -> dict[str, FloatArray]:
    """Measures of one ranker or of many, per query.

    Returns a dictionary from each name (our own, whatever name was given), in the order given, to its values, shape
    (n_queries,) or (n_queries, n_rankers). Raises `InputError` if a name is unknown, shapes do not agree, a score is
    NaN or a grade is not a small whole number.

    Parameters
    ----------
    names : names of measures, such as ``ndcg@10/letor4``
    y : (n_documents,) integer grades
    scores : (n_documents,) scores of one ranker, or (n_documents, n_rankers) of many; the highest comes first, and a document
        with minus infinity is not in the list: if it is relevant, it is missed
    offsets : (n_queries + 1,) bounds of the queries, as `qdrank.layout.query_offsets` gives them
    doc_ids : (n_documents,) document ids, for the ``trec`` convention's ties
    unranked : grades and offsets of judged documents that no ranker returned, see `Judgements`
    judged : (n_documents,) whether each document is judged; all are by default
    """
    return measure_ranked(names, Judgements(y, offsets, doc_ids, unranked, judged), scores)


def measure_ranked(names: Iterable[str], judgements: Judgements, scores: ArrayLike) -> dict[str, FloatArray]:
    """Like `measure`, for judgements that are reused for many scores."""
    wanted = definitions(names)
    matrix = np.asarray(scores)
    if matrix.ndim == 1:
        return _one_ranker(wanted, judgements, matrix)
    if matrix.ndim != 2:
        raise InputError(f"scores must have one or two dimensions, not {matrix.ndim}")
    values = {name: np.empty((len(judgements.n_documents), matrix.shape[1])) for name in wanted.order}
    for ranker in range(matrix.shape[1]):
        for name, column in _one_ranker(wanted, judgements, matrix[:, ranker]).items():
            values[name][:, ranker] = column
    return values


class Definitions(list[tuple[Definition, bool, list[tuple[int, Measure]]]]):
    """Each requested definition, whether it is for judged documents only, and its measures by ascending cutoff."""

    order: list[str]


def definitions(names: Iterable[str]) -> Definitions:
    """What is behind the names of measures: one entry for all cutoffs of a definition."""
    measures = [parse(name) for name in dict.fromkeys(names)]
    entries = Definitions()
    entries.order = [m.name for m in measures]
    for name, parameters in dict.fromkeys((m.definition, m.parameters) for m in measures):
        given = dict(parameters)
        only_judged = bool(given.pop("judged_only", False))
        alike = [m for m in measures if (m.definition, m.parameters) == (name, parameters)]
        wanted = sorted(((m.cutoff or _NO_CUTOFF, m) for m in alike), key=lambda pair: pair[0])
        entries.append((replace(MEASURES[name], **given) if given else MEASURES[name], only_judged, wanted))
    return entries


@dataclass(frozen=True, eq=False)
class Rankings:
    """One ranker's scores: all documents, or only the judged ones, each sorted once per rule for ties."""

    judgements: Judgements
    scores: FloatArray
    sorted: dict[tuple[TieOrder, bool], Ranking] = field(default_factory=dict)

    @classmethod
    def of(cls, judgements: Judgements, scores: FloatArray) -> Rankings:
        """The rankings of the documents that are in the lists: those with a score above minus infinity."""
        absent = scores == -np.inf
        if absent.shape == judgements.grades.shape and absent.any():
            judgements, scores = judgements.only(~absent), scores[~absent]
        return cls(judgements, scores)

    def lists(self, only_judged: bool) -> tuple[Judgements, FloatArray]:
        """Judgements and scores, of all documents or of the judged ones."""
        if not only_judged:
            return self.judgements, self.scores
        return self.judgements.only_judged, self.scores[self.judgements.judged]

    def ranked(self, ties: TieOrder, only_judged: bool) -> Ranking:
        """The documents in their order."""
        if (ties, only_judged) not in self.sorted:
            judgements, scores = self.lists(only_judged)
            self.sorted[ties, only_judged] = judgements.ranked(scores, ties)
        return self.sorted[ties, only_judged]


def _one_ranker(entries: Definitions, judgements: Judgements, scores: FloatArray) -> dict[str, FloatArray]:
    """Each measure's values, shape (n_queries,): one sort per rule for ties, one pass per definition."""
    values: dict[str, FloatArray] = {}
    rankings = Rankings.of(judgements, scores)
    for definition, only_judged, wanted in entries:
        ranking = rankings.ranked(definition.ties, only_judged)
        columns = definition.values(ranking, np.array([cutoff for cutoff, _ in wanted]))
        values.update({m.name: columns[:, i] for i, (_, m) in enumerate(wanted)})
    return {name: values[name] for name in entries.order}


def average_precision(y: ArrayLike, scores: ArrayLike, offsets: ArrayLike) -> FloatArray:
    """Average precision of each query, shape (n_queries,), or (n_queries, n_rankers) for a matrix of scores."""
    return measure(["ap"], y, scores, offsets)["ap"]


def ndcg(y: ArrayLike, scores: ArrayLike, offsets: ArrayLike, k: int = 10, convention: str = "exp") -> FloatArray:
    """NDCG@k of each query, shape (n_queries,), or (n_queries, n_rankers) for a matrix of scores."""
    name = f"ndcg@{k}/{convention}"
    return measure([name], y, scores, offsets)[name]


class TieValues(NamedTuple):
    """A measure of each query over the orders of its tied documents, each of shape (n_queries,)."""

    worst: FloatArray
    expected: FloatArray
    best: FloatArray


def tie_values(names: Iterable[str], judgements: Judgements, scores: ArrayLike) -> dict[str, TieValues]:
    """Each measure over the orders of tied documents."""
    rankings = Rankings.of(judgements, np.asarray(scores))
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
