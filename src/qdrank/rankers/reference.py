"""One feature as a ranker: the reference that every method starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged, load_judged
from qdrank.layout import LAST, FloatArray
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.documents import FoldDocuments
from qdrank.rankers.served import ServedRanker, write_method


@dataclass(kw_only=True, eq=False)
class OneFeature(QueryRanker):
    """One feature is the score; a missing value comes last. ``column`` counts from 0."""

    NAME: ClassVar[str] = "feature"

    column: int

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Learn nothing."""
        return self

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
