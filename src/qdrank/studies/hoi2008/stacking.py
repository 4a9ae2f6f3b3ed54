"""Ensembles of methods: the rankers are learned models instead of features.

The models look better than they are on the queries they were trained on. The ensemble is therefore learned on the
validation queries. Nothing in the ensemble is tuned, so the validation queries are used only once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qdrank.errors import InputError
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.documents import FoldDocuments
from qdrank.studies.hoi2008.options import Options
from qdrank.studies.hoi2008.rankers import StackedRanker, as_rankers


def stacked_rankers(
    documents: FoldDocuments, bases: Sequence[QueryRanker], options: Options
) -> dict[str, StackedRanker]:
    """Ensembles of already fitted methods: SER, SSER with the fixed gamma, and BordaCount.

    ``bases`` see the documents as learners do; they may be methods of any study.
    """
    if not bases:
        raise InputError("an ensemble needs methods", fix="name some under hoi.methods")
    vali = documents.seen("vali")
    if not vali.n_queries:
        raise InputError(
            "this fold has no validation queries to learn an ensemble of methods on", fix="leave hoi.methods empty"
        )
    none = np.zeros((vali.n_queries, 0))
    rankers = as_rankers(vali, [base.predict(vali, none) for base in bases])
    highest = int(documents.parts["train"].y.max(initial=0))
    sser = options.estimator("half", max_grade=highest).fit(rankers.X, rankers.y, rankers.query)
    return {
        "ser-methods": StackedRanker(bases=bases, kind="ser", learner=sser),
        "sser-methods": StackedRanker(bases=bases, kind="sser", learner=sser),
        "borda-methods": StackedRanker(bases=bases, kind="borda"),
    }
