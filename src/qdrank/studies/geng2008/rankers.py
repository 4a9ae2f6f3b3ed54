"""Rankers for new queries: KNN Online, and any ranker of the study with other settings.

KNN Online trains the model of a query when the query arrives.

It prepares once what does not depend on the query: the training documents, Single, and the second derivatives of
every training query's pairs at Single. For each query it then finds the k nearest training queries and trains a model
of their pairs, from Single to a certified gap. Each model is trained alone, so its scores do not depend on the other
queries; they agree with those of the study to the tolerance of training.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.learners.ranksvm.local import LocalModels, TrainingBase, train_block
from qdrank.queries.graph import metric_with
from qdrank.queries.neighbours import TrainingQueries
from qdrank.queries.recipe import load_neighbours
from qdrank.queries.sizes import Setting, neighbour_count
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.documents import seen
from qdrank.rankers.knn import random_neighbours
from qdrank.rankers.local_ranker import LocalRanker, ReadyModels
from qdrank.rankers.one_model import LinearRanker
from qdrank.store import read
from qdrank.studies.geng2008.global_models import global_weights
from qdrank.studies.geng2008.local_models import LOCAL_SHAPE, ModelBank
from qdrank.studies.geng2008.methods import LOCAL


@dataclass(kw_only=True, eq=False)
class OnlineRanker(LocalRanker):
    """Local models of the nearest training queries, each trained alone.

    Parameters
    ----------
    metric : name of the distance between query vectors
    mean, inverse : (n_features,) the engine learns from ``(x - mean) * inverse``; scores are of x itself

    Other parameters as for `LocalRanker`; weights are hard, and models are not mixed with Single.
    """

    NAME: ClassVar[str] = "online"

    metric: str = "euclidean"
    mean: FloatArray
    inverse: FloatArray
    map_: FloatArray = field(init=False, repr=False)
    single_: FloatArray = field(init=False, repr=False, metadata={"stored": False})

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:
        """Train Single and keep the training queries."""
        from qdrank.queries.graph import fitted_metric

        self.map_ = getattr(fitted_metric(self.metric, vectors, train), "map_", np.zeros((0, 0)))
        super().fit(train, vectors, validation)
        return self

    def remember(self, train: Judged, vectors: FloatArray) -> Self:
        """Keep the training documents as the engine sees them."""
        super().remember(train.with_features(seen(train.X, self.mean, self.inverse)), vectors)
        return self

    def models(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Weights of the queries, (n_queries, n_features), for documents as given."""
        W = [self.trained(*one).W[0] for one in zip(vectors, documents.query_id, strict=True)]
        return np.array(W).reshape(-1, len(self.inverse)) * self.inverse

    def trained(self, vector: FloatArray, query_id: str | None = None) -> LocalModels:
        """The model of one query with the given vector (n_columns,)."""
        m = len(self.vectors_)
        k = neighbour_count(self.k, m)
        if self.random is None:
            near = np.sort(self.space.nearest(vector[None, :], k).rows[0])
        elif query_id is None:
            raise InputError("random neighbours are drawn by query id", fix="give the ids of the queries")
        else:
            near = random_neighbours([query_id], m, k, self.random)[0]
        return train_block(self._prepared(), near[None, :], tol=self.tol)

    @cached_property
    def space(self) -> TrainingQueries:
        """The training queries as points."""
        return TrainingQueries(self.vectors_, self.query_id_, metric_with(self.metric, self.map_))

    def _trained_base(self, prox: FloatArray | None = None) -> TrainingBase:
        base = super()._trained_base(prox)
        if base.curvature.fits:
            base.curvature.kept(np.arange(base.data.n_queries))
        return base


def as_share(k: int, m: int) -> float:
    """A number of neighbours in the form that rankers take; they read values up to 1 as shares."""
    return k if k > 1 else k / m


def retuned(method: str, ranker: QueryRanker, folder: Path, k: float | None, lam: float | None) -> QueryRanker:
    """A stored ranker with another number of neighbours or lambda; its models come from the fold's ``folder``."""
    if not isinstance(ranker, OnlineRanker | LinearRanker | ReadyModels):
        raise InputError(f"the settings of {method} are those that validation chose", fix="leave out k and lambda")
    made = copy(ranker)
    made.lam = ranker.lam if lam is None else lam
    if isinstance(made, LinearRanker):
        if k is not None or lam is None:
            raise InputError(f"{method} has no number of neighbours", fix="leave k out, or choose another method")
        whole = global_weights(read(_there(folder / "models" / "global.parquet"), "models"))
        _refuse_untrained(Setting(0, lam), [Setting(0, known) for known in whole], "lambda={lam!r}")
        made.coef_ = whole[lam][method]
        return made
    m = len(made.vectors_)
    wanted = Setting(neighbour_count(made.k if k is None else k, m), made.lam)
    made.k = as_share(wanted.k, m)
    if isinstance(made, ReadyModels):
        local = ModelBank(read(_there(folder / "models" / "local.parquet"), LOCAL_SHAPE))
        _refuse_untrained(wanted, local.settings(LOCAL[method]), "k={k} lambda={lam!r}")
        made.weights_ = local.weights(LOCAL[method], wanted, made.query_id_)
        # training queries come first
        made.neighbours_ = load_neighbours(_there(folder / "neighbours.parquet"))[1][:m, : wanted.k]
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
