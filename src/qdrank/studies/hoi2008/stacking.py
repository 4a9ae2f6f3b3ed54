"""Ensembles of methods: the rankers are learned models in place of features.

The models were trained on the training queries, where their scores look better than they are; the ensemble is therefore
learned on the validation queries. Nothing of the ensemble is tuned, so that these are used once.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.datasets.letor.features import minmax_per_query
from qdrank.errors import InputError
from qdrank.groups import FloatArray
from qdrank.learners.classic.borda_points import borda_points
from qdrank.learners.ensemble.ser import rounded_scores
from qdrank.studies.hoi2008.options import Options

Scores = Mapping[str, Mapping[str, FloatArray]]
"""Scores (n_documents,) by method and role, vali and test: of any methods, whatever study they belong to."""


def rankers_of(parts: Mapping[str, Judged], scores: Scores) -> dict[str, Judged]:
    """The validation and test documents with the methods' scores, on one scale per query, as features."""
    if not scores:
        raise InputError("an ensemble needs methods", fix="name some under hoi.methods")
    found = {}
    for role in ("vali", "test"):
        X = np.stack([np.asarray(own[role], dtype=np.float32) for own in scores.values()], axis=1)
        found[role] = parts[role].with_features(minmax_per_query(X, parts[role].offsets))
    return found


def stacked_scores(parts: Mapping[str, Judged], scores: Scores, options: Options) -> dict[str, FloatArray]:
    """Scores of the test documents by the ensembles of the methods: SER, SSER with the fixed gamma, and BordaCount."""
    rankers = rankers_of(parts, scores)
    vali, test = rankers["vali"], rankers["test"]
    points = sum(borda_points(np.asarray(own["test"]), test.offsets) for own in scores.values())
    if not vali.n_queries:
        raise InputError(
            "this fold has no validation queries to learn an ensemble of methods on", fix="leave hoi.methods empty"
        )
    sser = options.estimator("half", max_grade=int(parts["train"].y.max(initial=0))).fit(vali.X, vali.y, vali.query)
    return {
        "ser-methods": rounded_scores(test.X, sser.weights_),
        "sser-methods": sser.predict(test.X, test.query),
        "borda-methods": np.asarray(points, dtype=np.float64),
    }
