"""The jobs of a fold: SER, SSER and their controls, the learning curve, and ensembles whose rankers are methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import TextArray
from qdrank.errors import InputError
from qdrank.learners.linear import ListNet
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold
from qdrank.rankers.learned import LearnerRanker
from qdrank.rankers.served import read_ranker
from qdrank.store import write
from qdrank.store.tables import list_column, repeated
from qdrank.studies.hoi2008.methods import ENSEMBLES, GAMMA, ON_CURVE, SOLVED, STACKED_METHODS, TIES, with_ties
from qdrank.studies.hoi2008.rankers import EnsembleRanker, Options, Solved
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.running import FoldRun, View, subsets

_Given = Mapping[str, Any]


def ensemble_run(fold: str, documents: FoldDocuments, hoi: _Given, *, scaled: bool = False, **given: Any) -> FoldRun:
    """The methods of a fold, not yet run; ``hoi`` are keys of its section, and ``given`` fields of the run."""
    options = Options(**hoi, max_grade=int(documents.parts["train"].y.max(initial=0)))
    return FoldRun(fold, {"": View.of(documents, scaled=scaled)}, options, **given)


def write_fold(
    files: Mapping[str, str], out: Mapping[str, str], fold: str, *, scale: FeatureScale, hoi: _Given, **given: Any
) -> None:
    """Tune, score and write all ensembles, and the weights of every query and gamma."""
    documents = load_fold(files["judged"], fold, scale, columns=["doc_id", "features"])
    run = ensemble_run(fold, documents, hoi, measures=["ap"], **given).run(ENSEMBLES)
    run.write(out)
    write(out["weights"], ENSEMBLES_SHAPE, weights_table(run))


def write_stacked(
    files: Mapping[str, Any], out: Mapping[str, str], fold: str, *, scale: FeatureScale, hoi: _Given, **given: Any
) -> None:
    """The ensembles of the methods in ``files["rankers"]``, which see documents as learners do.

    The models look better than they are on the queries they were trained on. The ensemble is therefore learned on the
    validation queries. Nothing in the ensemble is tuned, so the validation queries are used only once.
    """
    documents = load_fold(files["judged"], fold, scale, columns=["doc_id", "features"])
    if not documents.parts["vali"].n_queries:
        problem = "this fold has no validation queries to learn an ensemble of methods on"
        raise InputError(problem, fix="leave hoi.methods empty")
    run = ensemble_run(fold, documents, hoi, scaled=True, **given)
    run.made.update(
        (name, read_ranker(path).ranker) for name, path in zip(hoi["methods"], files["rankers"], strict=True)
    )
    run.run(STACKED_METHODS).write(out)


def weights_table(run: FoldRun) -> pa.Table:
    """The artifact ``ensembles``: solutions by method, role, query and gamma, with their certificates."""
    return pa.concat_tables(_solutions(run)).combine_chunks()


def _solutions(run: FoldRun) -> Iterator[pa.Table]:
    for name in (with_ties(name, ties) for ties in TIES for name in SOLVED):
        ensemble = run.made[name]
        assert isinstance(ensemble, EnsembleRanker)
        if name.startswith("ser"):  # the same for all queries
            solved = Solved.of([0.0], [[ensemble.learner.solved()[1]]])
            yield _rows(name, "train", np.array([""], dtype=object), solved)
            continue
        for role in ("vali", "test"):
            part = run.views[""].parts[role][0]
            if part.n_queries:
                yield _rows(name, role, part.query_id, ensemble.solved(part, run.options.path))


def _rows(method: str, role: str, query_id: TextArray, solved: Solved) -> pa.Table:
    n, n_gammas = solved.gap.shape
    columns: dict[str, Any] = repeated(n * n_gammas, method=method, role=role)
    columns |= {"query_id": pa.array(np.repeat(query_id, n_gammas), pa.string()), "gamma": np.tile(solved.gammas, n)}
    columns |= {name: getattr(solved, name).ravel() for name in ("objective", "gap", "kkt")}
    columns |= {"steps": solved.steps.ravel().astype(np.int32)}
    return pa.table(columns | {"weights": list_column(solved.weights.reshape(n * n_gammas, -1))})


def measure_subsets(run: FoldRun, sizes: Sequence[int], repeats: int) -> pa.Table:
    """Values of every method by subset: ``x`` is the number of training queries, 0 for all, and ``fit`` the repeat."""
    parts = run.views[""].parts
    (train, vectors), test = parts["train"], parts["test"]
    for size, repeat, queries in subsets(train.n_queries, sizes, repeats, run.seed):
        learned = train.take(queries), vectors[queries]
        sser = EnsembleRanker(learner=run.options.estimator("half"), gamma=GAMMA).fit(*learned)
        rankers = {
            "ser": sser.at(0.0),
            "sser": sser,
            "ranksvm": LearnerRanker(learner=RankSVM()),
            "listnet": LearnerRanker(learner=ListNet()),
        }
        for method in ON_CURVE:
            (ranker,) = rankers[method].fit_each([rankers[method]], *learned)
            run.measured(method, ranker.predict(*test), fit=repeat, x=size)
    return pa.concat_tables(run.values)


def write_curve(
    files: Mapping[str, str],
    path: str,
    fold: str,
    *,
    scale: FeatureScale,
    hoi: Mapping[str, Any],
    sizes: Sequence[int],
    repeats: int,
    **given: Any,
) -> None:
    """Write the learning curve of a fold."""
    documents = load_fold(files["judged"], fold, scale, columns=["doc_id", "features"])
    run = ensemble_run(fold, documents, hoi, measures=["ap"], **given)
    write(path, "values", measure_subsets(run, sizes, repeats))
