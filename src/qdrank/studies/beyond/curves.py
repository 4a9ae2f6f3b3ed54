"""Two curves of a fold: against the number of training queries, and against the recurrence of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged, TextArray
from qdrank.layout import FloatArray, IntArray
from qdrank.queries.artifacts import load_queries
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.documents import FeatureScale, load_fold
from qdrank.rankers.evidence import recurrence
from qdrank.rankers.plain import LinearRanker, WithEvidence
from qdrank.rankers.tuning import query_values_of
from qdrank.store import read, write
from qdrank.studies.beyond.fold import FoldData, chosen_places, fold_data
from qdrank.studies.beyond.methods import MEASURE, SINGLE, TREES
from qdrank.studies.beyond.options import Options

#: Methods of the learning curve.
LEARNED = (SINGLE, TREES, "beyond-kernel", "beyond-evidence", "beyond-trees-evidence")


def subsets(n: int, options: Options) -> Iterator[tuple[int, int, IntArray]]:
    """Size, repeat and training queries of every subset, nested within a repeat; all queries come last, as size 0."""
    for repeat in range(options.repeats):
        order = np.random.default_rng([options.seed, repeat]).permutation(n)
        for size in sorted({size for size in options.sizes if size < n}):
            yield size, repeat, np.sort(order[:size]).astype(np.int64)
    yield 0, 0, np.arange(n, dtype=np.int64)


def learned(options: Options, chosen: Mapping[str, int], reference: int) -> dict[str, QueryRanker]:
    """Unfitted rankers of the learning curve by name, with the settings chosen on all training queries."""
    single = options.linear()[chosen[SINGLE]]
    assert isinstance(single, LinearRanker)
    evidence = options.evidence(reference)
    return {
        SINGLE: single,
        TREES: options.trees()[chosen[TREES]],
        "beyond-kernel": options.kernel(single.lam)[chosen["beyond-kernel"]],
        "beyond-evidence": WithEvidence(base=options.linear()[chosen["beyond-evidence"]], evidence=evidence),
        "beyond-trees-evidence": WithEvidence(
            base=options.trees()[chosen["beyond-trees-evidence"]], evidence=options.evidence(reference)
        ),
    }


def learning_curve(fold: str, data: FoldData, options: Options, chosen: Mapping[str, int]) -> pa.Table:
    """Average precision of the test queries by method and number of training queries (0: all), one row per repeat."""
    train, vectors = data.train
    tables = []
    for size, repeat, queries in subsets(train.n_queries, options):
        for method, ranker in learned(options, chosen, data.reference).items():
            ranker.fit(train.take(queries), vectors[queries], validation=data.vali)
            values = query_values_of(MEASURE, data.test[0], ranker.predict(*data.test))
            tables.append(_table(fold, data.test[0], {"method": method}, {"size": size, "repeat": repeat}, values))
    return pa.concat_tables(tables)


def thinned(train: Judged, share: float, seed: list[int]) -> Judged:
    """The same documents with a random ``share`` of the relevant judgments; the rest become 0, or go if missed."""
    rng = np.random.default_rng(seed)
    known = replace(train, y=np.where(rng.random(train.n_documents) < share, train.y, 0))
    if train.missed is None or train.missed_id is None:
        return known
    kept = [rng.random(len(grades)) < share for grades in train.missed]
    return replace(known, missed=_where(train.missed, kept), missed_id=_where(train.missed_id, kept))


def _where(lists: TextArray, kept: Sequence[NDArray[np.bool_]]) -> TextArray:
    """Entries of each list that are kept."""
    shorter = np.empty(len(lists), dtype=object)
    shorter[:] = [tuple(one for one, keep in zip(*pair, strict=True) if keep) for pair in zip(lists, kept, strict=True)]
    return shorter


def recurrence_curve(fold: str, data: FoldData, options: Options, chosen: Mapping[str, int]) -> pa.Table:
    """Average precision of Single with evidence when judgments are thinned out, and the remaining recurrence.

    Only the evidence loses judgments. The ranker learns from all grades, so nothing but recurrence changes.
    """
    (train, vectors), test = data.train, data.test[0]
    tables = []
    for share in options.thinning:
        for repeat in range(options.repeats if 0 < share < 1 else 1):
            known = thinned(train, share, [options.seed, repeat])
            ranker = WithEvidence(
                base=options.linear()[chosen["beyond-evidence"]], evidence=options.evidence(data.reference)
            )
            wide = ranker.fit_columns(known, vectors)
            ranker.base.fit(replace(wide, y=train.y), vectors)
            values = query_values_of(MEASURE, test, ranker.predict(*data.test))
            numbers = {"share": share, "repeat": repeat, "recurrence": recurrence(known, test).relevant}
            tables.append(_table(fold, test, {}, numbers, values))
    return pa.concat_tables(tables)


def _table(
    fold: str, test: Judged, texts: Mapping[str, str], numbers: Mapping[str, float], values: FloatArray
) -> pa.Table:
    n = test.n_queries
    columns = {name: pa.array([text] * n, pa.string()) for name, text in {"fold": fold, **texts}.items()}
    columns |= {name: pa.array(np.full(n, number, dtype=np.float64)) for name, number in numbers.items()}
    return pa.table(columns | {"query_id": pa.array(test.query_id, pa.string()), MEASURE: values})


def write_curves(
    files: Mapping[str, str], out: Mapping[str, str], fold: str, *, beyond: Mapping[str, Any], scale: FeatureScale
) -> None:
    """Write the learning curve of a fold, and the curve of thinned recurrence; ``beyond`` holds the keys of `Options`."""
    documents = load_fold(files["judged"], fold, scale, columns=["doc_id", "features"])
    data = fold_data(documents, load_queries(files["queries"]), reference_column(files["columns"]))
    options, chosen = Options(**beyond), chosen_places(read(files["choices"], "choices"))
    write(out["curve"], "figure", learning_curve(fold, data, options, chosen))
    write(out["thinned"], "figure", recurrence_curve(fold, data, options, chosen))
