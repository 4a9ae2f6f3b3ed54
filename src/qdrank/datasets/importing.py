"""Import feature files and rankings as the artifacts that every data set starts from: judged, columns, topics.

And whether a data set can be studied at all: learning needs differences in grade, measuring needs relevant documents.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from qdrank.datasets import sources
from qdrank.datasets.columns import columns_table, feature_names, topics_table
from qdrank.datasets.folds import roles
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.letor.conversion import import_letor
from qdrank.datasets.letor.reader import document_names
from qdrank.datasets.origins import sources_of
from qdrank.datasets.scaling import rank_features, turned_ranks
from qdrank.errors import InputError, placed
from qdrank.layout import LAST, shuffled_within
from qdrank.measures.compute import average_precision
from qdrank.store import open_artifact, write

Paths = Mapping[str, str | Path]
#: What a reader should know of the data: what it is, and the value, in words.
Notes = list[tuple[str, str]]
#: MAP by which the other end of rankings must be better before they count as read from the wrong one.
_WRONG_END = 0.02


def fetched_parts(dataset: str, listing: str | Path) -> dict[str, str]:
    """Part to path for a registered data set, from the list that fetching it left; of runs ``qrels`` and ``runs.1`` and so on."""
    paths, entry = json.loads(Path(listing).read_text(encoding="utf-8")), sources.load()[dataset]
    by_part = {part: paths[file.name] for part, file in entry.by_part().items()}
    runs = [paths[file.name] for file in entry.required if file.role == "run"]
    by_part |= {file.role: paths[file.name] for file in entry.required if file.role == "qrels" and runs}
    return by_part | {f"runs.{i}": path for i, path in enumerate(runs, start=1)}


def import_features(
    files: Paths,
    out: Paths,
    *,
    reference: int | None,
    max_label: int,
    missing_values: bool,
    seed: int,
    sparse: bool | None = None,
    names: Sequence[str] | None = None,
    sources: Mapping[str, Any] | None = None,
) -> Notes:
    """Read LETOR text by part into the artifacts ``judged``, ``columns`` and ``topics``; return notes on it.

    A single part called ``all`` is cut into five by query, those of one of the ``sources`` (`sources_of`) together. Without a known reference, the feature that best ranks the
    training queries of the first fold takes its place.
    """
    source = files["all"] if set(files) == {"all"} else files
    with placed(", ".join(map(str, files.values()))):
        import_letor(
            source,
            out["judged"],
            sparse=sparse,
            missing=missing_values,
            max_label=max_label,
            seed=seed,
            sources=sources,
        )
        judged = load_judged(out["judged"], ["features"] if reference is None else ["doc_id"])
        refuse_unusable(judged)
        number = best_feature(judged, seed) if reference is None else reference - 1
        columns = columns_table(feature_names(_width(out["judged"]), names), number)
    write(out["columns"], "columns", columns)
    of = sources_of(sources, judged.query_id.tolist()) if sources else None
    write(out["topics"], "topics", topics_table(judged.query_id, judged.part, source=[*of.values()] if of else None))
    return [(f"documents of {part}", document_names(path)) for part, path in files.items()]


def _width(path: str | Path) -> int:
    with open_artifact(path, "judged") as file:
        return int(file.schema_arrow.field("features").type.list_size)


def refuse_the_wrong_end(ranks: Judged, dataset: str, best: str) -> None:
    """Raise if the rankings do better when they are read from the other end, on the training queries of fold 1."""
    train = ranks.select(roles(ranks.parts, "fold1")["train"])
    ends = (np.nan_to_num(sign * train.X, nan=LAST) for sign in (-1.0, 1.0))
    this, other = (float(average_precision(train.y, one, train.offsets).mean()) for one in ends)
    if other > this + _WRONG_END:
        raise InputError(
            f"the rankings of {dataset} seem to be read from the wrong end",
            found=f"mean MAP of the systems {this:.3f}, read from the other end {other:.3f}",
            fix=f"set best: {'low' if best == 'high' else 'high'} for {dataset} in config/datasets.yaml",
        )


def best_feature(judged: Judged, seed: int) -> int:
    """Feature, counted from 0, with the highest MAP on the training queries of the first fold; tied documents are shuffled."""
    train = judged.select(roles(judged.parts, "fold1")["train"])
    order = shuffled_within(train.offsets, seed)
    X = np.nan_to_num(train.X[order], nan=LAST)
    return int(np.argmax(average_precision(train.y[order], X, train.offsets).mean(axis=0)))


def import_ranks(
    dataset: str, inputs: Sequence[str | Path], out: Paths, *, max_label: int, best: Literal["low", "high"] = "low"
) -> None:
    """Read rankings to aggregate: the ranks as ``ranks``, features made from them as ``judged``.

    ``inputs`` is the listing that fetching them left. With ``best`` "high" the best document has the highest number in the files; the ranks are turned, so that 1 is the best.
    """
    import_letor(fetched_parts(dataset, inputs[0]), out["ranks"], missing=True, max_label=max_label)
    ranks = load_judged(out["ranks"])
    refuse_unusable(ranks)
    if best == "high":
        ranks = ranks.with_features(turned_ranks(ranks.X, ranks.offsets))
        write(out["ranks"], "judged", ranks.to_table())
    refuse_the_wrong_end(ranks, dataset, best)
    n_systems = ranks.X.shape[1]
    X = rank_features(ranks.X)
    # The mean discount of the systems replaces the reference model, which these data do not have.
    mean = X[:, n_systems : 2 * n_systems].mean(axis=1, keepdims=True)
    kinds = ("ranked by", "1/log2(1+rank)", "ln rank")
    names = [f"{kind} system {i + 1}" for kind in kinds for i in range(n_systems)]
    write(out["judged"], "judged", ranks.with_features(np.hstack([X, mean])).to_table())
    write(out["columns"], "columns", columns_table([*names, "mean 1/log2(1+rank)"], len(names)))
    write(out["topics"], "topics", topics_table(ranks.query_id, ranks.part))


#: Fewest training queries with documents of different grades that a fold needs.
MIN_TRAIN = 5
#: Fewest test queries with a relevant document that a fold needs: a mean of one query has no interval.
MIN_TEST = 2


def refuse_unusable(judged: Judged) -> None:
    """Raise if some fold has too little to learn from, to choose by or to measure.

    Raises `InputError` if no document is relevant, or a fold has fewer than `MIN_TRAIN` training queries with documents
    of different grades, fewer than `MIN_TEST` test queries with a relevant document, or none for validation where it
    has any.
    """
    if not (judged.y > 0).any():
        raise InputError(
            f"none of the {judged.n_documents:,} documents is relevant: every grade is 0",
            fix="check the labels; measures and learning need documents with a grade of 1 or more",
        )
    for fold in judged.folds:
        train = int((judged.of_role(fold, "train").pairs > 0).sum())
        if train < MIN_TRAIN:
            raise _too_few(fold, "training", train, "documents of different grades", MIN_TRAIN)
        vali = judged.of_role(fold, "vali")
        if vali.n_queries and not (vali.y > 0).any():
            raise _too_few(fold, "validation", 0, "a relevant document", 1)
        test = _with_relevant(judged.of_role(fold, "test"))
        if test < MIN_TEST:
            raise _too_few(fold, "test", test, "a relevant document", MIN_TEST)


def _with_relevant(documents: Judged) -> int:
    """Number of queries with a relevant document."""
    return len(np.unique(documents.query_index[documents.y > 0]))


def _too_few(fold: str, role: str, count: int, what: str, least: int) -> InputError:
    queries = "query has" if count == 1 else "queries have"
    return InputError(
        f"{fold}: {count} {role} {queries} {what}; a study needs at least {least}",
        fix="give more judged queries, or other parts: `files: {all: FILE}` divides the queries evenly into five",
    )
