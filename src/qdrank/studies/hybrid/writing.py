"""The two jobs of a fold: the papers' methods, and everything else that the study computes on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.columns import reference_column
from qdrank.datasets.folds import ROLES
from qdrank.datasets.judged import Judged, load_judged, refits_table
from qdrank.datasets.runs.scaling import COLUMNS
from qdrank.layout import FloatArray, rows_of
from qdrank.queries.artifacts import load_queries
from qdrank.queries.predictors import RunPredictors, text_predictors
from qdrank.queries.recipe import load_document_vectors
from qdrank.rankers.documents import FoldDocuments, fold_documents
from qdrank.rankers.run_weights import FixedWeights
from qdrank.rankers.served import ServedRuns, write_method
from qdrank.rankers.stored import read_ranker
from qdrank.store import read, write
from qdrank.studies.hybrid.choices import choices_table
from qdrank.studies.hybrid.curves import learning_curve, weight_curves
from qdrank.studies.hybrid.fold import FoldData, Methods
from qdrank.studies.hybrid.methods import CHOSEN, CONTROLS, EVIDENCE, OF_CHOSEN, REFITTED
from qdrank.studies.hybrid.options import Options
from qdrank.studies.hybrid.oracle import Oracles, oracle_table
from qdrank.studies.hybrid.tables_of_fold import checks_table, single_runs, values_table

#: How the first column of a run is named; its tag follows.
_FIRST = f"{COLUMNS[0]} "
#: Methods that see documents as linear learners do, scaled.
_SCALED = ("hybrid-linear", EVIDENCE)
#: Methods whose query vectors are predictors.
_PREDICTED = ("hybrid-ridge", "hybrid-trees", "hybrid-select", "hybrid-lambdamart-queries")


def write_fold(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    fold: str,
    *,
    scale: Any,
    queries: Mapping[str, Any],
    hybrid: Mapping[str, Any],
    methods: Sequence[str],
    log: Callable[[str], object],
) -> None:
    """Tune and score all methods and controls of a fold but the papers'; write them, and the tables for figures."""
    seen = _Seen.read(files, fold, scale)
    made = Methods(seen.data, Options(**hybrid), log=log).run()
    _write_methods(files, out, seen, made, queries, methods)
    _write_shown(out, seen, made, log)


def write_papers(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    fold: str,
    *,
    scale: Any,
    queries: Mapping[str, Any],
    hybrid: Mapping[str, Any],
    methods: Sequence[str],
    log: Callable[[str], object],
) -> None:
    """Tune and score the papers' methods and their controls, in the norm of the tuned fixed weights; write them."""
    seen = _Seen.read(files, fold, scale)
    made = Methods(seen.data, Options(**hybrid), log=log)
    fixed = read_ranker(files["fixed"]).ranker
    assert isinstance(fixed, FixedWeights)
    if methods:
        made.run_papers(fixed.norm)
    _write_methods(files, out, seen, made, queries, methods)
    write(out["controls"], "figure", values_table(fold, made, made.control_values()))


@dataclass(frozen=True, eq=False)
class _Seen:
    """What the jobs of a fold read: documents, how their queries become predictors, data by role, tags of the runs."""

    fold: str
    documents: FoldDocuments
    recipe: RunPredictors
    data: FoldData
    tags: tuple[str, ...]

    @classmethod
    def read(cls, files: Mapping[str, Any], fold: str, scale: Any) -> _Seen:
        documents = fold_documents(load_judged(files["judged"]), fold, scale)
        topics = read(files["topics"], "topics")
        recipe = _recipe(documents.parts["train"], topics)
        data = _fold_data(documents, load_queries(files["queries"]), recipe, topics, reference_column(files["columns"]))
        names = read(files["columns"], "columns").column("name").to_pylist()
        tags = tuple(name.removeprefix(_FIRST) for name in names if name.startswith(_FIRST))
        return cls(fold, documents, recipe, data, tags)


def _write_methods(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    seen: _Seen,
    made: Methods,
    queries: Mapping[str, Any],
    methods: Sequence[str],
) -> None:
    """Scores, rankers, further fits and choices."""
    documents, test = seen.documents, seen.documents.parts["test"]
    for method in methods:
        name = made.chosen() if method == CHOSEN else method
        vectors = seen.recipe if name in _PREDICTED else _document_vectors(files, queries, documents)
        view, ranker = documents.view(scaled=name in _SCALED), made.rankers[name]
        served = ServedRuns(
            method=method, fold=seen.fold, documents=view, queries=vectors, ranker=ranker, tags=seen.tags
        )
        scores = made.fits_of(method)
        write_method(out[method], out[f"served_{method}"], served, test, scores[:, 0])
        if method in REFITTED and made.options.refits > 1:
            write(out[f"refits_{method}"], "refits", refits_table(test, list(scores.T[1:])))
    write(out["choices"], "choices", choices_table(seen.fold, made.tuned, made.tried))


def _write_shown(out: Mapping[str, str], seen: _Seen, made: Methods, log: Callable[[str], object]) -> None:
    """Tables behind figures and evidence."""
    fold, options = seen.fold, made.options
    oracles = Oracles(made.data.parts[2], made.fixed.settings_, made.fixed.place, made.norm)
    curves = oracles.curves()
    controls = made.control_values()
    values = {**controls, OF_CHOSEN: controls[CONTROLS[made.chosen()]], **single_runs(made, seen.tags)}
    write(out["controls"], "figure", values_table(fold, made, values))
    write(out["checks"], "figure", checks_table(fold, made, curves))
    write(out["weights"], "figure", weight_curves(fold, made))
    write(out["learning"], "figure", learning_curve(fold, made, curves))
    log("oracles over weights and over noise")
    write(out["oracle"], "figure", oracle_table(fold, oracles, curves, options.draws, options.seed))


def _document_vectors(files: Mapping[str, Any], queries: Mapping[str, Any], documents: FoldDocuments) -> Any:
    return load_document_vectors(files, queries, missing=documents.view().missing)


def _recipe(train: Judged, topics: pa.Table) -> RunPredictors:
    """How runs, and texts where all queries have one, become predictors."""
    known = "run_scores" in topics.column_names
    _, texts = _scales_and_texts(train, topics)
    return text_predictors([] if None in texts else texts, raw=known)


def _scales_and_texts(part: Judged, topics: pa.Table) -> tuple[FloatArray | None, list[str | None]]:
    """Mean and deviation of the raw scores, (n_queries, 2 n_runs), None if not known; and the texts of the queries."""
    rows = topics.take(pa.array(rows_of(part.query_id, topics.column("query_id").to_numpy(zero_copy_only=False))))
    raw = None
    if "run_scores" in topics.column_names:
        raw = np.array(rows.column("run_scores").to_pylist(), dtype=np.float64)
    return raw, rows.column("text").to_pylist()


def _fold_data(
    documents: FoldDocuments, queries: Any, recipe: RunPredictors, topics: pa.Table, reference: int
) -> FoldData:
    """Documents, vectors and predictors by role, joined on the ids of the queries."""
    parts = [documents.parts[role] for role in ROLES]
    vectors = [queries.of(part.query_id) for part in parts]
    predictors = [recipe.vectors(part.X, part.offsets, *_scales_and_texts(part, topics)) for part in parts]
    return FoldData(
        parts=(parts[0], parts[1], parts[2]),
        scaled=(documents.seen("train"), documents.seen("vali"), documents.seen("test")),
        vectors=(vectors[0], vectors[1], vectors[2]),
        predictors=(predictors[0], predictors[1], predictors[2]),
        reference=reference,
    )
