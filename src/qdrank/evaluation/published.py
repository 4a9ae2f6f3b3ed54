"""Published figures beside our own: published, ours, difference, verdict.

A file ``resources/expected/<data set>.yaml`` holds the figures with their tolerance, source and convention. A figure
that is only recalled, because its source could not be opened, is compared like the others but gates nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from qdrank.errors import InputError
from qdrank.measures import FoldMeans, parse
from qdrank.registry import did_you_mean

N_FOLDS = 5
Agreement = Literal["agrees", "differs", "not measured"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FigureSource(_Strict):
    """Where figures stand, and whether that place was seen."""

    text: str
    certainty: Literal["verified", "recalled"]


class Tolerance(_Strict):
    """Largest difference at which two figures still agree, for average precision and for the other measures."""

    ap: float
    other: float

    def of(self, measure: str) -> float:
        """Tolerance of one measure."""
        return self.ap if measure == "ap" else self.other


class MethodFigures(_Strict):
    """What one source says of one method: means over folds, and where known the folds themselves."""

    method: str
    source: str
    values: dict[str, float]
    folds: dict[str, list[float]] = {}
    note: str = ""


class PublishedFigures(_Strict):
    """The published figures of one data set; the numbers of queries and documents say which data they are of."""

    dataset: str
    queries: int
    documents: int
    convention: str
    tolerance: Tolerance
    sources: dict[str, FigureSource]
    figures: list[MethodFigures]

    @model_validator(mode="after")
    def _names_are_known(self) -> PublishedFigures:
        for figures in self.figures:
            if figures.source not in self.sources:
                raise ValueError(
                    f"unknown source {figures.source!r}: {did_you_mean(figures.source, list(self.sources))}"
                )
            for name in [*figures.values, *figures.folds]:
                parse(name)
        return self


def load_expected(path: str | PathLike[str]) -> PublishedFigures:
    """Published figures of the file at ``path``."""
    try:
        return PublishedFigures.model_validate(yaml.safe_load(Path(path).read_text(encoding="utf-8")))
    except (InputError, ValidationError, yaml.YAMLError) as problem:
        raise InputError("the published figures cannot be read", file=path, found=str(problem)) from problem


def compare_published(
    expected: PublishedFigures, measured: Mapping[str, Mapping[str, FoldMeans]], *, queries: int, documents: int
) -> list[dict[str, Any]]:
    """Rows published / ours / difference / verdict, one per figure, in the order of the file.

    Parameters
    ----------
    measured
        For each method and measure, its five folds.
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
        yield _row(expected, figures, measure, "mean", value, _mean_of_all(means, figures))
    for measure, values in figures.folds.items():
        folds = ours[measure].folds if measure in ours else {}
        for number, value in enumerate(values, start=1):
            yield _row(expected, figures, measure, f"fold{number}", value, folds.get(f"fold{number}"))


def _mean_of_all(means: FoldMeans | None, figures: MethodFigures) -> float | None:
    """Mean of the folds; none where some were not run, for the mean of a few is another figure."""
    whole = max((len(values) for values in figures.folds.values()), default=N_FOLDS)
    return None if means is None or len(means.folds) < whole else means.published


def _row(
    expected: PublishedFigures, figures: MethodFigures, measure: str, fold: str, published: float, ours: float | None
) -> dict[str, Any]:
    tolerance = expected.tolerance.of(measure)
    # A fold is a fifth of the queries: its mean scatters more.
    allowed = tolerance if fold == "mean" else 2 * tolerance
    difference = None if ours is None else ours - published
    return {
        "dataset": expected.dataset,
        "method": figures.method,
        "measure": measure,
        "fold": fold,
        "published": published,
        "ours": ours,
        "difference": difference,
        "tolerance": allowed,
        "verdict": agreement(difference, allowed),
        "source": figures.source,
        "certainty": expected.sources[figures.source].certainty,
        "note": figures.note,
    }


def agreement(difference: float | None, tolerance: float) -> Agreement:
    """Whether a difference is within its tolerance (to the fourth digit, as figures are published)."""
    if difference is None:
        return "not measured"
    return "agrees" if round(abs(difference), 4) <= tolerance else "differs"
