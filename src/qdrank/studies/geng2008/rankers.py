"""The methods of the study as rankers for new queries, built from the models and choices of a fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.judged import load_judged
from qdrank.errors import InputError
from qdrank.queries.artifacts import Queries, load_neighbours, load_queries
from qdrank.queries.fitted import load_metric
from qdrank.queries.metrics import Euclidean
from qdrank.queries.recipe import Recipe, load_document_vectors, topics_of
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.documents import FeatureScale, FoldDocuments, fold_documents
from qdrank.rankers.one_model import LinearRanker
from qdrank.rankers.ready import ReadyModels
from qdrank.rankers.served import ServedRanker, write_ranker
from qdrank.rankers.sizes import Setting, neighbour_count
from qdrank.store import read
from qdrank.studies.geng2008.class_ranker import ClassRanker
from qdrank.studies.geng2008.fold import chosen_settings
from qdrank.studies.geng2008.global_models import GlobalModels
from qdrank.studies.geng2008.local_models import WEIGHTING, ModelBank
from qdrank.studies.geng2008.methods import LOCAL, OFFLINE, QC
from qdrank.studies.geng2008.online_ranker import OnlineRanker
from qdrank.studies.geng2008.options import Options
from qdrank.studies.geng2008.query_classes import K_MEANS, Classes, query_columns, true_classes, type_classifier
from qdrank.studies.geng2008.shapes import CLASSES_SHAPE, LOCAL_SHAPE


@dataclass(frozen=True, kw_only=True)
class FoldRankers:
    """Rankers of a fold.

    Attributes
    ----------
    documents : its documents; those of the training queries are enough
    queries, nearest : its queries and their neighbours (n_queries, largest)
    topics : artifact ``topics``
    metric, fitted : name of the distance between queries, and the fitted distance
    whole, local, classes : models of all queries and of classes, local models, classes
    options, tol, starts, seed : of the study
    recipe : how the documents of a query become its vector
    """

    documents: FoldDocuments
    queries: Queries
    nearest: NDArray[np.int32]
    topics: pa.Table
    metric: str
    fitted: Euclidean
    whole: GlobalModels
    local: ModelBank
    classes: Classes
    options: Options
    tol: float
    seed: int
    recipe: Recipe
    starts: int = 1

    def ranker(self, method: str, setting: Setting) -> tuple[QueryRanker, Recipe | None]:
        """A method with a setting, and the recipe that turns queries into the vectors it uses."""
        if method in QC:
            return self._by_class(method, setting.lam)
        if method not in LOCAL:
            ranker = LinearRanker(lam=setting.lam, tol=self.tol)
            ranker.coef_ = self.whole.weights(method, setting.lam)
            return ranker, None
        return (self._ready if method in OFFLINE else self._online)(method, setting), self.recipe

    @cached_property
    def _train_id(self) -> NDArray[np.object_]:
        ids: NDArray[np.object_] = self.queries.query_id[self.queries.is_train]
        return ids

    def _ready(self, method: str, setting: Setting) -> ReadyModels:
        nearest = method == OFFLINE[1]
        ranker = ReadyModels(
            **self._training(setting),
            choice="nearest" if nearest else "shared_pairs",
            largest=self.nearest.shape[1],
        )
        ranker.weights_ = self.local.weights(LOCAL[method], setting, self._train_id)
        ranker.pairs_ = self.documents.parts["train"].pairs
        ranker.neighbours_ = self.nearest[self.queries.is_train, : 0 if nearest else setting.k]
        self._place(ranker)
        return ranker

    def _online(self, method: str, setting: Setting) -> OnlineRanker:
        neighbourhood = LOCAL[method]
        ranker = OnlineRanker(
            **self._training(setting),
            query_weights=WEIGHTING[neighbourhood],
            random=self.seed if neighbourhood == "random" else None,
            mean=self.documents.mean,
            inverse=self.documents.inverse,
        )
        self._place(ranker)
        return ranker

    def _training(self, setting: Setting) -> dict[str, Any]:
        k = as_share(setting.k, len(self._train_id))
        return {"k": k, "lam": setting.lam, "tol": self.tol, "metric": self.metric}

    def _place(self, ranker: ReadyModels | OnlineRanker) -> None:
        """Give a ranker the training queries as points."""
        ranker.vectors_, ranker.query_id_ = self.queries.vectors[self.queries.is_train], self._train_id
        ranker.map_ = getattr(self.fitted, "map_", np.zeros((0, 0)))

    def _by_class(self, method: str, lam: float) -> tuple[ClassRanker, Recipe]:
        """QC. The classifier is fitted again and must make the same guesses as before."""
        queries = self.queries
        true, origin, centres = true_classes(queries, self.seed, self.starts)
        alone = method == "qc" and self.classes.sees_queries
        recipe, columns = query_columns(queries, self.topics) if alone else (self.recipe, queries.vectors)
        ranker = ClassRanker(
            seed=self.seed,
            starts=self.starts,
            lam=lam,
            tol=self.tol,
        )
        known = sorted(set(true[queries.is_train]))
        if K_MEANS in origin and not alone:
            ranker.guess_by(centres)
        else:
            ranker.guess_by(known[0] if len(known) == 1 else type_classifier(columns, true, queries.is_train))
        ranker.single_ = self.whole.weights("single", lam)
        ranker.serve({name: self.whole.by_class(np.array([name], dtype=object), lam)[0] for name in known})
        stored = self.classes.guess if method == "qc" else self.classes.from_documents
        if not np.array_equal(ranker.classes_[ranker.guessed(columns)], stored):
            raise InputError("the stored classes of queries are not those of these data", fix="run the workflow again")
        return ranker, recipe


def pack_rankers(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    scale: FeatureScale,
    queries: Mapping[str, Any],
    geng: Mapping[str, Any],
    training: Mapping[str, Any],
    log: Callable[..., None],
) -> None:
    """Write every method of a fold, with the setting that was chosen for it, as a ranker for new queries.

    ``queries`` are the options of query vectors; ``training`` holds further attributes of `FoldRankers`.
    """
    judged, topics = load_judged(files["judged"], ["features"]), read(files["topics"], "topics")
    documents, points = fold_documents(judged, fold, scale), load_queries(files["queries"])
    recipe = load_document_vectors(files, queries, missing=documents.fill is not None)
    train = judged.of_role(fold, "train")
    recipe.refuse_others(train, topics_of(topics, train.query_id.tolist())[0], points.vectors[points.is_train])
    rankers = FoldRankers(
        documents=documents,
        queries=points,
        nearest=load_neighbours(files["neighbours"])[1],
        topics=topics,
        fitted=load_metric(files["metric"]),
        whole=GlobalModels(read(files["whole"], "models")),
        local=ModelBank(read(files["local"], LOCAL_SHAPE)),
        classes=Classes.from_table(read(files["classes"], CLASSES_SHAPE)),
        options=Options(**geng),
        recipe=recipe,
        **training,
    )
    about: dict[str, Any] = {"study": "geng2008", "fold": fold, "documents": documents.view(scaled=False)}
    for (_, method), setting in chosen_settings(read(files["choices"], "choices")).items():
        log("%s: %s", method, setting.text)
        ranker, vectors = rankers.ranker(method, setting)
        write_ranker(out[method], ServedRanker(method=method, queries=vectors, ranker=ranker, **about))


def as_share(k: int, m: int) -> float:
    """A number of neighbours in the form that rankers take; they read values up to 1 as shares."""
    return k if k > 1 else k / m


# ---- other settings ------------------------------------------------------------------------------------------------


def retuned(method: str, ranker: QueryRanker, folder: Path, k: float | None, lam: float | None) -> QueryRanker:
    """A stored ranker with another number of neighbours or lambda; its models come from the fold's ``folder``."""
    if isinstance(ranker, OnlineRanker):
        return _online_with(ranker, k, lam)
    if isinstance(ranker, LinearRanker):
        return _global_with(method, ranker, folder, k, lam)
    if isinstance(ranker, ReadyModels):
        return _ready_with(method, ranker, folder, k, lam)
    raise InputError(f"the settings of {method} are those that validation chose", fix="leave out k and lambda")


