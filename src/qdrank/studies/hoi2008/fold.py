"""SER, SSER and their controls on one fold: the weights of every query and gamma, in shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.layout import FloatArray, IntArray, rows_of
from qdrank.learners.choose import Choice, ValidationQueries
from qdrank.learners.ensemble.program import ProgramSolution
from qdrank.learners.ensemble.ser import rounded_scores
from qdrank.learners.ensemble.sser import SSER
from qdrank.learners.ensemble.trace_coefficients import Ties
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold
from qdrank.store import write
from qdrank.store.lists import list_column
from qdrank.studies.hoi2008.methods import SOLVED, TIES, with_ties
from qdrank.studies.hoi2008.options import Options
from qdrank.studies.hoi2008.rankers import other_queries, query_rows
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE

_ROLES = ("vali", "test")
TIE_RULES: tuple[Ties, ...] = ("half", "file")


@dataclass(frozen=True, eq=False)
class EnsembleFold:
    """A fold whose features are scores of rankers.

    Attributes
    ----------
    documents : those of train, vali and test, with all scores on one scale
    options : section ``hoi`` of the configuration
    measure : the measure that decides on the validation queries
    seed : of the controls, and of the order of tied validation documents
    """

    documents: FoldDocuments
    options: Options
    measure: str
    seed: int

    @property
    def max_grade(self) -> int:
        """Highest grade of the training queries."""
        return int(self.documents.parts["train"].y.max(initial=0))

    def fitted(self, ties: Ties, **changed: float | bool) -> SSER:
        """SSER with these options changed, fitted on the training queries."""
        train = self.documents.parts["train"]
        return self.options.estimator(ties, max_grade=self.max_grade, **changed).fit(train.X, train.y, train.query)

    def constant(self) -> NDArray[np.bool_]:
        """Rankers that give all documents of every training query the same score, shape (n_rankers,)."""
        train = self.documents.parts["train"]
        starts = train.offsets[:-1]
        spread = np.maximum.reduceat(train.X, starts, axis=0) - np.minimum.reduceat(train.X, starts, axis=0)
        return np.asarray((spread == 0).all(axis=0))

    def models(self, ties: Ties) -> dict[str, SSER]:
        """SSER by the name of its SER: as it is, tuned, without rankers that are constant in training, without w >= 0.

        A ranker that is left out has no influence and therefore no weight.
        """
        usual = self.fitted(ties)
        B = usual.coefficients_
        return {
            "ser": usual,
            "ser-tuned": self.tuned(ties)[0],
            "ser-varying": _fitted_again(usual, np.where(self.constant(), 0.0, B)),
            "ser-free": _fitted_again(usual, B, nonnegative=False),
        }

    @cached_property
    def validation(self) -> ValidationQueries:
        """The validation queries, on which C, theta, delta and gamma are chosen."""
        return ValidationQueries.of(self.documents.parts["vali"], measure=self.measure, seed=self.seed)

    def tuned(self, ties: Ties) -> tuple[SSER, Choice[SSER] | None]:
        """SSER with the C, theta and delta that make SER best on validation, and the choice among `Options.tried`."""
        part = self.documents.parts["vali"]
        if not part.n_queries:
            return self.fitted(ties), None
        choice: Choice[SSER] = Choice()
        model, last = None, None
        for changed in self.options.tried():
            # C varies fastest, since the coefficients, which take longest, do not depend on it.
            if model is not None and last == (changed["theta"], changed["delta"]):
                model = _fitted_again(model, C=changed["C"])
            else:
                model, last = self.fitted(ties, **changed), (changed["theta"], changed["delta"])
            choice.offer(model, self.validation.values(rounded_scores(part.X, model.weights_)))
        return choice.chosen, choice

    def others(self, role: str) -> IntArray:
        """A random other query of the same role for every query, shape (n_queries,)."""
        return other_queries(self.documents.parts[role].n_queries, self.seed_of_others(role))

    def seed_of_others(self, role: str) -> tuple[int, int]:
        """Seed that decides which other query is taken."""
        return self.seed, _ROLES.index(role)


def load_ensemble_fold(
    judged: str, fold: str, *, hoi: Mapping[str, Any], scale: FeatureScale, measure: str, seed: int
) -> EnsembleFold:
    """A fold from the artifact ``judged``; ``hoi`` are keys of its section."""
    documents = load_fold(judged, fold, scale, columns=["doc_id", "features"])
    return EnsembleFold(documents, Options(**hoi), measure, seed)


def _fitted_again(model: SSER, B: FloatArray | None = None, **changed: Any) -> SSER:
    """The model with other coefficients, or with changes to parameters that do not affect the coefficients."""
    return SSER(**model.get_params() | changed).fit_coefficients(model.coefficients_ if B is None else B)


# ---- weights -----------------------------------------------------------------------------------------------------


def solve_shard(fold: EnsembleFold, *, shard: int, n_shards: int) -> pa.Table:
    """The artifact ``ensembles`` for shard number ``shard`` (from 0) of the validation and test queries.

    The first shard also has the weights that are the same for all queries, under the role "train".
    """
    rows = [row for ties in TIE_RULES for row in _solved(fold, ties, shard, n_shards)]
    return _table(rows, fold.documents.parts["train"].X.shape[1])


def write_shard(
    files: Mapping[str, str], path: str, fold: str, shard: tuple[int, int], *, log: Callable[..., None], **given: Any
) -> None:
    """Solve and write one shard, given as its number, from 0, and how many there are; ``given`` as for `load_ensemble_fold`."""
    solved = solve_shard(load_ensemble_fold(files["judged"], fold, **given), shard=shard[0], n_shards=shard[1])
    log("%d programs", len(solved))
    write(path, ENSEMBLES_SHAPE, solved)


_Row = tuple[str, str, str, float, ProgramSolution]


def _solved(fold: EnsembleFold, ties: Ties, shard: int, n_shards: int) -> Iterator[_Row]:
    models = fold.models(ties)
    usual, tuned, varying = (models[name] for name in ("ser", "ser-tuned", "ser-varying"))
    if shard == 0:
        for name, model in models.items():
            yield with_ties(name, ties), "train", "", 0.0, model.solved()[1]
    mask = np.where(fold.constant(), 0.0, 1.0)
    for role in _ROLES:
        part, others = fold.documents.parts[role], fold.others(role)
        for query in shard_range(part.n_queries, shard, n_shards):
            X, other = query_rows(part, query), query_rows(part, int(others[query]))
            for name, gamma, solution in _of_query(fold.options, usual, tuned, varying, X, X * mask, other):
                yield with_ties(name, ties), role, part.query_id[query], gamma, solution


def _of_query(
    options: Options, usual: SSER, tuned: SSER, varying: SSER, X: FloatArray, masked: FloatArray, other: FloatArray
) -> Iterator[tuple[str, float, ProgramSolution]]:
    """Solutions for one query, by the name of the method and gamma."""
    gammas, K = options.path, usual.roughness_of(X)
    path = usual.path(K, gammas)
    # A ranker that is constant in training may vary here; "without constant rankers" ignores it here as well.
    same = np.array_equal(X, masked) and np.array_equal(usual.coefficients_, varying.coefficients_)
    paths = {
        "sser": path,
        "sser-tuned": tuned.path(K, gammas),
        "sser-varying": path if same else varying.path(usual.roughness_of(masked), gammas),
        "sser-printed": [usual.as_printed(np.eye(len(K)) + g * K, s) for g, s in zip(gammas, path, strict=True)],
        "sser-other": usual.path(usual.roughness_of(other), gammas),
    }
    for name, solutions in paths.items():
        yield from ((name, gamma, solution) for gamma, solution in zip(gammas, solutions, strict=True))


def shard_range(n: int, shard: int, n_shards: int) -> range:
    """Numbers of the queries of a shard."""
    return range(n * shard // n_shards, n * (shard + 1) // n_shards)


def _table(rows: Sequence[_Row], n_rankers: int) -> pa.Table:
    solutions = [row[4] for row in rows]
    columns = {
        name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(("method", "role", "query_id"))
    }
    columns |= {"gamma": pa.array([row[3] for row in rows], pa.float64())}
    columns |= {
        name: pa.array([getattr(s, name) for s in solutions], pa.float64()) for name in ("objective", "gap", "kkt")
    }
    columns |= {"steps": pa.array([s.steps for s in solutions], pa.int32())}
    weights = np.array([s.weights for s in solutions]).reshape(len(rows), n_rankers)
    return pa.table(columns | {"weights": list_column(weights)})


@cache
def _places() -> dict[str, int]:
    names = [with_ties(name, ties) for ties in TIES for name in SOLVED]
    return {name: place for place, name in enumerate(names)}


def gathered_weights(shards: Sequence[pa.Table], documents: FoldDocuments) -> pa.Table:
    """All weights in an order that does not depend on the shards: method, role, query, gamma."""
    table = pa.concat_tables(shards).combine_chunks()
    ids = np.concatenate([np.array([""], dtype=object), *(documents.parts[role].query_id for role in _ROLES)])
    query = rows_of(table.column("query_id").to_numpy(zero_copy_only=False), ids)
    method = np.array([_places()[name] for name in table.column("method").to_pylist()], dtype=np.int64)
    order = np.lexsort((table.column("gamma").to_numpy(), query, method))
    return table.take(pa.array(order))
