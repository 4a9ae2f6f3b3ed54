"""A classic method on a fold: tuning on validation, and the stored model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from math import nan
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.folds import ROLES
from qdrank.datasets.judged import Judged, load_judged, refits_table
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.learners import LEARNERS
from qdrank.learners.base import LinearLearner
from qdrank.learners.choose import Choice, choice_rows, fit_seed, grid_settings, tune
from qdrank.learners.own import OwnLearner, own_parameters
from qdrank.queries.recipe import Queries, load_document_vectors, load_queries
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold, seen
from qdrank.rankers.learned import LearnerRanker, WithQueryVectors, with_vectors
from qdrank.rankers.served import ServedRanker, write_method
from qdrank.registry import did_you_mean
from qdrank.store import write

_Grid = Mapping[str, Sequence[Any]]


# ---- documents ---------------------------------------------------------------------------------------------------


def rank_documents(ranks: Judged, fold: str) -> FoldDocuments:
    """Documents of a fold with the ranks from each system, NaN where a system left a document out."""
    n_lists = ranks.X.shape[1]
    return FoldDocuments({role: ranks.of_role(fold, role) for role in ROLES}, np.zeros(n_lists), np.ones(n_lists))


def with_query_vectors(documents: FoldDocuments, queries: Queries) -> FoldDocuments:
    """The same documents, with the vector of the query appended to the features of each."""
    parts = {role: with_vectors(part, queries.of(part.query_id)) for role, part in documents.parts.items()}
    width = queries.vectors.shape[1]
    mean, inverse = np.append(documents.mean, np.zeros(width)), np.append(documents.inverse, np.ones(width))
    return FoldDocuments(parts, mean, inverse)


# ---- tuning ------------------------------------------------------------------------------------------------------


def fit_method(learner: str, grid: _Grid, documents: FoldDocuments, *, measure: str, seed: int) -> Choice[Any]:
    """Try every combination of ``grid`` on a fold; keep the best by the mean of ``measure`` on validation.

    A fold without validation queries is tuned on its training queries.
    """
    given: dict[str, Sequence[Any]] = {"measure": [measure], "seed": [seed]}
    names = _parameters(learner)
    _refuse_unknown(learner, grid, names)
    whole = {name: values for name, values in given.items() if name in names} | dict(grid)
    vali = "vali" if documents.parts["vali"].n_queries else "train"
    with_missed = (*_judged(documents, vali), documents.parts[vali].unranked)
    kinds = {learner: partial(_own, learner)} if ":" in learner else LEARNERS
    return tune(learner, whole, _judged(documents, "train"), with_missed, measure, kinds, seed)


def _own(target: str, **settings: Any) -> OwnLearner:
    return OwnLearner(target=target, settings=settings)


def _parameters(learner: str) -> list[str]:
    if ":" in learner:
        return own_parameters(learner)
    return [field.name for field in fields(LEARNERS[learner]) if field.init]


def _refuse_unknown(learner: str, grid: _Grid, known: list[str]) -> None:
    for name in grid:
        if name not in known:
            raise InputError(f"{learner} has no parameter {name!r} to try", fix=did_you_mean(name, known))


def _judged(documents: FoldDocuments, role: str) -> tuple[NDArray[Any], IntArray, NDArray[np.object_]]:
    part = documents.parts[role]
    return seen(part.X, documents.mean, documents.inverse), part.y, part.query


def choices_table(fold: str, method: str, grid: _Grid, choice: Choice[Any], measure: str) -> pa.Table:
    """The artifact ``choices``: one row per combination of values."""
    settings = grid_settings(grid)
    texts = [", ".join(f"{name}={value}" for name, value in setting.items()) for setting in settings]
    lams = [setting.get("lam") for setting in settings]
    return pa.Table.from_pylist(choice_rows(fold, method, texts, choice, measure, lam=lams))


# ---- models ------------------------------------------------------------------------------------------------------


def model_table(method: str, learner: Any, inverse: FloatArray, train: Judged) -> pa.Table:
    """The artifact ``models``: one row; weights of a linear model in the units of the documents, whose scale is ``inverse``."""
    linear = isinstance(learner, LinearLearner)
    row = {
        "model": method,
        "k": train.n_queries,
        "lam": float(getattr(learner, "lam", nan)),
        "weights": (learner.coef_ * inverse).tolist() if linear else [],
        "text": None,
        "pairs": int(train.pairs.sum()),
        "gap": float(getattr(learner, "gap_", nan)),
        "iterations": int(getattr(learner, "n_iter_", 0)),
    }
    kinds = {"text": pa.string(), "weights": pa.list_(pa.float64()), "k": pa.int32(), "iterations": pa.int32()}
    return pa.table({name: pa.array([value], kinds.get(name)) for name, value in row.items()})


# ---- the whole job -----------------------------------------------------------------------------------------------------


def learn_method(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    fold: str,
    method: str,
    *,
    learner: str,
    grid: _Grid,
    ranks: bool,
    queries: Mapping[str, Any] | None,
    scale: FeatureScale,
    measure: str,
    seed: int,
    refits: int = 1,
    log: Callable[..., None],
) -> None:
    """Tune a method on a fold; write what was tried, the model, the scores of the test documents, and the ranker.

    Of a method that is fitted several times, ``refits`` in all, also the scores by the further fits, with other seeds.

    ``ranks`` says whether it aggregates ranks. ``queries`` are the options of query vectors for a method that sees the
    vector of the query beside each document, None for all others.
    """
    if ranks:
        documents = rank_documents(load_judged(files["judged"]), fold)
    else:
        documents = load_fold(files["judged"], fold, scale, columns=["doc_id", "features"])
    view, inverse, recipe = documents.view(), documents.inverse, None
    documents = documents.scaled()  # held once: at web size they are most of the memory
    if queries is not None:
        recipe = load_document_vectors(files, queries, missing=view.missing)
        documents = with_query_vectors(documents, load_queries(files["queries"]))
    inverse = np.append(inverse, documents.inverse[len(inverse) :])  # vectors are not scaled
    choice = fit_method(learner, grid, documents, measure=measure, seed=seed)
    choices = choices_table(fold, method, grid, choice, measure)
    for row in choices.to_pylist():
        log("%s: %s %.4f%s", row["setting"], row["measure"], row["value"], " chosen" * row["chosen"])
    write(out["choices"], "choices", choices)
    write(out["models"], "models", model_table(method, choice.chosen, inverse, documents.parts["train"]))
    test, alone = documents.parts["test"], LearnerRanker(learner=choice.chosen)
    ranker = alone if recipe is None else WithQueryVectors(base=alone)
    served = ServedRanker(method=method, fold=fold, documents=view, queries=recipe, ranker=ranker)
    no_vectors = np.zeros((test.n_queries, 0))  # they are among the features already
    scores = alone.predict(test, no_vectors)
    write_method(out["scores"], out["served"], served, test, scores)
    if "refits" in out:
        train, vali = documents.parts["train"], documents.parts["vali"]
        watched = vali if vali.n_queries else train
        seeds = (fit_seed(seed, fit) for fit in range(1, refits))
        again = (alone.again(one, (train, no_vectors), (watched, no_vectors)) for one in seeds)
        write(out["refits"], "refits", refits_table(test, [one.predict(test, no_vectors) for one in again]))
