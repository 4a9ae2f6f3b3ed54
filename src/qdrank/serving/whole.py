"""A method fitted on all judged queries of a data set, with the settings that most of its folds chose: what one deploys."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged, load_judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, rows_of
from qdrank.learners import AGGREGATORS
from qdrank.queries.predictors import RunPredictors, text_predictors
from qdrank.queries.recipe import DocumentVectors, Recipe, topics_of
from qdrank.queries.vectors import Standardiser
from qdrank.rankers.documents import FeatureScale, prepared
from qdrank.rankers.learned import LearnerRanker
from qdrank.rankers.one_model import without_choice
from qdrank.rankers.searcher import Searcher
from qdrank.rankers.served import ServedRanker, texts_array
from qdrank.serving.ranking import load_stored
from qdrank.store import read
from qdrank.workflow.config_files import load_yaml
from qdrank.workflow.recorded import FILE


def settings_of(stored: ServedRanker | Searcher) -> dict[str, Any]:
    """The settings of a method."""
    return stored.settings() if isinstance(stored, Searcher) else stored.ranker.settings()


def fitted_on_all(data: Path, method: str) -> tuple[ServedRanker | Searcher, list[str]]:
    """The method, and the folds that chose its settings; ``data`` is the folder of a data set's results.

    What chooses a number of rounds while it is fitted takes that of the first of these folds. What searches learns nothing else.
    """
    folds = sorted(path for path in data.glob("fold[1-5]") if (path / "served").is_dir())
    if not folds:
        fix = "give the folder of a data set of a finished run, such as results/mine"
        raise InputError("there is no fold with rankers here", file=data, fix=fix)
    stored = {fold.name: load_stored(fold, method)[1] for fold in folds}
    settings = {fold: repr([type(getattr(one, "ranker", one)), settings_of(one)]) for fold, one in stored.items()}
    most = Counter(settings.values()).most_common(1)[0][0]
    agreed = [fold for fold in stored if settings[fold] == most]
    chosen = stored[agreed[0]]
    return replace(chosen, fold="all") if isinstance(chosen, Searcher) else _fitted(chosen, data), agreed


def _fitted(chosen: ServedRanker, data: Path) -> ServedRanker:
    """The same method, fitted on all queries."""
    if chosen.ranker.needs("TRAINING"):
        fix = "ship another method, such as knn-offline1; or serve this one from the folder of a fold"
        raise InputError(
            f"{chosen.method} trains when a query arrives, from documents that no file of a model has", fix=fix
        )
    ranks = isinstance(chosen.ranker, LearnerRanker) and chosen.ranker.learner.NAME in AGGREGATORS
    judged = load_judged(data / ("ranks.parquet" if ranks else "judged.parquet"))
    documents = prepared({"train": judged}, _scale(chosen, data))
    ranker = without_choice(chosen.ranker.fresh(), chosen.ranker)
    scales = hasattr(ranker, "inverse")  # scales features itself
    if scales:
        vars(ranker).update(mean=documents.mean, inverse=documents.inverse)
    train = documents.parts["train"] if scales else documents.seen("train")
    topics = read(data / "topics.parquet", "topics")
    text = topics_of(topics, judged.query_id.tolist())[1]
    queries, vectors = _vectors(chosen, judged, topics)
    fitted = ranker.fit(replace(train, text=texts_array(text)), vectors)
    view = documents.view(scaled=not scales)
    return replace(chosen, study="", fold="all", documents=view, queries=queries, ranker=fitted)


def _scale(chosen: ServedRanker, data: Path) -> FeatureScale:
    """How the features were scaled for learning."""
    view = chosen.documents
    inverse = getattr(chosen.ranker, "inverse", view.inverse)
    if view.minmax:
        return "minmax"
    if (inverse != 1).any():
        return "zscore"
    if not chosen.study:
        return "given"
    # this study stores models in the units of the data
    training = load_yaml(data.parent / FILE).get("training", {})
    scale: FeatureScale = training.get("scale", "auto")
    return scale


def _vectors(chosen: ServedRanker, judged: Judged, topics: pa.Table) -> tuple[Recipe | None, FloatArray]:
    """The recipe of query vectors, standardised on all queries, and the vectors."""
    names = judged.query_id.tolist()
    columns, text = topics_of(topics, names)
    match chosen.queries:
        case None:
            return None, np.zeros((judged.n_queries, 0))
        case DocumentVectors() as recipe:
            own = columns[:, : recipe.own_columns]
            pooled = recipe.pooled(judged.X, judged.offsets, own)
            scaler = Standardiser(scale=recipe.standardise).fit(pooled)
            return replace(recipe, mean=scaler.mean_, deviation=scaler.scale_), scaler.transform(pooled)
        case RunPredictors(raw=raw):
            known = None
            if raw:
                rows = topics.take(rows_of(judged.query_id, topics.column("query_id").to_numpy(zero_copy_only=False)))
                known = np.array(rows.column("run_scores").to_pylist(), dtype=np.float64)
            made = text_predictors(text or [], raw=raw)
            return made, made.vectors(judged.X, judged.offsets, known, text)
    fix = "serve it from the folder of a fold"
    raise InputError(f"{chosen.method} looks at queries in a way that its study fits to a fold", fix=fix)
