"""The job that scores a fold: rankers made from its models, among which validation chooses, and values along k."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray, rows_of
from qdrank.learners.choose import ValidationQueries, choice_rows, choose, fit_seed
from qdrank.learners.parameters import most_regularised_first
from qdrank.measures.compute import measure as measure_of
from qdrank.queries.graph import load_metric
from qdrank.queries.metrics import Euclidean
from qdrank.queries.recipe import Queries, Recipe, load_document_vectors, load_neighbours, load_queries
from qdrank.queries.sizes import Setting
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold, one_model_scores, query_scores
from qdrank.rankers.local_ranker import ReadyModels
from qdrank.rankers.one_model import LinearRanker
from qdrank.store import read
from qdrank.store.tables import repeated
from qdrank.studies.geng2008.class_ranker import ClassRanker, Guesser, guess_classes
from qdrank.studies.geng2008.global_models import CLASS, global_weights
from qdrank.studies.geng2008.local_models import WEIGHTING, ModelBank, gather_local
from qdrank.studies.geng2008.methods import BY_NAME, KNN, LOCAL, OFFLINE, QC, Options, scored
from qdrank.studies.geng2008.offline import OFFLINE_SHAPE, OfflineModels
from qdrank.studies.geng2008.rankers import OnlineRanker, as_share
from qdrank.studies.running import FoldRun, View

#: What is measured along k.
SWEPT = ("mean_ndcg/geng", "ndcg@5/geng", "ndcg@10/geng")


@dataclass(kw_only=True, eq=False)
class BankRanker(QueryRanker):
    """Ranks each query of the fold with a ready model: ``weights`` has those (n_queries, n_features) of queries by id."""

    NAME: ClassVar[str] = "bank"

    k: int
    lam: float
    weights: Callable[[NDArray[np.object_], Setting], FloatArray]

    @property
    def setting(self) -> Setting:
        """Its k and lambda."""
        return Setting(self.k, self.lam)

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,)."""
        return next(self.predict_each([self], documents, vectors))[1]

    def predict_each(
        self,
        fitted: Iterable[Self],
        documents: Judged,
        vectors: FloatArray,  # noqa: ARG002
    ) -> Iterator[tuple[Self, FloatArray]]:
        """Rankers with their scores; the documents are read once."""
        if rankers := list(fitted):
            W = np.stack([one.weights(documents.query_id, one.setting) for one in rankers])
            yield from zip(rankers, query_scores(documents, W), strict=True)


@dataclass(frozen=True, kw_only=True)
class FoldQueries:
    """The queries of a fold, their documents and neighbours, and the ready models that the offline methods use for them.

    ``nearest`` (n_queries, k_max) are training queries.
    """

    documents: FoldDocuments
    queries: Queries
    nearest: NDArray[np.int32]
    offline: OfflineModels
    options: Options

    @cached_property
    def m(self) -> int:
        """Number of training queries."""
        return int(self.queries.is_train.sum())

    def rows(self, role: str) -> IntArray:
        """Rows of the queries of a role."""
        return np.flatnonzero(self.queries.role == role)


@dataclass(frozen=True, kw_only=True)
class FoldModels(FoldQueries):
    """The models of a fold as rankers.

    Attributes
    ----------
    local, whole : local models; models of all training queries and of classes, by lambda and name
    guessers : the classifiers of both QC
    metric, fitted : name of the distance between queries, and the fitted distance
    tol, seed : of the study
    """

    local: ModelBank
    whole: Mapping[float, Mapping[str, FloatArray]]
    guessers: Mapping[str, Guesser]
    metric: str
    fitted: Euclidean
    tol: float
    seed: int

    def tried(self, method: str) -> Sequence[QueryRanker]:
        """Rankers that validation chooses from; only the fixed one if so configured, or without validation queries."""
        fixed = self.options.choose == "fixed" or not self.documents.parts["vali"].n_queries
        if method in LOCAL:
            settings = [self.options.fixed(self.m)] if fixed else self.options.eligible(self.m)
            return [self.of_neighbours(method, setting) for setting in settings]
        lambdas = [self.options.lam] if fixed else most_regularised_first("lam", self.whole)
        return [self.of_all(method, lam) for lam in lambdas]

    def of_all(self, method: str, lam: float) -> LinearRanker | ClassRanker:
        """A method with models of many queries."""
        weights = self.whole[lam]
        if method in QC:
            by_class = copy(self.guessers[method].ranker)
            by_class.lam, by_class.single_ = lam, weights["single"]
            return by_class.serve({name.removeprefix(CLASS): w for name, w in weights.items()})
        ranker = LinearRanker(lam=lam, tol=self.tol)
        ranker.coef_ = weights[method]
        return ranker

    def of_neighbours(self, method: str, setting: Setting) -> BankRanker:
        """A method with local models, for queries of the fold."""

        def weights(query_id: NDArray[np.object_], of: Setting) -> FloatArray:
            served = self.offline.models(method, of.k, query_id) if method in OFFLINE else query_id
            return self.local.weights(LOCAL[method], of, served)

        return BankRanker(k=setting.k, lam=setting.lam, weights=weights)

    def along(self, method: str, part: Judged) -> Iterator[tuple[int, FloatArray]]:
        """Every k of the curves, and scores of documents by the method with it; a model of all queries has k = m."""
        if method not in LOCAL:
            yield self.m, one_model_scores(part, self.whole[self.options.lam][method])
            return
        rankers = [self.of_neighbours(method, setting) for setting in self.options.curve(self.m)]
        for ranker, scores in rankers[0].predict_each(rankers, part, np.zeros((part.n_queries, 0))):
            yield ranker.k, scores

    def of_any(self, method: str, chosen: BankRanker) -> ReadyModels | OnlineRanker:
        """The same for any query; what trains a model when the query arrives agrees to the tolerance of training."""
        neighbourhood, is_train = LOCAL[method], self.queries.is_train
        shared: dict[str, Any] = {"k": as_share(chosen.k, self.m), "lam": chosen.lam}
        shared |= {"tol": self.tol, "metric": self.metric}
        made: ReadyModels | OnlineRanker
        if method in OFFLINE:
            nearest = method == OFFLINE[1]
            choice: Any = "nearest" if nearest else "shared_pairs"
            made = ReadyModels(**shared, choice=choice, largest=self.nearest.shape[1])
            made.weights_ = self.local.weights(neighbourhood, chosen.setting, self.queries.query_id[is_train])
            made.pairs_ = self.documents.parts["train"].pairs
            made.neighbours_ = self.nearest[is_train, : 0 if nearest else chosen.k]
        else:
            made = OnlineRanker(
                **shared,
                query_weights=WEIGHTING[neighbourhood],
                random=self.seed if neighbourhood == "random" else None,
                mean=self.documents.mean,
                inverse=self.documents.inverse,
            )
        made.vectors_, made.query_id_ = self.queries.vectors[is_train], self.queries.query_id[is_train]
        made.map_ = getattr(self.fitted, "map_", np.zeros((0, 0)))
        return made


