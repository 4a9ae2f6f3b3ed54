"""Rankers of a finished run by the names of their methods; scores for new queries in one call; a method for deployment.

ranker = load_ranker("results/mq2008/fold1", method="knn-offline1")
scores = ranker.score(X)
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged, load_judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, query_offsets, rows_of
from qdrank.learners import AGGREGATORS
from qdrank.queries.predictors import RunPredictors, text_predictors
from qdrank.queries.recipe import DocumentVectors, Recipe, topics_of
from qdrank.queries.vectors import Standardiser
from qdrank.rankers import served
from qdrank.rankers.documents import FeatureScale, prepared
from qdrank.rankers.learned import LearnerRanker
from qdrank.rankers.one_model import without_choice
from qdrank.rankers.served import ServedRanker, texts_array
from qdrank.rankers.stored import Searcher
from qdrank.registry import did_you_mean, loaded
from qdrank.store import read
from qdrank.studies import STUDIES, stored_kinds
from qdrank.workflow.recorded import FILE, command, recorded_options

#: Folder of the rankers, within the folder of a fold.
FOLDER = "served"
DEFAULT = "knn-offline1"


def load_ranker(
    folder: str | os.PathLike[str],
    method: str | None = None,
    *,
    k: float | None = None,
    lam: float | None = None,
) -> ServedRanker:
    """Load a method of a fold.

    Parameters
    ----------
    folder : a fold's results, for instance ``results/mq2008/fold1``, one file of its folder ``served``, or of `qdrank fit`
    method : any method that a study scored, such as "single" or "knn-offline1" (the default)
    k, lam : number of neighbours (up to 1: a share of the training queries) and lambda; by default those that the study
        chose. Others must have been trained, and are read from the models in the folder.

    Raises
    ------
    InputError : if there is no such ranker, or its models were not trained with these settings
    CorruptArtifact : if a file was changed after it was written
    """
    path, ranker = load_stored(folder, method)
    if not isinstance(ranker, ServedRanker):
        fix = "qdrank rank --queries FILE --format trec searches; qdrank features gives the scores of candidates as a feature"
        raise InputError(f"{ranker.method} searches the collection, and ranks no rows of features", file=path, fix=fix)
    fold = path.parent.parent
    if k is not None or lam is not None:
        ranker = _retuned(ranker, fold, k, lam)
    if ranker.ranker.needs("TRAINING"):
        ranker.remember(fold)
    return ranker


def load_stored(folder: str | os.PathLike[str], method: str | None = None) -> tuple[Path, ServedRanker | Searcher]:
    """The file of a method, and what it holds; parameters as for `load_ranker`."""
    path = _file_of(Path(folder), method)
    stored: ServedRanker | Searcher = served.read_ranker(path, kind_of)
    if method is not None and dict(_short_names()).get(method, method) != stored.method:
        raise InputError(f"this is the ranker {stored.method}, not {method}", file=path, fix="leave out the method")
    return path, stored


def kind_of(name: str) -> Any:
    """The class with the name of a stored object, be it of a study or general."""
    kinds = stored_kinds()
    return loaded(kinds[name]) if name in kinds else served.kind_of(name)


def _retuned(ranker: ServedRanker, fold: Path, k: float | None, lam: float | None) -> ServedRanker:
    """The ranker with other settings, which its study finds among the models in the folder of the fold."""
    retune = STUDIES[ranker.study].retune if ranker.study else ""
    if not retune:
        raise InputError(
            f"the settings of {ranker.method} are those that validation chose", fix="leave out k and lambda"
        )
    return replace(ranker, ranker=loaded(retune)(ranker.method, ranker.ranker, fold, k, lam))


# ---- files ---------------------------------------------------------------------------------------------------------


def _file_of(folder: Path, method: str | None) -> Path:
    """The file of a method; ``folder`` may be the file itself."""
    if folder.suffix == ".parquet" or folder.is_file():
        return folder
    place = folder / FOLDER
    path = place / f"{method or DEFAULT}.parquet"
    if path.is_file():
        return path
    return place / f"{_long_name(place, method or DEFAULT)}.parquet"


def _long_name(place: Path, method: str) -> str:
    """The method that a short name stands for; raise if it has no file."""
    folders, short = (place, place.parent / "scores"), dict(_short_names())
    there, scored = (sorted(file.stem for file in folder.glob("*.parquet")) for folder in folders)
    name = short.get(method, method)
    if name in there:
        return name
    if name in scored or not (there or scored):
        path = place / f"{name}.parquet"
        raise InputError(f"there is no ranker {name}", file=path, fix=_how_to_make(path))
    if name == DEFAULT:
        fix = f"name one of the methods that are: {', '.join(there or scored)}"
        raise InputError(f"{DEFAULT}, the default method, is not here", file=place, fix=fix)
    known = [*(there or scored), *(alias for alias, of in short.items() if of in there and alias != of)]
    raise InputError(f"unknown method {method!r}", file=place, fix=did_you_mean(method, known))


def _short_names() -> Iterator[tuple[str, str]]:
    """Short names that studies give to methods, and the methods."""
    return (pair for study in STUDIES for pair in STUDIES[study].served.items())


def _how_to_make(path: Path) -> str:
    """How to make a ranker, with the configuration used for its results."""
    results = path.parents[3] if len(path.parents) > 3 else path.parent
    if recorded_options(results) is None:
        return "give the folder of a fold of a finished run, such as results/mq2008/fold1"
    return f"make it: {command(results, path.relative_to(results.parent))}"


def rank(
    models: str | os.PathLike[str],
    X: NDArray[Any],
    query: Sequence[Any] | NDArray[Any] | None = None,
    *,
    method: str | None = None,
    query_columns: NDArray[Any] | None = None,
    text: Sequence[str] | None = None,
    doc_id: Sequence[str] | None = None,
    k: float | None = None,
    lam: float | None = None,
) -> FloatArray:
    """Score the documents of new queries with the models of a study; higher scores are better.

    Every call reads the models. To score many queries one by one, read them once with
    `qdrank.serving.ranking.load_ranker`.

    Parameters
    ----------
    models : a fold's results, for instance ``results/mq2008/fold1``, or one file of its folder ``served``
    X : (n_documents, n_features), the features that the models were trained on, in their order and units
    query : (n_documents,) query of each document, those of one query together; by default all belong to one query
    method : any method that a study scored, such as "single" or "knn-offline1" (the default)
    query_columns, text : (n_queries, own_columns) columns and (n_queries,) words of the queries, for rankers that use them
    doc_id : (n_documents,) names of the documents, for rankers that use them
    k, lam : number of neighbours and lambda; by default those that the study chose

    Returns
    -------
    array of shape (n_documents,)
    """
    names = np.zeros(len(X), dtype=np.int64) if query is None else np.asarray(query)
    if len(names) != len(X):
        raise InputError(
            f"{len(X)} documents need as many query ids", found=f"{len(names)}", fix="one for each row of X"
        )
    offsets = query_offsets(names)
    ranker = load_ranker(models, method, k=k, lam=lam)
    asked = None if query is None else [str(name) for name in names[offsets[:-1]]]
    return ranker.score_many(
        np.asarray(X), offsets, query_columns=query_columns, text=text, query_id=asked, doc_id=doc_id
    )


# ---- a method fitted on all judged queries, with the settings that most of its folds chose: what one deploys -------


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
    from qdrank.workflow.config_files import load_yaml  # takes as long as all that ranks

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
