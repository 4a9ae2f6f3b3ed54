"""Scores for new queries, by the models of a study.

    ranker = load_ranker("results/mq2008/fold1", method="offline1")
    scores = ranker.score(X)

Single has one model, and KNN Online trains one for the query (`qdrank.serving.online`). The offline methods first find the training query whose model serves: the query's
vector is made of its top documents, as in training, and its neighbours decide. On the documents of a study the scores
are, to the last bit, those that the study wrote.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.letor.features import minmax_per_query
from qdrank.errors import InputError
from qdrank.groups import FloatArray, IntArray
from qdrank.rankers.sizes import Setting, neighbour_count
from qdrank.registry import did_you_mean
from qdrank.serving.lookup import Neighbourhoods, Offline1, Offline2, TrainingSpace
from qdrank.serving.pack import SERVED, Packed, Terms
from qdrank.store import read
from qdrank.workflow.recorded import command, recorded_options

_FILE = "rankers.parquet"
#: Feature values that are held in double precision at a time.
_BLOCK = 2**20


@dataclass(frozen=True, eq=False)
class Ranker:
    """One method of a fold, ready to score.

    Attributes
    ----------
    method : single, offline1, offline2 or online
    setting : number of neighbours and lambda of its models
    packed : how documents and queries were represented in training
    weights : (n_models, n_features)
    find : from a query's vector to the row of its model; None if there is only one model
    """

    method: str
    setting: Setting
    packed: Packed
    weights: FloatArray
    find: Callable[[FloatArray], int] | None = field(default=None)

    @property
    def terms(self) -> Terms:
        """How documents and queries were represented in training."""
        return self.packed.terms

    @property
    def n_features(self) -> int:
        """Number of features of a document."""
        return self.packed.terms.n_features

    def score(self, X: NDArray[Any], *, own: NDArray[Any] | None = None) -> FloatArray:
        """Score the documents of one query.

        Parameters
        ----------
        X : (n_documents, n_features), in the units of the training data; taken in single precision, as files are
        own : (own_columns,) columns of the query itself, where the study appended such to query vectors

        Returns
        -------
        array of shape (n_documents,)
        """
        offsets = np.array([0, len(X)] if len(X) else [0], dtype=np.int64)
        return self.score_many(X, offsets, own=None if own is None else np.atleast_2d(own)[: len(offsets) - 1])

    def score_many(
        self,
        X: NDArray[Any],
        offsets: IntArray,
        *,
        own: NDArray[Any] | None = None,
        query_id: Any = None,  # noqa: ARG002
        doc_id: Any = None,  # noqa: ARG002
    ) -> FloatArray:
        """Score the documents of many queries, each query by its own model.

        Parameters
        ----------
        X : (n_documents, n_features)
        offsets : (n_queries + 1,) bounds of the queries
        own : (n_queries, own_columns) columns of the queries themselves, where the study used such
        query_id, doc_id : not looked at; other rankers need them

        Returns
        -------
        array of shape (n_documents,)
        """
        X = checked_features(X, offsets, self.packed.terms)
        if self.find is None:
            return self._products(X, offsets, np.zeros(len(offsets) - 1, dtype=np.int64))
        return self._products(X, offsets, self.models(self.query_vectors(X, offsets, own)))

    def query_vectors(self, X: NDArray[np.float32], offsets: IntArray, own: NDArray[Any] | None = None) -> FloatArray:
        """Vectors of queries, standardised as in training, shape (n_queries, n_columns)."""
        wanted = self.packed.terms.own_columns
        if wanted and (own is None or own.shape != (len(offsets) - 1, wanted)):
            raise InputError(
                f"these models need {wanted} columns of the query itself",
                found="none" if own is None else f"an array of shape {own.shape}",
                fix="give them (own=..., or --topics), or train with queries: {query_columns: false}",
            )
        return self.packed.standardiser().transform(self.packed.terms.pooled(X, offsets, own if wanted else None))

    def models(self, vectors: FloatArray) -> IntArray:
        """Rows of the models that serve queries with the given vectors, shape (n_queries,)."""
        if self.find is None:
            return np.zeros(len(vectors), dtype=np.int64)
        return np.array([self.find(vector) for vector in vectors], dtype=np.int64)

    def _products(self, X: NDArray[np.float32], offsets: IntArray, models: IntArray) -> FloatArray:
        """Scores of documents, (n_documents,), by the models of their queries."""
        terms, scores = self.packed.terms, np.empty(len(X))
        X = minmax_per_query(X, offsets) if terms.minmax else X
        fill = self.packed.fill.astype(np.float32)
        step = max(1, _BLOCK // self.n_features)
        for (start, end), model in zip(pairwise(offsets.tolist()), models.tolist(), strict=True):
            for a in range(start, end, step):
                rows = X[a : min(a + step, end)]
                rows = np.where(np.isnan(rows), fill, rows) if terms.missing else rows
                # As the study computes it: BLAS would round differently, depending on the other rows.
                scores[a : a + len(rows)] = np.einsum("nf,f->n", rows.astype(np.float64), self.weights[model])
        return scores


def checked_features(X: NDArray[Any], offsets: IntArray, terms: Terms) -> NDArray[np.float32]:
    """Features in single precision, if they fit the models and the offsets fit them."""
    X = np.asarray(X, dtype=np.float32)
    if X.ndim != 2 or X.shape[1] != terms.n_features:
        problem = f"these models have {terms.n_features} features"
        fix = "give the features that the models were trained on, in their order"
        raise InputError(problem, found=f"an array of shape {X.shape}", fix=fix)
    if len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != len(X) or np.any(np.diff(offsets) < 1):
        raise InputError("the offsets do not divide the documents into queries", fix="see qdrank.groups")
    if not terms.missing and not np.isfinite(X).all():
        raise InputError("a feature has no finite value", fix="fill in the missing values; the training data had none")
    return X


def load_ranker(
    folder: str | os.PathLike[str], method: str = "offline1", *, k: float | None = None, lam: float | None = None
) -> Ranker:
    """Load a method of a fold.

    Parameters
    ----------
    folder : a fold's results, for instance ``results/mq2008/fold1``, or the file ``rankers.parquet`` alone
    method : {"single", "offline1", "offline2", "online"}
    k, lam : number of neighbours (up to 1: a share of the training queries) and lambda; by default those that the study
        chose. Others must have been trained, and are read from the models in the folder.

    Raises
    ------
    InputError
        If there are no models, the method is unknown, or its models were not trained with these settings.
    CorruptArtifact
        If a file was changed after it was written.
    """
    if method not in SERVED:
        raise InputError(f"unknown method {method!r}", fix=did_you_mean(method, list(SERVED)))
    path = Path(folder) if Path(folder).suffix == ".parquet" else Path(folder) / _FILE
    if not path.is_file():
        raise InputError("there are no packed models", file=path, fix=_how_to_pack(path))
    packed = Packed.from_table(read(path, "rankers"))
    setting = _setting(packed, method, k, lam)
    if method == "online":
        from qdrank.serving.online import load_online  # it imports the training engine

        return load_online(packed, path.parent, setting)
    if setting != packed.terms.chosen[method]:
        from qdrank.serving.settings import retuned

        packed = retuned(packed, path.parent, method, setting)
    return ranker_of(packed, method)


def _how_to_pack(path: Path) -> str:
    """How to make the packed models, with the configuration that their results were made with."""
    results = path.parents[2] if len(path.parents) > 2 else path.parent
    if recorded_options(results) is None:
        return "give the folder of a fold of a finished run, such as results/mq2008/fold1"
    return f"make them: {command(results, path.relative_to(results.parent))}"


def ranker_of(packed: Packed, method: str) -> Ranker:
    """One method of the rankers of a fold, with the setting that they have for it."""
    weights = np.atleast_2d(packed.weights[method])
    return Ranker(method, packed.terms.chosen[method], packed, weights, _finder(packed, method))


def _setting(packed: Packed, method: str, k: float | None, lam: float | None) -> Setting:
    if method not in packed.terms.chosen:
        raise InputError(f"these rankers were packed without {method}", fix="run the workflow again")
    chosen = packed.terms.chosen[method]
    if method == "single" and k is not None:
        raise InputError("Single has no number of neighbours", fix="leave k out, or choose another method")
    wanted = chosen if k is None else chosen._replace(k=neighbour_count(k, len(packed.train_id)))
    return wanted if lam is None else wanted._replace(lam=lam)


def _finder(packed: Packed, method: str) -> Callable[[FloatArray], int] | None:
    """What finds the model of a query."""
    if method == "single":
        return None
    space = TrainingSpace(packed.vectors, packed.train_id, packed.metric())
    if method == "offline2":
        return Offline2(space)
    terms = packed.terms
    return Offline1(space, Neighbourhoods(packed.neighbours, packed.pairs, terms.choice), terms.largest)
