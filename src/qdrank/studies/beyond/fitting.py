"""The job that fits rankers and controls of a fold: all, or those of one step of the ladder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged, refits_table
from qdrank.queries.artifacts import load_queries
from qdrank.queries.recipe import load_document_vectors
from qdrank.rankers.documents import FeatureScale, fold_documents
from qdrank.rankers.served import ServedRanker, write_method, write_ranker
from qdrank.rankers.stored import read_ranker
from qdrank.store import read, write
from qdrank.studies.beyond.checks import checks_table, recurrence_table, without_near
from qdrank.studies.beyond.fold import Ladder, control_values, fold_data, further_scores, setting_choices
from qdrank.studies.beyond.gathering import values_table
from qdrank.studies.beyond.methods import CONTROLS
from qdrank.studies.beyond.options import Options
from qdrank.studies.beyond.rejudged import Rejudging
from qdrank.studies.beyond.steps import (
    CHECKING,
    FITTED_APART,
    controls_stored,
    controls_taken,
    fitted_without_near,
    methods_needed,
    methods_refitted,
    methods_tuned,
)
from qdrank.text.extract import read_collection, text_settings


def fit_steps(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    steps: Sequence[str],
    beyond: Mapping[str, Any],
    queries: Mapping[str, Any],
    scale: FeatureScale,
    refits: int,
    source: Mapping[str, Any],
    text: Mapping[str, Any],
    log: Callable[..., None],
) -> None:
    """Write choices, values of the controls, scores of all fits, rankers, and with the first step checks.

    ``files`` has the stored rankers and controls that the steps begin with, by method. ``beyond`` holds the keys of `Options`,
    ``queries`` the options of query vectors. ``source`` holds the arguments of `read_collection`, empty if the data are no
    raw text, and ``text`` that section of the configuration.
    """
    documents = fold_documents(load_judged(files["judged"]), fold, scale)
    topics, reference = read(files["topics"], "topics"), reference_column(files["columns"])
    data = fold_data(documents, load_queries(files["queries"]), topics, reference)
    needed = {name: read_ranker(files[name]).ranker for name in methods_needed(steps)}
    ladder = Ladder(data, Options(**beyond), log, rankers=needed)
    for method in controls_taken(steps):
        ladder.take(CONTROLS[method], read_ranker(files[f"control_{method}"]).ranker, FITTED_APART[method][-1])
    ladder.climb(steps)
    write_values(out, fold, ladder, steps, refits)
    if CHECKING in steps:
        seed = ladder.options.seed
        rejudging = Rejudging(read_collection(**source), text_settings(text, seed)) if source else None
        write(out["checks"], "figure", checks_table(fold, ladder, rejudging))
        write(out["recurrence"], "figure", recurrence_table(fold, ladder))
    view = documents.view()
    recipe = load_document_vectors(files, queries, missing=view.missing)
    write_methods(out, ladder, steps, partial(ServedRanker, fold=fold, documents=view, queries=recipe))


def write_values(out: Mapping[str, str], fold: str, ladder: Ladder, steps: Sequence[str], refits: int) -> None:
    """Write choices, values of the controls, and scores of further fits, ``refits`` fits in all."""
    test = ladder.data.test[0]
    write(out["choices"], "choices", setting_choices(fold, ladder))
    apart = [CONTROLS[method] for method in controls_stored(steps)]
    tables = [values_table(fold, test.query_id, control_values(ladder, refits, apart), 0.0)]
    for method in methods_refitted(steps) if refits > 1 else ():
        write(out[f"refits_{method}"], "refits", refits_table(test, further_scores(ladder, method, refits)))
    names = fitted_without_near(steps)
    for near in ladder.options.near if names else ():
        ladder.log(f"without queries of similarity {near:g} or more")
        tables.append(values_table(fold, test.query_id, without_near(ladder, near, names), near))
    write(out["controls"], "figure", pa.concat_tables(tables))


def write_methods(
    out: Mapping[str, str], ladder: Ladder, steps: Sequence[str], served: Callable[..., ServedRanker]
) -> None:
    """Write scores and rankers of the methods of some steps, and controls that another job fits.

    ``served`` knows how they see documents and queries.
    """
    for method in methods_tuned(steps):
        ranker = served(method=method, ranker=ladder.rankers[method])
        write_method(out[method], out[f"served_{method}"], ranker, ladder.data.test[0], ladder.scores[method])
    for method in controls_stored(steps):
        control = served(method=CONTROLS[method], ranker=ladder.rankers[CONTROLS[method]])
        write_ranker(out[f"control_{method}"], control)
