"""The job that scores a fold by every method, oracle and control.

Every seed of the clusters chooses its own settings on validation, and so is a run of its own, a fit in ``values``; scores
and rankers are those of the first. There ``x`` is a number of clusters, with the best setting for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.columns import reference_column
from qdrank.layout import FloatArray
from qdrank.learners.choose import ValidationQueries, choose
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold
from qdrank.store import read, write
from qdrank.store.tables import list_column, repeated
from qdrank.studies.lin2011.bank import CLUSTERS_SHAPE, FoldBank, Key, gathered_shards
from qdrank.studies.lin2011.clusters import PAIRS, RANDOM
from qdrank.studies.lin2011.fold import LinFold, model_scores, picked
from qdrank.studies.lin2011.methods import BY_NAME, METHODS, NAIVE, RANKSVM, Grid, Kind, Readings, Weights
from qdrank.studies.lin2011.ranker import ClusterRanker, ranker_of
from qdrank.studies.lin2011.singles import load_singles
from qdrank.studies.running import FoldRun, View


@dataclass(frozen=True)
class OfSeed:
    """What the methods try with one seed of the clusters."""

    fold: LinFold
    grid: Grid
    seed: int

    @property
    def single(self) -> ClusterRanker:
        """The global Ranking SVM."""
        return ranker_of(self.fold, kind="single")

    def rankers(self, scheme: str, kind: Kind, counted: Weights) -> list[ClusterRanker]:
        """The rankers of a method."""
        same: dict[str, Any] = {"scheme": scheme, "kind": kind, "counted": counted, "seed": self.seed}
        sizes = [0] if counted == "uniform" else self.grid.sizes(kind)
        return [ranker_of(self.fold, m=m, lam=lam, size=size, **same) for m, lam in self.grid.models for size in sizes]

    def by_clusters(self, run: FoldRun, method: str) -> dict[int, ClusterRanker]:
        """By number of clusters the ranker that validation chooses among those with as many."""
        tries = BY_NAME[method].tries
        assert tries is not None
        values = [row["value"] for row in run.choices if row["method"] == method]
        tried = [*zip(tries(run), values, strict=True)]
        return {m: choose((one, value) for one, value in tried if one.m == m).chosen for m in sorted(self.grid.ms)}


def write_scores(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    fold: str,
    *,
    grid: Mapping[str, Any],
    readings: Mapping[str, Any],
    measures: Sequence[str],
    ranked: int,
    scale: FeatureScale,
    starts: int,
    seed: int,
    log: Callable[..., None],
) -> None:
    """Write what the study says of a fold; ``ranked`` is the number of clusters whose models are ranked."""
    documents = load_fold(files["judged"], fold, scale, columns=["doc_id", "features"])
    of_fold, of_grid = _fold(files, documents, Readings(**readings), starts, seed), Grid(**grid)
    with one_thread():
        runs = seed_runs(fold, of_fold, of_grid, measures)
        log("settings chosen")
        bounds = [Bounds.of(run, ranked if ranked in of_grid.ms else max(of_grid.ms)) for run in runs]
    first = runs[0]
    first.values = values_tables(runs)
    first.choices = [*read(files["choices"], "choices").to_pylist(), *seed_choices(runs)]
    first.write(out)
    write(out["ranked"], "figure", pa.concat_tables([table for one in bounds for table in one.ranked]))
    write(out["controls"], "table", pa.Table.from_pylist([row for one in bounds for row in one.controls]))
    write(out["summary"], "table", clusters_summary(fold, of_fold))


def _fold(files: Mapping[str, Any], documents: FoldDocuments, readings: Readings, starts: int, seed: int) -> LinFold:
    bank = FoldBank(gathered_shards([read(path, CLUSTERS_SHAPE) for path in files["clusters"]]))
    single = documents.stored(load_singles(read(files["singles"], "models"), documents).weights)
    return LinFold(documents, reference_column(files["columns"]), single, bank, readings, base=seed, starts=starts)


def seed_runs(name: str, fold: LinFold, grid: Grid, measures: Sequence[str]) -> list[FoldRun]:
    """All methods with each seed of the clusters."""
    view = View.of(fold.documents, scaled=False)
    methods = [method for method in METHODS if method.models in ("global", *fold.bank.schemes)]
    runs = []
    for seed in fold.bank.seeds:
        options = OfSeed(fold, grid, seed)
        run = FoldRun(name, {"": view}, options, measure="ap", seed=fold.base, measures=measures).run(methods)
        for method in run.scores:
            if method != RANKSVM:
                run.measured(method, run.scores[method][0])
        runs.append(run)
    return runs


def values_tables(runs: Sequence[FoldRun]) -> list[pa.Table]:
    """Values of all runs, the seeds of the clusters as fits; RankSVM, which has no clusters, is fit 0."""
    tables = []
    for run in runs:
        for table in run.values:
            fit = pa.array(np.full(len(table), run.options.seed, dtype=np.int64))
            tables.append(table.set_column(table.column_names.index("fit"), "fit", fit))
    runs[0].measured(RANKSVM, runs[0].scores[RANKSVM][0])
    return [runs[0].values[-1], *tables]


def seed_choices(runs: Sequence[FoldRun]) -> Iterator[dict[str, Any]]:
    """Rows of the artifact ``choices`` of the methods with clusters."""
    for run in runs:
        for row in (row for row in run.choices if row["method"] != RANKSVM):
            yield row | {"setting": f"seed={run.options.seed} {row['setting']}"}


@dataclass(frozen=True)
class Bounds:
    """What the best models of each query would reach, the local ones and those of the controls.

    Attributes
    ----------
    ranked : columns fold, models, seed, query_id, single (RankSVM's), and the vector ap, best first
    controls : how well the perturbed models match the local ones, one row for each number of clusters
    """

    ranked: list[pa.Table]
    controls: list[dict[str, Any]]

    @classmethod
    def of(cls, run: FoldRun, ranked_m: int) -> Bounds:
        """Those of a seed; the oracles of Figure 2 are added to the values of the run."""
        bounds, test, options = cls([], []), run.options.fold.roles["test"], run.options
        for m, naive in options.by_clusters(run, NAIVE).items():
            local = options.fold.local("test", Key(PAIRS, options.seed, m), naive.lam)
            run.measured(RANKSVM, test.single, x=m)
            run.measured("relevant-only", local.scores_of(local.relevant_only()), x=m)
            models = dict(_models(options, m, naive.lam))
            perturbed, means = models["-perturbed"], {}
            assert isinstance(perturbed, Perturbed)
            for kind, one in models.items():
                S = model_scores(test.X, one.W if isinstance(one, Perturbed) else one)
                ap = test.ap(S)
                run.measured(f"upper-bound{kind}", picked(S, ap.argmax(axis=0), test.offsets), x=m)
                means[kind] = float(ap.mean())
                if m == ranked_m:
                    bounds.ranked.append(_ranked(run, kind, ap, test.ap(test.single[None])[0]))
            row = {"fold": run.fold, "seed": options.seed, "m": m, "size": perturbed.size, "wanted": perturbed.wanted}
            row |= {"reached": perturbed.reached, "test_local": means[""], "test_perturbed": means["-perturbed"]}
            bounds.controls.append(row | {"test_random": means.get("-random", float("nan"))})
        return bounds


def _models(options: OfSeed, m: int, lam: float) -> Iterator[tuple[str, FloatArray | Perturbed]]:
    """Weights of the local models with Naive's lambda, of random clusters, and of perturbed global models."""
    fold = options.fold
    local = fold.local(fold.validation, Key(PAIRS, options.seed, m), lam)
    queries, X = ValidationQueries.of(local.role.part, measure="ap", seed=fold.base), local.role.X
    yield "", local.models.weights
    if PAIRS + RANDOM in fold.bank.schemes:
        yield "-random", fold.bank.models(Key(PAIRS + RANDOM, options.seed, m), lam).weights
    # isotropic on the learner's scale, where features are comparable
    drawn = np.random.SeedSequence([fold.base, options.seed]).generate_state(1)[0]
    steps, inverse = directions(m, len(fold.single), seed=int(drawn)), fold.documents.inverse
    learned = np.where(inverse > 0, fold.single / np.where(inverse > 0, inverse, 1.0), 0.0)
    found = matched(
        learned, steps, lambda W: queries.mean(model_scores(X, W * inverse).T), queries.mean(local.scores.T)
    )
    yield "-perturbed", Perturbed(found.W * inverse, found.size, found.wanted, found.reached)


def _ranked(run: FoldRun, kind: str, ap: FloatArray, single: FloatArray) -> pa.Table:
    part = run.test
    columns: dict[str, Any] = repeated(part.n_queries, fold=run.fold, models=f"local{kind}", seed=run.options.seed)
    columns |= {"query_id": pa.array(part.query_id, pa.string()), "single": single}
    return pa.table(columns | {"ap": list_column(ranked(ap))})


def clusters_summary(name: str, fold: LinFold) -> pa.Table:
    """One row per clustering and lambda: clusters, empty ones, those that fell back to the global model, their sizes."""
    rows = []
    for key, lam, table in fold.bank.tables():
        queries, pairs = (table.column(name).to_numpy() for name in ("queries", "pairs"))
        row = {"fold": name, "scheme": key.scheme, "seed": key.seed, "clusters": key.m, "lam": lam}
        row |= {"empty": int((queries == 0).sum()), "fallback": int((pairs == 0).sum())}
        row |= {"queries_mean": float(queries.mean()), "queries_least": int(queries.min())}
        row |= {"queries_most": int(queries.max()), "largest_gap": float(table.column("gap").to_numpy().max())}
        rows.append(row)
    return pa.Table.from_pylist(rows)


#: Range of the sizes of perturbations, relative to the length of the global weights.
SIZES = (1e-4, 1e4)


@dataclass(frozen=True)
class Perturbed:
    """Random perturbations of the global weights.

    Attributes
    ----------
    W : (m, n_features)
    size : approximate length of a perturbation relative to that of the global weights
    wanted, reached : mean average precision of the local and of the perturbed models on the queries used for matching
    """

    W: FloatArray
    size: float
    wanted: float
    reached: float


def directions(m: int, d: int, *, seed: int) -> FloatArray:
    """Random directions (m, d), each of length about 1; the first ones do not depend on ``m``."""
    drawn: FloatArray = np.stack([np.random.default_rng([seed, i]).standard_normal(d) for i in range(m)])
    scaled: FloatArray = drawn / np.sqrt(d)
    return scaled


def matched(
    w: FloatArray, steps: FloatArray, mean_ap: Callable[[FloatArray], float], wanted: float, *, rounds: int = 18
) -> Perturbed:
    """Perturbations ``w + size |w| steps`` whose mean average precision is ``wanted``, found by bisection.

    Parameters
    ----------
    w : (d,) global weights on the learner's scale
    steps : (m, d) as from `directions`
    mean_ap : mean average precision of models (m, d) over validation or training queries, never test queries
    wanted : that of the local models on the same queries
    """
    length = float(np.linalg.norm(w)) or 1.0
    low, high = np.log(SIZES)
    tried: dict[float, float] = {0.0: mean_ap(w[None])}
    if tried[0.0] > wanted:
        for _ in range(rounds):
            middle = float((low + high) / 2)
            size = float(np.exp(middle))
            tried[size] = mean_ap(w + size * length * steps)
            low, high = (middle, high) if tried[size] > wanted else (low, middle)
    size = min(tried, key=lambda s: (abs(tried[s] - wanted), s))
    return Perturbed(w + size * length * steps, size, wanted, tried[size])


def ranked(ap: FloatArray) -> FloatArray:
    """Average precisions (m, n_queries) of local models, best first for each query: (n_queries, m)."""
    return -np.sort(-ap.T, axis=1)
