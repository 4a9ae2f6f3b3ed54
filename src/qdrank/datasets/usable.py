"""Whether a data set can be studied at all: learning needs differences in grade, measuring needs relevant documents."""

from __future__ import annotations

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError

#: Fewest training queries with documents of different grades that a fold needs.
MIN_TRAIN = 5
#: Fewest test queries with a relevant document that a fold needs: a mean of one query has no interval.
MIN_TEST = 2


def refuse_unusable(judged: Judged) -> None:
    """Raise if some fold has too little to learn from, to choose by or to measure.

    Raises `InputError` if no document is relevant, or a fold has fewer than `MIN_TRAIN` training queries with documents
    of different grades, fewer than `MIN_TEST` test queries with a relevant document, or none for validation where it
    has any.
    """
    if not (judged.y > 0).any():
        raise InputError(
            f"none of the {judged.n_documents:,} documents is relevant: every grade is 0",
            fix="check the labels; measures and learning need documents with a grade of 1 or more",
        )
    for fold in judged.folds:
        train = int((judged.of_role(fold, "train").pairs > 0).sum())
        if train < MIN_TRAIN:
            raise _too_few(fold, "training", train, "documents of different grades", MIN_TRAIN)
        vali = judged.of_role(fold, "vali")
        if vali.n_queries and not (vali.y > 0).any():
            raise _too_few(fold, "validation", 0, "a relevant document", 1)
        test = _with_relevant(judged.of_role(fold, "test"))
        if test < MIN_TEST:
            raise _too_few(fold, "test", test, "a relevant document", MIN_TEST)


def _with_relevant(documents: Judged) -> int:
    """Number of queries with a relevant document."""
    return len(np.unique(documents.query_index[documents.y > 0]))


def _too_few(fold: str, role: str, count: int, what: str, least: int) -> InputError:
    queries = "query has" if count == 1 else "queries have"
    return InputError(
        f"{fold}: {count} {role} {queries} {what}; a study needs at least {least}",
        fix="give more judged queries, or other parts: `files: {all: FILE}` divides the queries evenly into five",
    )
