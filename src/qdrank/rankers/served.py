"""What a method leaves: its scores of the test documents, and the ranker itself in one file, ready to score new queries.

The file has the fitted ranker, and how it saw documents and queries in training. On the documents of a study the scores
equal those that the study wrote, to the last bit; rankers that train a model when a query arrives agree to the
tolerance of training.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged, TextArray, load_judged, load_roles, scores_table
from qdrank.errors import InputError
from qdrank.layout import LAST, FloatArray, IntArray
from qdrank.learners import LEARNERS
from qdrank.queries.recipe import Recipe, topics_of
from qdrank.rankers import RANKERS
from qdrank.rankers.base import QueryRanker, Unlearned
from qdrank.rankers.documents import DocumentView, FoldDocuments
from qdrank.rankers.stored import Searcher, from_state_table, state_table
from qdrank.store import read, write


@dataclass(frozen=True, eq=False, kw_only=True)
class ServedRanker:
    """A fitted ranker of a study, ready to score.

    Attributes
    ----------
    method : its name
    study : the study that can give it other settings; empty if none can
    fold : the fold that it was fitted on
    documents : how it sees the features of documents
    queries : how queries become the vectors that it uses; None if it uses documents alone
    ranker : the ranker
    """

    NAME: ClassVar[str] = "served"

    method: str
    study: str = ""
    fold: str
    documents: DocumentView
    queries: Recipe | None = None
    ranker: QueryRanker

    @property
    def n_features(self) -> int:
        """Number of features of a document."""
        return self.documents.n_features

    def score(
        self, X: NDArray[Any], *, query_columns: NDArray[Any] | None = None, text: str | None = None
    ) -> FloatArray:
        """Score the documents of one query, (n_documents, n_features); parameters as for `score_many`."""
        offsets = np.array([0, len(X)] if len(X) else [0], dtype=np.int64)
        columns = None if query_columns is None else np.atleast_2d(query_columns)[: len(offsets) - 1]
        return self.score_many(
            X, offsets, query_columns=columns, text=None if text is None else [text][: len(offsets) - 1]
        )

    def score_many(
        self,
        X: NDArray[Any],
        offsets: IntArray,
        *,
        query_columns: NDArray[Any] | None = None,
        text: Sequence[str] | None = None,
        query_id: ArrayLike | None = None,
        doc_id: ArrayLike | None = None,
    ) -> FloatArray:
        """Score the documents of many queries.

        Returns an array of shape (n_documents,).

        Parameters
        ----------
        X : (n_documents, n_features), in the units of the training data; taken in single precision, as files are
        offsets : (n_queries + 1,) bounds of the queries
        query_columns, text : (n_queries, own_columns) columns and (n_queries,) words of the queries, if the study used them
        query_id : (n_queries,) names; a query with the name of a training query does not see that query's judgments
        doc_id : (n_documents,) names, used to find judgments of other queries
        """
        X, n = self.documents.checked(X, offsets), len(offsets) - 1
        if n == 0:
            return np.zeros(0)
        vectors = self.query_vectors(X, offsets, query_columns, text)
        names = [f"\0{i}" for i in range(n)] if query_id is None else query_id
        documents = np.empty(0, dtype=object) if doc_id is None else np.array(doc_id, dtype=object)
        if len(documents) != len(X) and self.ranker.needs("NAMES"):
            raise InputError(
                "these models look at judgments of the same documents, and the documents have no ids",
                fix='give doc_id=..., or rows that end in "#docid = NAME"',
            )
        judged = Judged(
            query_id=np.array(names, dtype=object),
            part=np.full(n, "test", dtype=object),
            offsets=offsets,
            doc_id=documents,
            y=np.zeros(len(X), dtype=np.int64),
            X=self.documents.features(X, offsets),
            text=texts_array(text),
        )
        return self.ranker.predict(judged, vectors)

    def query_vectors(
        self,
        X: NDArray[np.float32],
        offsets: IntArray,
        query_columns: NDArray[Any] | None = None,
        text: Sequence[str] | None = None,
    ) -> FloatArray:
        """Vectors that the ranker uses, (n_queries, n_columns); without columns if it uses none."""
        if self.queries is None:
            return np.zeros((len(offsets) - 1, 0))
        return self.queries.vectors(X, offsets, query_columns, text)

    def remember(self, folder: Path) -> None:
        """Give the ranker the training documents, from the data set's ``judged.parquet`` beside the ``folder`` of the fold."""
        path = folder.parent / "judged.parquet"
        if not path.is_file():
            fix = "give the folder of a fold within the results of its data set; other methods need their file alone"
            raise InputError(f"{self.method} learns from the training documents, which are missing", file=path, fix=fix)
        train = load_roles(path, self.fold, ["train"])["train"]
        columns, text = topics_of(read(path.with_name("topics.parquet"), "topics"), train.query_id.tolist())
        vectors = self.query_vectors(train.X, train.offsets, columns, text)
        seen = replace(train.with_features(self.documents.features(train.X, train.offsets)), text=texts_array(text))
        self.ranker.remember(seen, vectors)


