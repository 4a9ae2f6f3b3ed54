"""The job that scores a fold by every method, oracle and control, with the settings that validation chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from qdrank.datasets.columns import reference_column
from qdrank.learners.ranksvm.kernels import one_thread
from qdrank.rankers.documents import FeatureScale, FoldDocuments, load_fold
from qdrank.rankers.served import ServedRanker, write_method
from qdrank.store import read, write
from qdrank.studies.lin2011.bank import FoldBank, gathered_shards
from qdrank.studies.lin2011.fold import LinFold
from qdrank.studies.lin2011.methods import ALGORITHMS, RANKSVM
from qdrank.studies.lin2011.options import Grid, Readings
from qdrank.studies.lin2011.ranker import cluster_ranker
from qdrank.studies.lin2011.shapes import CLUSTER_MODELS_SHAPE, CLUSTERS_SHAPE
from qdrank.studies.lin2011.singles import load_singles
from qdrank.studies.lin2011.sweep import (
    Swept,
    all_choices,
    clusters_summary,
    curves,
    first_methods,
    seed_measures_table,
    sweep,
)


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
    tried, documents = Grid(**grid), load_fold(files["judged"], fold, scale, columns=["doc_id", "features"])
    data = _fold(files, documents, Readings(**readings), starts, seed)
    with one_thread():
        swept = sweep(data, tried)
        log("settings chosen")
        write(out["choices"], "choices", all_choices(fold, swept, read(files["choices"], "choices")))
        write(out["seeds"], "measures", seed_measures_table(fold, data, swept, measures))
        drawn = curves(fold, data, swept, tried, ranked if ranked in tried.ms else max(tried.ms))
        log("curves")
        write(out["curve"], "figure", drawn.curve)
        write(out["ranked"], "figure", drawn.ranked)
        write(out["controls"], "table", drawn.controls)
        write(out["summary"], "table", clusters_summary(fold, data))
        _write_methods(out, fold, data, swept)


def _fold(files: Mapping[str, Any], documents: FoldDocuments, readings: Readings, starts: int, seed: int) -> LinFold:
    bank = FoldBank(
        gathered_shards([read(path, CLUSTERS_SHAPE) for path in files["clusters"]]),
        gathered_shards([read(path, CLUSTER_MODELS_SHAPE) for path in files["models"]]),
        documents.parts["train"].query_id,
    )
    single = documents.stored(load_singles(read(files["singles"], "models"), documents).weights)
    return LinFold(documents, reference_column(files["columns"]), single, bank, readings, base=seed, starts=starts)


def _write_methods(out: Mapping[str, str], name: str, fold: LinFold, swept: Swept) -> None:
    """Scores and rankers of the methods with the first seed, and of Ranking SVM."""
    rankers = {RANKSVM: cluster_ranker(fold)}
    rankers |= {m: cluster_ranker(fold, ALGORITHMS[m], seed, setting) for m, seed, setting in first_methods(swept)}
    for method, ranker in rankers.items():
        view = fold.documents.view(scaled=False)
        served = ServedRanker(method=method, fold=name, documents=view, ranker=ranker)
        write_method(out[method], out[f"served_{method}"], served, fold.documents.parts["test"])
