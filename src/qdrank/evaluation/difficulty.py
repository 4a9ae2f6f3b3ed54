"""Any measure of any method by the difficulty of the queries: how many relevant documents each has.

Lin et al. (AIRS 2011) call a query hard with fewer than 4 relevant documents, normal with 4 to 20, easy with more.
Queries with none are a class apart: no ranking of their documents is better than another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.evaluation.comparison import holm, paired_t
from qdrank.evaluation.estimates import doubt, table_ends
from qdrank.evaluation.values import Pairs, cube
from qdrank.layout import FloatArray, IntArray

#: Least and greatest number of relevant documents of each class; None: no limit.
DIFFICULTY_CLASSES: dict[str, tuple[int, int | None]] = {"hard": (1, 3), "normal": (4, 20), "easy": (21, None)}
NONE, OTHER, ALL = "none", "other", "all"
NONE_MEANING = "no relevant document"


@dataclass(frozen=True)
class Difficulty:
    """Queries in classes.

    Attributes
    ----------
    query_id : (n_queries,) names
    relevant : (n_queries,) numbers of relevant documents
    name : (n_queries,) class of each; "none" where nothing is relevant, "other" where no class fits
    bounds : least and greatest number of relevant documents by class, in order
    """

    query_id: NDArray[np.object_]
    relevant: IntArray
    name: NDArray[np.object_]
    bounds: Mapping[str, tuple[int, int | None]]

    @property
    def present(self) -> list[str]:
        """Classes that have queries, in order, those without relevant documents first."""
        known = set(self.name.tolist())
        return [name for name in (NONE, *self.bounds, OTHER) if name in known]

    def of(self, query_id: NDArray[Any]) -> NDArray[np.object_]:
        """Class of each of some queries, joined on their ids."""
        known = dict(zip(self.query_id.tolist(), self.name.tolist(), strict=True))
        missing = [query for query in query_id.tolist() if query not in known]
        if missing:
            raise InputError(f"query {missing[0]} is measured, but has no judged documents")
        return np.array([known[query] for query in query_id.tolist()], dtype=object)

    def meaning(self, name: str) -> str:
        """A class in words: its numbers of relevant documents."""
        if name not in self.bounds:
            return {NONE: NONE_MEANING, OTHER: "in no class", ALL: "all queries"}[name]
        low, high = self.bounds[name]
        return f"{low} or more relevant" if high is None else f"{low} to {high} relevant"


def difficulty(judged: Judged, bounds: Mapping[str, Sequence[int | None]] | None = None) -> Difficulty:
    """Put the queries of a data set into classes.

    Parameters
    ----------
    judged : the data set; a document of grade 1 or more is relevant, also one that is not among the candidates
    bounds : least and greatest number of relevant documents of each class; default `DIFFICULTY_CLASSES`
    """
    checked = _checked(DIFFICULTY_CLASSES if bounds is None else bounds)
    relevant = judged.n_relevant
    name = np.full(len(relevant), OTHER, dtype=object)
    name[relevant == 0] = NONE
    for label, (low, high) in checked.items():
        name[(relevant >= low) & (relevant <= (relevant.max(initial=0) if high is None else high))] = label
    return Difficulty(judged.query_id, relevant, name, checked)


def _checked(bounds: Mapping[str, Sequence[int | None]]) -> dict[str, tuple[int, int | None]]:
    """Classes that do not overlap, each with a different name."""
    ranges: dict[str, tuple[int, int | None]] = {}
    last: int | None = 0
    for name, (low, high) in bounds.items():
        if name in (NONE, OTHER, ALL):
            raise InputError(f"a difficulty class cannot be called {name!r}", fix="choose another name")
        if low is None or last is None or low <= last or (high is not None and high < low):
            raise InputError(
                f"difficulty class {name!r} does not follow the one before it",
                found=f"{low} to {high}",
                fix="give least and greatest numbers of relevant documents, rising, for example hard: [1, 3]",
            )
        ranges[name] = (int(low), None if high is None else int(high))
        last = ranges[name][1]
    return ranges


def breakdown(
    measures: pd.DataFrame,
    classes: Difficulty,
    names: Sequence[str],
    *,
    baseline: str,
    methods: Sequence[str] | None = None,
    interval: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Mean of every method in every class, and its difference from the baseline with interval and paired t test.

    Parameters
    ----------
    measures : artifact ``measures``, one row per test query and method
    classes : classes of these queries
    names : measures to break down
    baseline : method that the others are compared with
    methods : methods to show; default all that are measured, in the order of ``measures``
    interval : ``seed``, ``resamples`` and ``level`` of the bootstrap

    A row is of a measure, class and method. ``p_holm`` is corrected for all classes and methods of a measure. There is no p for the
    baseline, for queries without relevant documents, and where the bootstrap does not confirm Student's interval; where too few
    queries differ (`qdrank.evaluation.intervals`) there is no interval either, and ``lacks`` says why.
    """
    known = list(measures["method"].unique())
    shown = known if methods is None else [method for method in methods if method in known]
    if baseline not in known:
        raise InputError(f"the baseline {baseline!r} is not measured", fix="measured are " + ", ".join(known))
    order = list(dict.fromkeys([baseline, *shown]))
    rows = [row for name in names for row in _of_measure(measures, classes, name, order, dict(interval or {"seed": 1}))]
    return pd.DataFrame(rows, columns=[*_TEXTS, "queries", *_NUMBERS]).astype(dict.fromkeys(_NUMBERS, float))


