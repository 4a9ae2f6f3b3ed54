"""Any ranker of any study in one file, and scores for new queries.

    ranker = load_ranker("results/mq2008/fold1", method="knn-offline1")
    scores = ranker.score(X)

The file has the fitted ranker, and how documents and queries were seen in training. On the documents of a study the scores
are, to the last bit, those that the study wrote; rankers that train a model when a query arrives agree to the tolerance of
training.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.aggregators import AGGREGATORS
from qdrank.datasets.judged import Judged, load_roles
from qdrank.errors import InputError
from qdrank.groups import FloatArray, IntArray
from qdrank.learners import LEARNERS
from qdrank.queries.recipe import Recipe, topics_of
from qdrank.rankers import RANKERS
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.documents import DocumentView
from qdrank.rankers.methods import FIRST_STAGES
from qdrank.rankers.state import from_state_table, state_table
from qdrank.registry import did_you_mean, loaded
from qdrank.store import read, write
from qdrank.studies import STUDIES
from qdrank.workflow.recorded import command, recorded_options

#: Folder of the rankers, within the folder of a fold.
FOLDER = "served"
DEFAULT = "knn-offline1"


@dataclass(frozen=True, eq=False, kw_only=True)
class ServedRanker:
    """A fitted ranker of a study, ready to score.

    Attributes
    ----------
    method : its name
    study : the study that can give it other settings; empty if none can
    fold : the fold that it was fitted on
    documents : how it sees the features of documents
    queries : how queries become the vectors that it looks at; None if it looks at documents alone
    ranker : the ranker
    """

    NAME: ClassVar[str] = "served"
    STATE: ClassVar[tuple[str, ...]] = ()

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

    def score(self, X: NDArray[Any], *, own: NDArray[Any] | None = None, text: str | None = None) -> FloatArray:
        """Score the documents of one query, (n_documents, n_features); parameters as for `score_many`."""
        offsets = np.array([0, len(X)] if len(X) else [0], dtype=np.int64)
        columns = None if own is None else np.atleast_2d(own)[: len(offsets) - 1]
        return self.score_many(X, offsets, own=columns, text=None if text is None else [text][: len(offsets) - 1])

    def score_many(
        self,
        X: NDArray[Any],
        offsets: IntArray,
        *,
        own: NDArray[Any] | None = None,
        text: Sequence[str] | None = None,
        query_id: ArrayLike | None = None,
        doc_id: ArrayLike | None = None,
    ) -> FloatArray:
        """Score the documents of many queries.

        Parameters
        ----------
        X : (n_documents, n_features), in the units of the training data; taken in single precision, as files are
        offsets : (n_queries + 1,) bounds of the queries
        own, text : (n_queries, own_columns) columns and (n_queries,) words of the queries themselves, where the study used such
        query_id : (n_queries,) names; a query with the name of a training query does not see that query's judgments
        doc_id : (n_documents,) names, by which judgments of other queries are found

        Returns
        -------
        array of shape (n_documents,)
        """
        X, n = self.documents.checked(X, offsets), len(offsets) - 1
        if n == 0:
            return np.zeros(0)
        vectors = self.query_vectors(X, offsets, own, text)
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
        )
        return self.ranker.predict(judged, vectors)

    def query_vectors(
        self,
        X: NDArray[np.float32],
        offsets: IntArray,
        own: NDArray[Any] | None = None,
        text: Sequence[str] | None = None,
    ) -> FloatArray:
        """Vectors that the ranker looks at, (n_queries, n_columns); without columns if it looks at none."""
        if self.queries is None:
            return np.zeros((len(offsets) - 1, 0))
        return self.queries.vectors(X, offsets, own, text)

    def remember(self, folder: Path) -> None:
        """Give the ranker the training documents, from the data set's ``judged.parquet`` beside the ``folder`` of the fold."""
        path = folder.parent / "judged.parquet"
        if not path.is_file():
            fix = "give the folder of a fold within the results of its data set; other methods need their file alone"
            raise InputError(f"{self.method} learns from the training documents, which are missing", file=path, fix=fix)
        train = load_roles(path, self.fold, ["train"])["train"]
        topics = topics_of(read(path.with_name("topics.parquet"), "topics"), train.query_id.tolist())
        vectors = self.query_vectors(train.X, train.offsets, *topics)
        self.ranker.remember(train.with_features(self.documents.features(train.X, train.offsets)), vectors)


