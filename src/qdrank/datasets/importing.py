"""Import feature files and rankings as the artifacts that every data set starts from: judged, columns, topics."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from qdrank.datasets import registry
from qdrank.datasets.columns import columns_table, feature_names
from qdrank.datasets.folds import assign_parts, roles
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.letor.features import rank_features
from qdrank.datasets.letor.importing import import_letor
from qdrank.datasets.runs.columns import read_groups, text_lines
from qdrank.datasets.runs.features import KINDS, judged_runs
from qdrank.datasets.runs.reading import read_qrels, read_runs
from qdrank.datasets.topics import topics_table
from qdrank.datasets.usable import refuse_unusable
from qdrank.errors import InputError, placed
from qdrank.measures import average_precision
from qdrank.store import open_artifact, write

Paths = Mapping[str, str | Path]


def fetched_parts(dataset: str, listing: str | Path) -> dict[str, str]:
    """Part to path for a registered data set, from the list that fetching it left."""
    paths = json.loads(Path(listing).read_text(encoding="utf-8"))
    return {part: paths[file.name] for part, file in registry.load()[dataset].by_part().items()}


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
) -> None:
    """Read LETOR text by part into the artifacts ``judged``, ``columns`` and ``topics``.

    A single part called ``all`` is cut into five by query. Without a known reference, the feature that best ranks the
    training queries of the first fold takes its place.
    """
    source = files["all"] if set(files) == {"all"} else files
    with placed(", ".join(map(str, files.values()))):
        import_letor(source, out["judged"], sparse=sparse, missing=missing_values, max_label=max_label, seed=seed)
        judged = load_judged(out["judged"], ["features"] if reference is None else ["doc_id"])
        refuse_unusable(judged)
        number = best_feature(judged) if reference is None else reference - 1
        columns = columns_table(feature_names(_width(out["judged"]), names), number)
    write(out["columns"], "columns", columns)
    write(out["topics"], "topics", topics_table(judged.query_id, judged.part))


def import_runs(files: Paths, out: Paths, *, seed: int, reference: str | None = None, max_label: int = 4) -> list[str]:
    """Read runs and judgments into the artifacts ``judged``, ``columns`` and ``topics``; return notes on them.

    Parameters
    ----------
    files : ``qrels``, the runs under any names that begin with ``runs``, and, if there are, ``folds`` (lines of a query and its
        part, S1 to S5) and ``queries`` (lines of a query and its text)
    reference : tag of the run that ranks like BM25; by default the column that ranks the training queries of the first fold best
    max_label : highest grade
    """
    qrels = read_qrels(files["qrels"])
    runs = [run for name, path in files.items() if name.startswith("runs") for run in read_runs(path)]
    known = list(qrels.by_query)
    with placed(files["qrels"]):
        part = read_groups(files["folds"]) if "folds" in files else assign_parts(known, seed=seed)
    if lacking := [name for name in known if name not in part]:
        fix = "give every judged query a line: query part"
        raise InputError(f"{len(lacking)} judged queries have no part", file=files["folds"], found=lacking[0], fix=fix)
    made = judged_runs(runs, qrels, part, max_label=max_label)
    judged = made.judged
    with placed(files["qrels"]):
        refuse_unusable(judged)
    tags = [run.tag for run in runs]
    if reference is not None and reference not in tags:
        raise InputError("the reference is none of the runs", found=reference, fix="name a tag: " + ", ".join(tags))
    number = best_feature(judged) if reference is None else tags.index(reference) * len(KINDS)
    texts = _query_texts(files["queries"]) if "queries" in files else {}
    write(out["judged"], "judged", judged.to_table())
    write(out["columns"], "columns", columns_table(made.names, number))
    words = [texts.get(name) for name in judged.query_id] if texts else None
    write(out["topics"], "topics", topics_table(judged.query_id, judged.part, text=words))
    return made.notes


def _query_texts(path: str | Path) -> dict[str, str]:
    """Texts of queries, from lines that hold an id and then a text."""
    lines = (line.decode("utf-8", "replace").split(None, 1) for _, line in text_lines(path))
    return {words[0]: words[1].strip() for words in lines if len(words) == 2}


def _width(path: str | Path) -> int:
    with open_artifact(path, "judged") as file:
        return int(file.schema_arrow.field("features").type.list_size)


def best_feature(judged: Judged) -> int:
    """Feature, counted from 0, with the highest MAP on the training queries of the first fold."""
    train = judged.select(roles(judged.parts, "fold1")["train"])
    return int(np.argmax(average_precision(train.y, np.nan_to_num(train.X, nan=-np.inf), train.offsets).mean(axis=0)))


def import_ranks(files: Paths, out: Paths, *, max_label: int) -> None:
    """Read rankings to aggregate: the ranks themselves as ``ranks``, features made from them as ``judged``."""
    import_letor(files, out["ranks"], missing=True, max_label=max_label)
    ranks = load_judged(out["ranks"])
    refuse_unusable(ranks)
    n_systems = ranks.X.shape[1]
    X = rank_features(ranks.X)
    # The mean discount of the systems replaces the reference model, which these data do not have.
    mean = X[:, n_systems : 2 * n_systems].mean(axis=1, keepdims=True)
    kinds = ("ranked by", "1/log2(1+rank)", "ln rank")
    names = [f"{kind} system {i + 1}" for kind in kinds for i in range(n_systems)]
    write(out["judged"], "judged", ranks.with_features(np.hstack([X, mean])).to_table())
    write(out["columns"], "columns", columns_table([*names, "mean 1/log2(1+rank)"], len(names)))
    write(out["topics"], "topics", topics_table(ranks.query_id, ranks.part))