_TEXTS = ("measure", "class", "relevant", "method", "lacks")
_NUMBERS = ("share", "mean", "low", "high", "difference", "difference_low", "difference_high", "p", "p_holm")


def _of_measure(
    measures: pd.DataFrame, classes: Difficulty, name: str, methods: Sequence[str], interval: Mapping[str, Any]
) -> list[dict[str, Any]]:
    found, names, cubed = cube(measures[measures["method"].isin(methods)], ["method"], name)
    place = found["method"].tolist().index
    ids, values = names.to_numpy(object), cubed[:, :, [place(method) for method in methods]]
    class_of = classes.of(ids)
    classes_shown = {ALL: np.ones(len(class_of), dtype=bool)} | {one: class_of == one for one in classes.present}
    rows = [
        {"measure": name, "class": one, "relevant": classes.meaning(one), **row}
        for one, inside in classes_shown.items()
        if inside.any()
        for row in _of_class(ids[inside], values[inside], methods, len(ids), interval, tested=one != NONE)
    ]
    # the row of all queries is not a further test: the classes make it up
    asked = {i: row["p"] for i, row in enumerate(rows) if row["p"] is not None and row["class"] != ALL}
    corrected = holm(asked)
    return [row | {"p_holm": corrected.get(i)} for i, row in enumerate(rows)]


def _of_class(
    ids: NDArray[Any],
    values: FloatArray,
    methods: Sequence[str],
    total: int,
    interval: Mapping[str, Any],
    *,
    tested: bool,
) -> Iterator[dict[str, Any]]:
    for i, method in enumerate(methods):
        row: dict[str, Any] = {"method": method, "queries": len(ids), "share": len(ids) / total}
        row |= {"mean": float(values[:, :, i].mean()), **_bounds(values[:, :, i], interval, "")}
        pairs = Pairs(ids, values[:, :, i], values[:, :, 0])
        row |= {"difference": float(pairs.differences.mean()), **_bounds(pairs.by_fit, interval, "difference_")}
        lacks = doubt(pairs.by_fit, 1 - interval.get("level", 0.95)) if i > 0 else ""
        yield row | {"p": paired_t(pairs).p if tested and i > 0 and not lacks else None, "lacks": lacks}


def _bounds(values: FloatArray, interval: Mapping[str, Any], prefix: str) -> dict[str, float]:
    """Ends of the interval of the mean of ``values`` (n_queries, n_fits); nan where they lack what it needs."""
    return dict(zip((f"{prefix}low", f"{prefix}high"), table_ends(values, **interval), strict=True))
