"""Published figures beside our own: whether ours is within the band, and whether the right method is the nearest.

A file ``resources/expected/<data set>.yaml`` holds the figures with bands, sources and convention. A band is the spread between
independent runs of the same method. Since methods differ by little more than that, a band alone accepts the figures of
other methods too. So a figure "agrees" only if it is within the band and no other published method is nearer, and
the table ends with how often the right method is the nearest, against chance. A figure that is only recalled, because
its source could not be opened, is compared like the others but gates nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from qdrank.errors import InputError
from qdrank.evaluation.values import FoldMeans
from qdrank.measures.names import parse
from qdrank.registry import did_you_mean
from qdrank.sections import Section

N_FOLDS = 5
LAST_DIGIT = 1e-4
"""MethodFigures are published to four digits."""
AGREES, ANOTHER, DIFFERS = "agrees", "nearer to another method", "differs"
NO_BAND, NOT_MEASURED = "no band", "not measured"


class FigureSource(Section):
    """Where figures were published, and whether we have seen that source.

    ``together`` names a source whose other methods were run in the same way: theirs are the figures to be told apart from.
    """

    text: str
    certainty: Literal["verified", "recalled"]
    together: str = ""


class MethodFigures(Section):
    """What one source says of one method: means over folds, and where known the folds themselves.

    ``exact`` marks a method without any choice or chance, whose figures must come out to the last digit. ``counts`` is false
    for a method that the source does not mention, which is in the table to show that it differs.
    """

    method: str
    source: str
    values: dict[str, float]
    folds: dict[str, list[float]] = Field(default_factory=dict)
    exact: bool = False
    counts: bool = True
    note: str = ""


class PublishedFigures(Section):
    """The published figures of one data set; the numbers of queries and documents identify the data.

    ``bands`` has the largest difference between two runs of one method, by measure, for means of five folds; ``fold_bands`` for
    single folds. A measure without a band is compared with the other methods only.
    """

    dataset: str
    queries: int
    documents: int
    convention: str
    bands: dict[str, float] = Field(default_factory=dict)
    fold_bands: dict[str, float] = Field(default_factory=dict)
    sources: dict[str, FigureSource]
    figures: list[MethodFigures]

    @model_validator(mode="after")
    def _names_are_known(self) -> PublishedFigures:
        for name in [*(f.source for f in self.figures), *(s.together for s in self.sources.values() if s.together)]:
            if name not in self.sources:
                raise ValueError(f"unknown source {name!r}: {did_you_mean(name, list(self.sources))}")
        for name in [*self.bands, *self.fold_bands, *(n for f in self.figures for n in [*f.values, *f.folds])]:
            parse(name)
        return self

    def compared_with(self, source: str) -> str:
        """The source with whose methods the figures of ``source`` are compared."""
        return self.sources[source].together or source


def load_expected(path: str | PathLike[str]) -> PublishedFigures:
    """Published figures of the file at ``path``."""
    try:
        return PublishedFigures.model_validate(yaml.safe_load(Path(path).read_text(encoding="utf-8")))
    except (InputError, ValidationError, yaml.YAMLError) as problem:
        raise InputError("the published figures cannot be read", file=path, found=str(problem)) from problem


def compare_published(
    expected: PublishedFigures, measured: Mapping[str, Mapping[str, FoldMeans]], *, queries: int, documents: int
) -> list[dict[str, Any]]:
    """Rows published / ours / difference / nearest / verdict, one per figure and reading, in the order of the file.

    Parameters
    ----------
    measured : for each method and measure, its five folds
    queries, documents
        Size of the data that were measured; a sample is refused, for its figures say nothing about the whole.
    """
    if (queries, documents) != (expected.queries, expected.documents):
        raise InputError(
            f"the published figures of {expected.dataset} are of {expected.queries} queries and "
            f"{expected.documents} documents, these data have {queries} and {documents}",
            fix="compare only the complete data set",
        )
    return [row for figures in expected.figures for row in _rows(expected, figures, measured.get(figures.method, {}))]


def _rows(
    expected: PublishedFigures, figures: MethodFigures, ours: Mapping[str, FoldMeans]
) -> Iterator[dict[str, Any]]:
    for measure, value in figures.values.items():
        means = ours.get(measure)
        yield _row(expected, figures, measure, None, value, _mean_of_all(means, figures))
    for measure, values in figures.folds.items():
        folds = ours[measure].folds if measure in ours else {}
        for number, value in enumerate(values):
            yield _row(expected, figures, measure, number, value, folds.get(f"fold{number + 1}"))


def _mean_of_all(means: FoldMeans | None, figures: MethodFigures) -> float | None:
    """Mean of the folds; None if some were not run, because the mean of a few is another figure."""
    whole = max((len(values) for values in figures.folds.values()), default=N_FOLDS)
    return None if means is None or len(means.folds) < whole else means.published


def _row(
    expected: PublishedFigures,
    figures: MethodFigures,
    measure: str,
    fold: int | None,
    published: float,
    ours: float | None,
) -> dict[str, Any]:
    bands = expected.bands if fold is None else expected.fold_bands
    band = LAST_DIGIT if figures.exact else bands.get(measure)
    others = _others(expected, figures, measure, fold)
    difference = None if ours is None else ours - published
    closest = None if ours is None or not others else _nearest(ours, {figures.method: published, **others})
    return {
        "dataset": expected.dataset,
        "method": figures.method,
        "measure": measure,
        "fold": "mean" if fold is None else f"fold{fold + 1}",
        "published": published,
        "ours": ours,
        "difference": difference,
        "band": band,
        "nearest": closest,
        "methods": 1 + len(others),
        "others in the band": _accepted(ours, band, others),
        "verdict": agreement(difference, band, nearest=closest, method=figures.method),
        "counts": figures.counts,
        "source": figures.source,
        "certainty": expected.sources[figures.source].certainty,
        "note": figures.note,
    }


def _others(expected: PublishedFigures, figures: MethodFigures, measure: str, fold: int | None) -> dict[str, float]:
    """The same figure of the other methods of the source."""
    nearest: dict[str, float] = {}
    for other in expected.figures:
        same = expected.compared_with(other.source) == expected.compared_with(figures.source)
        if same and other.counts and other.method != figures.method:
            values = {0: other.values.get(measure)} if fold is None else dict(enumerate(other.folds.get(measure, [])))
            if (value := values.get(fold or 0)) is not None:
                nearest.setdefault(other.method, value)
    return nearest


def _nearest(ours: float, published: Mapping[str, float]) -> list[str]:
    """Methods whose figure is nearest to ours; several where they are equally near to the fourth digit."""
    apart = {method: round(abs(ours - value), 4) for method, value in published.items()}
    return [method for method, distance in apart.items() if distance == min(apart.values())]


def _accepted(ours: float | None, band: float | None, others: Mapping[str, float]) -> int | None:
    if ours is None or band is None:
        return None
    return sum(round(abs(ours - value), 4) <= band for value in others.values())


def agreement(
    difference: float | None, band: float | None, *, nearest: list[str] | None = None, method: str = ""
) -> str:
    """Whether a difference is within its band (to the fourth digit, as figures are published) and no method is nearer."""
    if difference is None:
        return NOT_MEASURED
    if band is not None and round(abs(difference), 4) > band:
        return DIFFERS
    if nearest and method not in nearest:
        return ANOTHER
    return NO_BAND if band is None else AGREES


@dataclass(frozen=True)
class Nearest:
    """How often the right method is the nearest.

    Attributes
    ----------
    right : number of figures whose own method is nearest; a tie of n methods counts 1/n
    figures : number of figures that could be compared with another method's
    chance : what a method picked at random would have reached
    """

    right: float
    figures: int
    chance: float

    @property
    def text(self) -> str:
        """The count as a table shows it."""
        if not self.figures:
            return "nothing to compare"
        shares = f"{self.right / self.figures:.0%}, by chance {self.chance / self.figures:.0%}"
        return f"right method nearest in {self.right:.4g} of {self.figures} ({shares})"


def right_method_nearest(rows: Iterable[Mapping[str, Any]]) -> Nearest:
    """Count the figures whose own method is the nearest of all that the source has."""
    asked = [row for row in rows if row["nearest"] and row["counts"]]
    right = sum(1 / len(row["nearest"]) for row in asked if row["method"] in row["nearest"])
    return Nearest(right, len(asked), sum(1 / row["methods"] for row in asked))
