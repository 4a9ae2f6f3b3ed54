"""Models of many queries: Single, Single with every query weighted equally, and one model per class for QC."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.layout import FloatArray, padded
from qdrank.learners.ranksvm.estimator import RankSVM, all_pairs
from qdrank.learners.ranksvm.local import prepare_training, train_block
from qdrank.learners.ranksvm.preferences import Preferences
from qdrank.queries.recipe import load_queries
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold
from qdrank.store import read, write
from qdrank.studies.geng2008.class_ranker import guess_classes
from qdrank.studies.geng2008.query_classes import CLASSES_SHAPE

#: Name of a class's model.
CLASS = "class:"


def train_global(
    documents: FoldDocuments, classes: NDArray[np.object_], lambdas: Iterable[float], *, tol: float
) -> pa.Table:
    """Train Single, Single with equal weights and the models of ``classes`` (m,), for every lambda; the artifact ``models``."""
    data = documents.preferences()
    every_pair = {weighting: all_pairs(data, weighting) for weighting in ("pairs", "equal")}
    rows = [row for lam in lambdas for row in _of_lambda(data, classes, lam, tol, every_pair)]
    for row in rows:
        row["weights"] = documents.stored(row["weights"])
    return pa.Table.from_pylist(rows)


def write_global(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    lambdas: Iterable[float],
    starts: int,
    seed: int,
    scale: FeatureScale,
    tol: float,
    log: Callable[..., None],
) -> None:
    """Write the classes of the queries of a fold, and the models of all training queries and of each class."""
    queries = load_queries(files["queries"])
    classes, _ = guess_classes(queries, read(files["topics"], "topics"), starts=starts, seed=seed)
    log("classes: %s", classes.origin)
    write(out["classes"], CLASSES_SHAPE, classes.to_table(queries))
    documents = load_fold(files["judged"], fold, scale, wanted=["train"])
    models = train_global(documents, classes.true[queries.is_train], lambdas, tol=tol)
    write(out["models"], "models", models)


def _of_lambda(
    data: Preferences, classes: NDArray[np.object_], lam: float, tol: float, every_pair: Mapping[str, FloatArray]
) -> Iterator[dict[str, Any]]:
    base = prepare_training(data, lam=lam, tol=tol, all_pairs=every_pair["pairs"])
    single, pairs = base.single, int(data.pairs.sum())
    yield _row("single", data.n_queries, lam, single.w, pairs, single.gap, single.iterations)
    learner = RankSVM(lam=lam, query_weights="equal", tol=tol)
    equal = learner.fit_preferences(data, all_pairs=every_pair["equal"])
    yield _row("single-equal", data.n_queries, lam, equal.coef_, pairs, equal.gap_, equal.n_iter_)
    names = sorted(set(classes.tolist()))
    members = [np.flatnonzero(classes == name) for name in names]
    models = train_block(base, padded(members), tol=tol)
    for i, name in enumerate(names):
        figures = (models.W[i], models.pairs[i], models.gaps[i], models.evaluations[i])
        yield _row(f"{CLASS}{name}", len(members[i]), lam, *figures)


def _row(name: str, k: int, lam: float, w: FloatArray, pairs: int, gap: float, iterations: int) -> dict[str, Any]:
    row = {"model": name, "k": k, "lam": lam, "weights": w, "text": None}
    return row | {"pairs": int(pairs), "gap": float(gap), "iterations": int(iterations)}


def global_weights(table: pa.Table) -> dict[float, dict[str, FloatArray]]:
    """Weights (n_features,) of the artifact ``models`` by lambda, the most regularised first, and by model."""
    found: dict[float, dict[str, FloatArray]] = {lam: {} for lam in sorted(set(table["lam"].to_pylist()), reverse=True)}
    for model, lam, weights in zip(*(table[name].to_pylist() for name in ("model", "lam", "weights")), strict=True):
        found[lam][model] = np.array(weights)
    return found