def write_ranker(path: str | os.PathLike[str], ranker: ServedRanker) -> None:
    """Store a ranker: the artifact ``rankers``."""
    write(path, "rankers", state_table(ranker))


def load_ranker(
    folder: str | os.PathLike[str], method: str | None = None, *, k: float | None = None, lam: float | None = None
) -> ServedRanker:
    """Load a method of a fold.

    Parameters
    ----------
    folder : a fold's results, for instance ``results/mq2008/fold1``, or one file of its folder ``served``
    method : any that a study scored, such as "single" or "knn-offline1", the default
    k, lam : number of neighbours (up to 1: a share of the training queries) and lambda; by default those that the study
        chose. Others must have been trained, and are read from the models in the folder.

    Raises
    ------
    InputError
        If there is no such ranker, or its models were not trained with these settings.
    CorruptArtifact
        If a file was changed after it was written.
    """
    path = _file_of(Path(folder), method)
    ranker: ServedRanker = from_state_table(read(path, "rankers"), kind_of)
    fold = path.parent.parent
    if k is not None or lam is not None:
        ranker = _retuned(ranker, fold, k, lam)
    if ranker.ranker.needs("TRAINING"):
        ranker.remember(fold)
    return ranker


def kind_of(name: str) -> Any:
    """The class that a stored object has the name of: a ranker or what it is made of, a learner, an aggregator."""
    if name == ServedRanker.NAME:
        return ServedRanker
    for registry in (RANKERS, LEARNERS, AGGREGATORS):
        if name in registry:
            return registry[name]
    kinds = {kind: target for study in STUDIES for kind, target in STUDIES[study].rankers.items()}
    if name not in kinds:
        raise InputError(f"a ranker of an unknown kind, {name!r}", fix="read it with the version that wrote it")
    return loaded(kinds[name])


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
    if folder.suffix == ".parquet":
        if method is not None and folder.stem not in (method, dict(_short_names()).get(method)):
            raise InputError(f"this is the ranker {folder.stem}, not {method}", file=folder, fix="leave out the method")
        return folder
    place = folder / FOLDER
    path = place / f"{method or DEFAULT}.parquet"
    if path.is_file():
        return path
    return place / f"{_long_name(place, method or DEFAULT)}.parquet"


def _long_name(place: Path, method: str) -> str:
    """The method that a short name stands for; raise if it has no file."""
    there, short = sorted(file.stem for file in place.glob("*.parquet")), dict(_short_names())
    name = short.get(method, method)
    if name in there:
        return name
    if (place.parent / "scores" / f"{name}.parquet").is_file() or not there:
        path = place / f"{name}.parquet"
        if name in FIRST_STAGES and there:
            fix = "qdrank features gives new queries the score of their first stage as a feature"
            raise InputError(f"{name} searches the collection, and ranks no rows of features", file=path, fix=fix)
        raise InputError(f"there is no ranker {name}", file=path, fix=_how_to_make(path))
    known = [*there, *(alias for alias, of in short.items() if of in there and alias != of)]
    raise InputError(f"unknown method {method!r}", file=place, fix=did_you_mean(method, known))


def _short_names() -> Iterator[tuple[str, str]]:
    """Short names that studies give to methods, and the methods."""
    return (pair for study in STUDIES for pair in STUDIES[study].served.items())


def _how_to_make(path: Path) -> str:
    """How to make a ranker, with the configuration that its results were made with."""
    results = path.parents[3] if len(path.parents) > 3 else path.parent
    if recorded_options(results) is None:
        return "give the folder of a fold of a finished run, such as results/mq2008/fold1"
    return f"make it: {command(results, path.relative_to(results.parent))}"
