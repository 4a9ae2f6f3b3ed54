"""Rankers that look at the query, its vector and the judgments of others, in one file each, and scores for new queries.

    ranker = load_composed("results/nfcorpus/fold1/served/NAME.parquet")
    scores = ranker.score_many(X, offsets, query_id=queries, doc_id=documents)

The file has the fitted ranker, and how documents and queries were seen in training.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from qdrank.datasets.judged import Judged
from qdrank.datasets.letor.features import column_moments, minmax_per_query
from qdrank.errors import InputError
from qdrank.groups import FloatArray, IntArray
from qdrank.queries.vectors import Standardiser
from qdrank.registry import did_you_mean
from qdrank.serving.pack import SERVED, Terms
from qdrank.serving.ranker import Ranker, checked_features, load_ranker
from qdrank.serving.states import array_rows, arrays_of, described, restored
from qdrank.store import read

if TYPE_CHECKING:
    from qdrank.rankers.base import QueryRanker
    from qdrank.rankers.documents import FoldDocuments

FOLDER = "served"


@dataclass(frozen=True, eq=False, kw_only=True)
class ComposedRanker:
    """A fitted ranker, ready to score.

    Attributes
    ----------
    method : its name
    ranker : the ranker
    terms : how documents and queries were represented in training
    fill : (n_features,) the value that replaces a missing one
    mean, inverse : (n_features,) the ranker sees ``(x - mean) * inverse``
    vector_mean, vector_deviation : (n_columns,) of the training queries' vectors
    """

    method: str
    ranker: QueryRanker
    terms: Terms
    fill: FloatArray
    mean: FloatArray
    inverse: FloatArray
    vector_mean: FloatArray
    vector_deviation: FloatArray

    @property
    def n_features(self) -> int:
        """Number of features of a document."""
        return self.terms.n_features

    def score_many(
        self,
        X: NDArray[Any],
        offsets: IntArray,
        *,
        own: NDArray[Any] | None = None,
        query_id: ArrayLike | None = None,
        doc_id: ArrayLike | None = None,
    ) -> FloatArray:
        """Score the documents of many queries.

        Parameters
        ----------
        X : (n_documents, n_features), in the units of the training data
        offsets : (n_queries + 1,) bounds of the queries
        own : (n_queries, own_columns) columns of the queries themselves, where the study used such
        query_id : (n_queries,) names; a query with the name of a training query does not see that query's judgments
        doc_id : (n_documents,) names, by which judgments of other queries are found

        Returns
        -------
        array of shape (n_documents,)
        """
        from qdrank.rankers.documents import seen  # compiled

        X = checked_features(X, offsets, self.terms)
        vectors = self._vectors(X, offsets, own)
        n = len(offsets) - 1
        queries = np.array([f"\0{i}" for i in range(n)] if query_id is None else query_id, dtype=object)
        documents = np.array([] if doc_id is None else doc_id, dtype=object)
        if len(documents) != len(X):
            documents = _nameless(len(X), self.ranker)
        wide = minmax_per_query(X, offsets) if self.terms.minmax else X
        wide = np.where(np.isnan(wide), self.fill.astype(np.float32), wide) if self.terms.missing else wide
        part, y = np.full(n, "test", dtype=object), np.zeros(len(X), dtype=np.int64)
        judged = Judged(queries, part, offsets, documents, y, seen(wide, self.mean, self.inverse))
        return self.ranker.predict(judged, vectors)

    def _vectors(self, X: NDArray[np.float32], offsets: IntArray, own: NDArray[Any] | None) -> FloatArray:
        wanted = self.terms.own_columns
        if wanted and (own is None or own.shape != (len(offsets) - 1, wanted)):
            fix = "give them (own=..., or --topics), or train with queries: {query_columns: false}"
            raise InputError(f"these models need {wanted} columns of the query itself", fix=fix)
        scaler = Standardiser(scale=self.terms.scale == "zscore")
        scaler.mean_, scaler.scale_ = self.vector_mean, self.vector_deviation
        return scaler.transform(self.terms.pooled(X, offsets, own if wanted else None))

    def to_table(self) -> pa.Table:
        """The artifact ``rankers``."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        ranker = described(self.ranker, "ranker", arrays)
        text = json.dumps({"method": self.method, "terms": self.terms.to_json(), "ranker": ranker}, sort_keys=True)
        rows = [array_rows("terms", np.zeros(0), text), *(array_rows(*one) for one in arrays.items() if one[1].size)]
        return pa.concat_tables(rows).combine_chunks()

    @classmethod
    def from_table(cls, table: pa.Table) -> ComposedRanker:
        """The inverse of `to_table`."""
        arrays = dict(arrays_of(table))
        terms = json.loads(arrays.pop("terms")[0])
        kept = {name: arrays[name][0] for name in _ARRAYS}
        found = restored(terms["ranker"], _Sparse(arrays))
        return cls(method=terms["method"], ranker=found, terms=Terms.from_json(terms["terms"]), **kept)


