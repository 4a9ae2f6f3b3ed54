"""The global Ranking SVM, baseline of all methods: it chooses from as many lambdas as the methods have settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.layout import FloatArray
from qdrank.learners.choose import ValidationQueries, choice_rows, choose
from qdrank.learners.ranksvm.estimator import Model
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold
from qdrank.store import write
from qdrank.studies.lin2011.methods import RANKSVM, Grid
from qdrank.studies.lin2011.training import train_singles

CANDIDATE = f"{RANKSVM}-candidate"


@dataclass(frozen=True)
class Singles:
    """Global models by lambda on the learner's scale, and the lambda that validation chose."""

    models: dict[float, Model]
    chosen: float

    @property
    def weights(self) -> FloatArray:
        """Weights of the chosen model."""
        return self.models[self.chosen].w


def budget_lambdas(lambdas: Sequence[float], budget: int) -> list[float]:
    """Lambdas of the global Ranking SVM: those of the local models, and more from a tenth to ten times their range.

    Evenly spaced on a log scale, ``budget`` in all, descending.
    """
    known = sorted(set(lambdas))
    rest = max(0, budget - len(known))
    between = np.geomspace(known[0] / 10, known[-1] * 10, rest + 2)[1:-1].tolist() if rest else []
    return sorted({*known, *between}, reverse=True)


def write_singles(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    grid: Mapping[str, Any],
    scale: FeatureScale,
    tol: float,
    seed: int,
    log: Callable[..., None],
) -> None:
    """Write the global models of a fold, and which lambda was chosen; ``grid`` holds the keys of `Grid`."""
    settings, documents = Grid(**grid), load_fold(files["judged"], fold, scale)
    lambdas = budget_lambdas(settings.lambdas, settings.budget)
    singles, choices = choose_single(fold, documents, lambdas, tol=tol, seed=seed)
    log("lambda %g, chosen among %d", singles.chosen, len(lambdas))
    write(out["models"], "models", singles_table(singles, documents))
    write(out["choices"], "choices", choices)


def choose_single(
    fold: str, documents: FoldDocuments, lambdas: Sequence[float], *, tol: float, seed: int
) -> tuple[Singles, pa.Table]:
    """Train a Ranking SVM for every lambda, descending, and choose one by validation MAP.

    Without validation queries training MAP chooses. ``seed`` decides the order of tied documents. Returns the models
    and the artifact ``choices``.
    """
    models = train_singles(documents.preferences(), lambdas, tol=tol)
    part = documents.parts["vali"] if documents.parts["vali"].n_queries else documents.parts["train"]
    W = documents.stored(np.stack([models[lam].w for lam in lambdas]))
    queries, X = ValidationQueries.of(part, measure="ap", seed=seed), part.X.astype(np.float64)
    choice = choose((lam, queries.values(X @ w)) for lam, w in zip(lambdas, W, strict=True))
    rows = choice_rows(fold, RANKSVM, [f"lambda={lam:.4g}" for lam in lambdas], choice, "ap", lam=lambdas)
    return Singles(models, choice.chosen), pa.Table.from_pylist(rows)


def singles_table(singles: Singles, documents: FoldDocuments) -> pa.Table:
    """The artifact ``models``; weights are for the features as given."""
    train = documents.parts["train"]
    pairs = int(documents.preferences().pairs.sum())
    rows = [
        {
            "model": RANKSVM if lam == singles.chosen else CANDIDATE,
            "k": train.n_queries,
            "lam": lam,
            "weights": documents.stored(one.w),
            "text": None,
            "pairs": pairs,
            "gap": one.gap,
            "iterations": one.iterations,
        }
        for lam, one in singles.models.items()
    ]
    return pa.Table.from_pylist(rows)


def load_singles(table: pa.Table, documents: FoldDocuments) -> Singles:
    """The models of the artifact ``models``, back on the learner's scale."""
    inverse = documents.inverse
    unscale = np.where(inverse > 0, 1 / np.where(inverse > 0, inverse, 1.0), 0.0)
    models, chosen = {}, 0.0
    for row in table.to_pylist():
        w = np.array(row["weights"]) * unscale
        models[row["lam"]] = Model(w, float("nan"), row["gap"], row["iterations"])
        chosen = row["lam"] if row["model"] == RANKSVM else chosen
    return Singles(models, chosen)
