"""Import runs and judgments as the artifacts that every data set starts from: judged, columns, topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.columns import columns_table
from qdrank.datasets.folds import roles
from qdrank.datasets.importing import Notes
from qdrank.datasets.judged import Judged
from qdrank.datasets.runs.features import judged_runs
from qdrank.datasets.runs.queries import read_judgments, read_texts, read_vectors
from qdrank.datasets.runs.reading import read_all_runs
from qdrank.datasets.runs.scaling import COLUMNS, alone
from qdrank.datasets.topics import topics_table
from qdrank.datasets.usable import refuse_unusable
from qdrank.errors import AnyPath, InputError, placed
from qdrank.measures import measure
from qdrank.store import write


def import_runs(files: Mapping[str, AnyPath], out: Mapping[str, AnyPath], **options: Any) -> Notes:
    """Read runs and judgments into the artifacts ``judged``, ``columns`` and ``topics``; return notes on them.

    ``files`` and ``options`` are those of `read_as_data`.
    """
    tables, notes = read_as_data(files, **options)
    write(out["judged"], "judged", tables["judged"])
    write(out["columns"], "columns", tables["columns"])
    write(out["topics"], "topics", tables["topics"])
    return notes


def read_as_data(
    files: Mapping[str, AnyPath], *, seed: int, reference: str | None = None, max_label: int = 4, n_parts: int = 5
) -> tuple[dict[str, pa.Table], Notes]:
    """Runs and judgments as the tables ``judged``, ``columns`` and ``topics``, and notes on them.

    Parameters
    ----------
    files : the judgments and parts (`read_judgments`), the runs under any names that begin with ``runs``, and, if there are,
        ``queries`` (their texts) and ``vectors``, which become the query columns
    seed, n_parts : for parts that rotate
    reference : tag of the run that ranks like BM25; by default the run with the highest MAP on the training queries of the first fold
    max_label : highest grade
    """
    qrels, part = read_judgments(files, seed=seed, n_parts=n_parts)
    runs = read_all_runs([path for name, path in files.items() if name.startswith("runs")])
    with placed(_joined(files, "runs", "qrels")):
        made = judged_runs(runs, qrels, part, max_label=max_label)
    judged = made.judged
    with placed(_joined(files, "qrels")):
        refuse_unusable(judged)
    tags = [run.tag for run in runs]
    if reference is not None and reference not in tags:
        problem, fix = "reference: it is none of the runs", "name a tag: " + ", ".join(tags)
        raise InputError(problem, file=_joined(files, "runs"), found=reference, fix=fix)
    number = len(COLUMNS) * (_best_run(judged) if reference is None else tags.index(reference))
    names = judged.query_id.tolist()
    texts = read_texts(files["queries"]) if "queries" in files else {}
    vectors = read_vectors(files["vectors"], names) if "vectors" in files else None
    words = [texts.get(name) for name in names] if texts else None
    tables = {
        "judged": judged.to_table(),
        "columns": columns_table(made.names, number),
        "topics": topics_table(names, judged.part, text=words, columns=vectors, run_scores=made.scores),
    }
    known = [("queries with a text", f"{sum(map(bool, words)):,} of {len(names):,}")] if words else []
    known += [("numbers in the vector of a query", f"{vectors.shape[1]:,}")] if vectors is not None else []
    return tables, [*made.notes, ("reference", made.names[number]), *known]


def _best_run(judged: Judged) -> int:
    """Run, counted from 0, with the highest MAP of what it retrieves on the training queries of the first fold."""
    train = judged.select(roles(judged.parts, "fold1")["train"])
    values = measure(["ap"], train.y, alone(train.X), train.offsets, unranked=train.unranked)["ap"]
    return int(np.argmax(values.mean(axis=0)))


def _joined(files: Mapping[str, AnyPath], *kinds: str) -> str:
    """Paths of these kinds, for messages."""
    return ", ".join(str(path) for name, path in files.items() if name.startswith(kinds))