def compose(
    method: str,
    ranker: QueryRanker,
    judged: Judged,
    fold: str,
    documents: FoldDocuments,
    terms: Terms,
    scaler: Standardiser,
) -> ComposedRanker:
    """A ranker that was fitted on the documents of a fold, with how they and their queries were seen.

    Parameters
    ----------
    method : its name
    ranker : fitted on ``documents.seen("train")``
    judged, fold : the data set and the fold
    documents : its documents
    terms, scaler : how queries became vectors
    """
    train = judged.of_role(fold, "train")
    wide = minmax_per_query(train.X, train.offsets) if terms.minmax else train.X
    return ComposedRanker(
        method=method,
        ranker=ranker,
        terms=terms,
        fill=column_moments(wide)[0],
        mean=documents.mean,
        inverse=documents.inverse,
        vector_mean=scaler.mean_,
        vector_deviation=scaler.scale_,
    )


_ARRAYS = ("fill", "mean", "inverse", "vector_mean", "vector_deviation")


class _Sparse(dict[str, NDArray[Any]]):
    """Arrays by name; one of size 0 has left no row."""

    def __missing__(self, name: str) -> NDArray[Any]:
        return np.zeros(0)


def _nameless(n: int, ranker: QueryRanker) -> NDArray[np.object_]:
    """Names for documents that have none; refused where the ranker looks at names."""
    if looks_at_documents(ranker):
        raise InputError(
            "these models look at judgments of the same documents, and the documents have no ids",
            fix='give doc_id=..., or rows that end in "#docid = NAME"',
        )
    return np.array([f"\0{i}" for i in range(n)], dtype=object)


def looks_at_documents(ranker: Any) -> bool:
    """Whether the names of documents matter to a ranker."""
    inner = [getattr(ranker, "base", None), *getattr(ranker, "bases", ())]
    return hasattr(ranker, "evidence") or any(looks_at_documents(one) for one in inner if one is not None)


def load_any(
    folder: str | os.PathLike[str], method: str = "offline1", *, k: float | None = None, lam: float | None = None
) -> Ranker | ComposedRanker:
    """A method of a fold: one that has a file of its own in ``served/``, else one of `load_ranker`."""
    path = Path(folder) if Path(folder).suffix == ".parquet" else Path(folder) / FOLDER / f"{method}.parquet"
    if method in SERVED or not path.is_file():
        _refuse_unknown(path, method)
        return load_ranker(folder, method, k=k, lam=lam)
    if k is not None or lam is not None:
        raise InputError(f"the settings of {method} are those that validation chose", fix="leave out k and lambda")
    return load_composed(path)


def _refuse_unknown(path: Path, method: str) -> None:
    """Raise, naming what else is there, if a folder has rankers of its own but not this one."""
    there = sorted(file.stem for file in path.parent.glob("*.parquet")) if path.parent.name == FOLDER else []
    if method not in SERVED and there:
        raise InputError(f"unknown method {method!r}", fix=did_you_mean(method, [*SERVED, *there]))


def load_composed(path: str | os.PathLike[str]) -> ComposedRanker:
    """Read a ranker that a study stored."""
    return ComposedRanker.from_table(read(path, "rankers"))