def _online_with(ranker: OnlineRanker, k: float | None, lam: float | None) -> OnlineRanker:
    m = len(ranker.vectors_)
    share = ranker.k if k is None else as_share(neighbour_count(k, m), m)
    made = replace(ranker, k=share, lam=ranker.lam if lam is None else lam)
    made.vectors_, made.query_id_, made.map_ = ranker.vectors_, ranker.query_id_, ranker.map_
    return made


def _global_with(method: str, ranker: LinearRanker, folder: Path, k: float | None, lam: float | None) -> LinearRanker:
    if k is not None or lam is None:
        raise InputError(f"{method} has no number of neighbours", fix="leave k out, or choose another method")
    whole = GlobalModels(read(_there(folder / "models" / "global.parquet"), "models"))
    _refuse_untrained(Setting(0, lam), [Setting(0, known) for known in whole.lambdas], "lambda={lam!r}")
    made = replace(ranker, lam=lam)
    made.coef_ = whole.weights(method, lam)
    return made


def _ready_with(method: str, ranker: ReadyModels, folder: Path, k: float | None, lam: float | None) -> ReadyModels:
    m = len(ranker.vectors_)
    wanted = Setting(neighbour_count(ranker.k if k is None else k, m), ranker.lam if lam is None else lam)
    local = ModelBank(read(_there(folder / "models" / "local.parquet"), LOCAL_SHAPE))
    _refuse_untrained(wanted, local.settings(LOCAL[method]), "k={k} lambda={lam!r}")
    made = replace(ranker, k=as_share(wanted.k, m), lam=wanted.lam)
    made.weights_ = local.weights(LOCAL[method], wanted, ranker.query_id_)
    made.vectors_, made.query_id_, made.pairs_, made.map_ = (
        ranker.vectors_,
        ranker.query_id_,
        ranker.pairs_,
        ranker.map_,
    )
    _, nearest = load_neighbours(_there(folder / "neighbours.parquet"))
    made.neighbours_ = nearest[:m, : wanted.k]  # training queries come first
    return made


def _there(path: Path) -> Path:
    if not path.is_file():
        fix = "give the whole folder of the fold, or leave out k and lambda"
        raise InputError("the models of other settings are missing", file=path, fix=fix)
    return path


def _refuse_untrained(wanted: Setting, known: list[Setting], form: str) -> None:
    if wanted not in known:
        texts = ", ".join(form.format(k=one.k, lam=one.lam) for one in sorted(known))
        raise InputError(
            f"no models were trained with {form.format(k=wanted.k, lam=wanted.lam)}", fix=f"trained: {texts}"
        )