def texts_array(text: Sequence[str] | None) -> TextArray | None:
    """Texts of queries as `Judged` has them."""
    return None if text is None else np.array(text, dtype=object)


@dataclass(frozen=True, eq=False, kw_only=True)
class ServedRuns(ServedRanker):
    """A ranker of documents whose columns are those of runs; ``tags`` has their names, in the order of the columns."""

    NAME: ClassVar[str] = "served-runs"

    tags: tuple[str, ...]


def write_ranker(path: str | os.PathLike[str], ranker: ServedRanker | Searcher) -> None:
    """Store a ranker or a first stage: the artifact ``rankers``."""
    write(path, "rankers", state_table(ranker))


def write_method(to: str, kept: str, served: ServedRanker, test: Judged, scores: FloatArray | None = None) -> None:
    """Write the scores of a method, and the method itself to another file.

    Without ``scores`` the ranker scores ``test``, whose features it sees as they are; it must not need query vectors.
    """
    if scores is None:
        scores = served.ranker.predict(test, np.zeros((test.n_queries, 0)))
    write(to, "scores", scores_table(test, scores))
    write_ranker(kept, served)


def kind_of(name: str) -> Any:
    """The class with the name of a stored object that belongs to no study: a ranker or its part, a learner."""
    for served in (ServedRanker, ServedRuns):
        if name == served.NAME:
            return served
    for registry in (RANKERS, LEARNERS):
        if name in registry:
            return registry[name]
    raise InputError(f"a ranker of an unknown kind, {name!r}", fix="read it with the version that wrote it")


def read_ranker(path: str | os.PathLike[str], kind: Callable[[str], Any] = kind_of) -> Any:
    """What `write_ranker` has stored; ``kind`` gives the class of a name."""
    return from_state_table(read(path, "rankers"), kind)


# ---- the reference that every method starts from --------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class OneFeature(Unlearned):
    """One feature is the score; a missing value comes last. ``column`` counts from 0."""

    NAME: ClassVar[str] = "feature"

    column: int

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,)."""
        return np.nan_to_num(documents.X[:, self.column].astype(np.float64), nan=LAST)


def write_reference(files: Mapping[str, str], out: Mapping[str, str], fold: str) -> None:
    """Write the scores of the reference feature on the test documents of a fold, and its ranker."""
    judged, ranker = load_judged(files["judged"]), OneFeature(column=reference_column(files["columns"]))
    width = judged.X.shape[1]
    view = FoldDocuments({"all": judged}, np.zeros(width), np.ones(width)).view()
    served = ServedRanker(method="reference", fold=fold, documents=view, ranker=ranker)
    write_method(out["scores"], out["served"], served, judged.of_role(fold, "test"))
