"""Ensembles of methods: the rankers are learned models instead of features.

The models look better than they are on the queries they were trained on. The ensemble is therefore learned on the
validation queries. Nothing in the ensemble is tuned, so the validation queries are used only once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from qdrank.errors import InputError
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold
from qdrank.rankers.served import ServedRanker, write_method
from qdrank.rankers.stored import read_ranker
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


def write_stacked(
    files: Mapping[str, Any], out: Mapping[str, str], fold: str, *, scale: FeatureScale, hoi: Mapping[str, Any]
) -> None:
    """Write scores and rankers of the ensembles of the methods in ``files["rankers"]``; ``hoi`` are keys of its section."""
    documents = load_fold(files["judged"], fold, scale, columns=["doc_id", "features"])
    test, bases = documents.seen("test"), [read_ranker(path).ranker for path in files["rankers"]]
    for method, ranker in stacked_rankers(documents, bases, Options(**hoi)).items():
        served = ServedRanker(method=method, fold=fold, documents=documents.view(), ranker=ranker)
        write_method(out[method], out[f"served_{method}"], served, test)
