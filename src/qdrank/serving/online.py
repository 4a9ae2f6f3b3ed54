"""KNN Online, served: the model of a query is trained when the query arrives.

What does not depend on the query is made ready once: the training documents, Single, and the second derivatives of every
training query's pairs at Single. For a query its k nearest training queries are found, and a model of their pairs is
trained from Single to a certified gap. Each query is trained alone, so that its scores do not depend on its company; they
agree with those of the study to the tolerance of training.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.groups import FloatArray, IntArray
from qdrank.learners.ranksvm.local import LocalModels, TrainingBase, prepare_training, train_block
from qdrank.rankers.documents import FoldDocuments, load_fold
from qdrank.rankers.sizes import Setting
from qdrank.serving.lookup import TrainingSpace
from qdrank.serving.pack import Packed
from qdrank.serving.ranker import Ranker, checked_features

#: Requests among which the cost of what is made ready is divided when the engine weighs costs.
REQUESTS = 10**6


@dataclass(frozen=True, eq=False, kw_only=True)
class OnlineRanker(Ranker):
    """KNN Online, ready to train.

    Attributes
    ----------
    space : training queries as points
    documents, base : training documents, and what all models share
    tol : certified relative gap of a model
    """

    space: TrainingSpace
    documents: FoldDocuments
    base: TrainingBase
    tol: float

    def score_many(
        self,
        X: NDArray[Any],
        offsets: IntArray,
        *,
        own: NDArray[Any] | None = None,
        query_id: Any = None,  # noqa: ARG002
        doc_id: Any = None,  # noqa: ARG002
    ) -> FloatArray:
        """Score the documents of many queries, each by a model that is trained for it; see `Ranker.score_many`."""
        X = checked_features(X, offsets, self.terms)
        vectors = self.query_vectors(X, offsets, own)
        W = np.array([self.trained(vector).W[0] for vector in vectors]).reshape(len(vectors), self.n_features)
        ready = replace(self, weights=self.documents.stored(W))
        return ready._products(X, offsets, np.arange(len(vectors)))

    def trained(self, vector: FloatArray) -> LocalModels:
        """The model of a query with the given vector (n_columns,), alone in its table."""
        near = np.sort(self.space.neighbourhood(self.space.point(vector), self.setting.k))
        return train_block(self.base, near[None, :], tol=self.tol, uses=REQUESTS)


def load_online(packed: Packed, folder: Path, setting: Setting) -> OnlineRanker:
    """Make KNN Online ready from the packed models of a fold and the documents of its data set.

    Parameters
    ----------
    packed : the rankers of the fold
    folder : the fold's folder; the data set's ``judged.parquet`` lies beside it
    setting : number of neighbours and lambda; any will do, since models are trained on request
    """
    training, judged = packed.terms.training, folder.parent / "judged.parquet"
    if training is None:
        raise InputError(
            "these rankers were packed without what KNN Online needs", file=folder, fix="run the workflow again"
        )
    if not judged.is_file():
        fix = "give the folder of a fold within the results of its data set; the other methods need the fold alone"
        raise InputError("KNN Online learns from the training documents, which are missing", file=judged, fix=fix)
    documents = load_fold(judged, training["fold"], training["scale"], wanted=["train"])
    if documents.parts["train"].query_id.tolist() != packed.train_id.tolist():
        raise InputError("these are not the documents that the rankers were trained on", file=judged)
    base = prepare_training(documents.preferences(), lam=setting.lam, penalty=training["penalty"], tol=training["tol"])
    if base.bank.fits:
        base.bank.kept(np.arange(base.data.n_queries))
    return OnlineRanker(
        method="online",
        setting=setting,
        packed=packed,
        weights=np.zeros((0, packed.terms.n_features)),
        space=TrainingSpace(packed.vectors, packed.train_id, packed.metric()),
        documents=documents,
        base=base,
        tol=training["tol"],
    )
