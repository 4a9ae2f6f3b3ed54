"""The job that fits rankers and controls of a fold: all, or those of one step of the ladder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.queries.artifacts import load_queries
from qdrank.queries.recipe import load_document_vectors
from qdrank.rankers.documents import FeatureScale, fold_documents
from qdrank.rankers.served import ServedRanker, write_method
from qdrank.rankers.stored import read_ranker
from qdrank.store import read, write
from qdrank.studies.beyond.checks import checks_table, recurrence_table, without_near
from qdrank.studies.beyond.fold import Ladder, control_values, fold_data, setting_choices
from qdrank.studies.beyond.options import Options
from qdrank.studies.beyond.rejudged import Rejudging
from qdrank.studies.beyond.steps import CHECKING, methods_needed, methods_tuned
from qdrank.studies.beyond.values import values_table
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
    """Write choices, values of the controls, and scores and rankers of the methods of some steps; with the first, checks.

    ``files`` has the stored rankers that the steps begin with, by method. ``beyond`` holds the keys of `Options`,
    ``queries`` the options of query vectors. ``source`` holds the arguments of `read_collection`, empty if the data are no
    raw text, and ``text`` that section of the configuration.
    """
    documents = fold_documents(load_judged(files["judged"]), fold, scale)
    topics, reference = read(files["topics"], "topics"), reference_column(files["columns"])
    data = fold_data(documents, load_queries(files["queries"]), topics, reference)
    needed = {name: read_ranker(files[name]).ranker for name in methods_needed(steps)}
    ladder = Ladder(data, Options(**beyond), log, rankers=needed).climb(steps)
    test = documents.parts["test"]
    write(out["choices"], "choices", setting_choices(fold, ladder))
    tables = [values_table(fold, test.query_id, control_values(ladder, refits), 0.0)]
    for near in ladder.options.near:
        log("without queries of similarity %g or more", near)
        tables.append(values_table(fold, test.query_id, without_near(ladder, near), near))
    write(out["controls"], "figure", pa.concat_tables(tables))
    if CHECKING in steps:
        seed = ladder.options.seed
        rejudging = Rejudging(read_collection(**source), text_settings(text, seed)) if source else None
        write(out["checks"], "figure", checks_table(fold, ladder, rejudging))
        write(out["recurrence"], "figure", recurrence_table(fold, ladder))
    view = documents.view()
    recipe = load_document_vectors(files, queries, missing=view.missing)
    for method in methods_tuned(steps):
        served = ServedRanker(method=method, fold=fold, documents=view, queries=recipe, ranker=ladder.rankers[method])
        write_method(out[method], out[f"served_{method}"], served, test, ladder.scores[method])