def fold_run(fold: str, models: FoldModels, recipe: Recipe, *, measure: str, **given: Any) -> FoldRun:
    """The methods of a fold with models, as validation chooses them; ``recipe`` makes vectors of new queries."""

    def view(method: str, recipe: Recipe) -> View:
        columns, ids = models.guessers[method].columns, models.queries.query_id
        return View.of(models.documents, lambda part: columns[rows_of(part.query_id, ids)], recipe, scaled=False)

    views = {
        "": View.of(models.documents, scaled=False),
        "vectors": view("qc-documents", recipe),
        "query": view("qc", models.guessers["qc"].recipe or recipe),
    }
    run = FoldRun(fold, views, models, measure, models.seed, **given)
    if models.documents.parts["vali"].n_queries:
        return run.run(BY_NAME[method] for method in scored(models.options))
    for method in scored(models.options):  # by hand: local models know the training queries, which decide elsewhere
        (ranker,), sees = models.tried(method), BY_NAME[method].sees
        run.made[method], run.sees[method] = ranker, sees
        run.scores[method] = [ranker.predict(*views[sees].parts["test"])]
        run.choices += choice_rows(fold, method, [""], choose([(method, float("nan"))]), measure)
    return run


def write_fold(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    fold: str,
    *,
    geng: Mapping[str, Any],
    scale: FeatureScale,
    measure: str,
    queries: Mapping[str, Any],
    metric: str,
    tol: float,
    starts: int,
    seed: int,
    refits: int,
    log: Callable[[str], object],
) -> FoldRun:
    """Write the local models of all shards in one table; then choices, scores, rankers, and values along k."""
    points = load_queries(files["queries"])
    documents = load_fold(files["judged"], fold, scale, columns=["doc_id", "features"])
    _, guessers = guess_classes(points, read(files["topics"], "topics"), seed=seed, starts=starts, tol=tol)
    models = FoldModels(
        documents=documents,
        queries=points,
        nearest=load_neighbours(files["neighbours"])[1],
        offline=OfflineModels(read(files["offline"], OFFLINE_SHAPE)),
        options=Options(**geng),
        local=ModelBank(gather_local(files, out["local"])),
        whole=global_weights(read(files["whole"], "models")),
        guessers=guessers,
        metric=metric,
        fitted=load_metric(files["metric"]),
        tol=tol,
        seed=seed,
    )
    recipe = load_document_vectors(files, queries, missing=documents.fill is not None)
    run = fold_run(fold, models, recipe, measure=measure, log=log)
    run.values += curves(run)
    run.made |= {name: models.of_any(name, one) for name, one in run.made.items() if isinstance(one, BankRanker)}
    for method in (name for name in run.scores if f"refits_{name}" in out):  # by hand: the bank has no other draw
        train, test = ((part, points.of(part.query_id)) for part in map(documents.parts.__getitem__, ("train", "test")))
        again = (run.made[method].again(fit_seed(seed, fit), train) for fit in range(1, refits))
        run.scores[method] += [one.predict(*test) for one in again]
    run.write(out, study="geng2008")
    return run


def curves(run: FoldRun) -> Iterator[pa.Table]:
    """Rows of ``values`` along k at the one lambda, by hand: of validation queries too, and with change ratios."""
    models: FoldModels = run.options
    control = ["knn-random"] if "random" in models.options.controls else []
    for role in ("vali", "test"):
        part, n = models.documents.parts[role], models.documents.parts[role].n_queries
        for method in ("single", *KNN, *control) if n else ():
            for k, scores in models.along(method, part):
                rows = repeated(n, fold=run.fold, method=method, role=role, x=float(k))
                rows |= {"fit": np.zeros(n, np.int64), "query_id": pa.array(part.query_id, pa.string())}
                known = method in OFFLINE
                gamma = models.offline.gamma(method, k, part.query_id) if known else np.full(n, np.nan)
                yield pa.table(rows | _measured(role, part, scores, run.seed) | {"gamma": gamma})


def _measured(role: str, part: Judged, scores: FloatArray, seed: int) -> dict[str, FloatArray]:
    """Measures as used to compare settings for validation queries, as reported for test queries."""
    if role == "vali":
        return ValidationQueries.of(part, measure=SWEPT[0], seed=seed).measured(SWEPT, scores)
    return measure_of(SWEPT, part.y, scores, part.offsets, unranked=part.unranked)
