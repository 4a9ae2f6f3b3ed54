"""A data set of runs: texts, vectors and parts of its queries, and the artifacts judged, columns and topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.collections.beir import read_queries
from qdrank.datasets.columns import columns_table, topics_table
from qdrank.datasets.folds import assign_parts, fold_names, roles
from qdrank.datasets.importing import Notes, refuse_unusable
from qdrank.datasets.judged import Judged
from qdrank.datasets.origins import sources_of
from qdrank.datasets.runs.reading import is_json, read_all_runs, read_qrels
from qdrank.datasets.runs.rows import read_groups
from qdrank.datasets.runs.run import COLUMNS, Qrels, alone, judged_runs
from qdrank.datasets.textfiles import lines
from qdrank.errors import AnyPath, InputError, placed
from qdrank.layout import FloatArray
from qdrank.measures.compute import measure
from qdrank.store import write

#: BEIR's names of the parts of a fixed split, and ours.
SPLIT = {"train": "train", "dev": "vali", "test": "test"}
_COLUMNS = ("query", "doc", "grade")


def read_texts(path: AnyPath) -> dict[str, str]:
    """Texts of queries: lines of an id and a text, or BEIR's queries.jsonl."""
    if is_json(path):
        return {query.query_id: query.text for query in read_queries(Path(path))}
    fix = "each line reads: query text"
    return {name: rest.decode("utf-8", "replace") for name, rest in _rows(path, "text", fix)}


def read_vectors(path: AnyPath, wanted: Sequence[str]) -> FloatArray:
    """Vectors of the queries ``wanted``, shape (n_queries, n_columns), from lines of an id and its numbers.

    Raises `InputError` if a word is not a finite number, rows differ in length, or a wanted query has no row.
    """
    fix = "each line reads: query number number ..., as many numbers in every line"
    vectors: dict[str, FloatArray] = {}
    for name, rest in _rows(path, "vector", fix):
        try:
            vectors[name] = np.array(rest.split(), dtype=np.float64)
        except ValueError:
            raise InputError(f"query {name}: not a number in its vector", file=path, found=rest, fix=fix) from None
        if not np.isfinite(vectors[name]).all():
            raise InputError(f"query {name}: its vector is not finite", file=path, found=rest, fix=fix)
    widths = {len(vector): name for name, vector in vectors.items()}
    if len(widths) > 1:
        (a, first), (b, second), *_ = widths.items()
        problem = f"query {first} has {a} numbers, query {second} has {b}"
        raise InputError(problem, file=path, fix=fix)
    if lacking := [name for name in wanted if name not in vectors]:
        problem = f"{len(lacking)} of {len(wanted)} queries have no vector"
        raise InputError(problem, file=path, found=f"query {lacking[0]}", fix="give every judged query a line")
    return np.array([vectors[name] for name in wanted])


def _rows(path: AnyPath, what: str, fix: str) -> Iterator[tuple[str, bytes]]:
    """First word and rest of every line that is not blank; a query without a rest, or given twice, is an error."""
    seen: set[str] = set()
    for number, line in lines(path):
        words = line.split(None, 1)
        if not words:
            continue
        name = words[0].decode("utf-8", "replace")
        if len(words) == 1:
            raise InputError(f"query {name} has no {what}", file=path, line=number, found=line, fix=fix)
        if name in seen:
            raise InputError(f"query {name} comes again", file=path, line=number, fix=f"give each query one {what}")
        seen.add(name)
        yield name, words[1].strip()


def read_judgments(
    files: Mapping[str, AnyPath], *, seed: int, n_parts: int = 5, sources: Mapping[str, Any] | None = None
) -> tuple[Qrels, dict[str, str], dict[str, str] | None]:
    """Judgments, the part of every judged query and, with a rule on ``sources`` (`sources_of`), its source.

    Parameters
    ----------
    files : ``qrels``, or ``qrels.train``, ``qrels.dev`` and ``qrels.test``: a fixed split. With ``folds``, lines of a query and its
        part (S1, S2, S3 and so on, or train, vali and test) decide
    seed, n_parts : without either, the queries are put into ``n_parts`` parts that rotate, those of one source together
    """
    split = "qrels" not in files
    if split:
        qrels, part = _split({name: read_qrels(files[f"qrels.{name}"]) for name in SPLIT}, files)
    else:
        qrels, part = read_qrels(files["qrels"]), {}
    known = list(qrels.by_query)
    judged = zip(*(getattr(qrels, name).tolist() for name in _COLUMNS), strict=True)
    source = sources_of(sources, known, list(judged)) if sources else None
    if "folds" in files:
        part = _parts_of_file(files["folds"], known)
    elif not split:
        with placed(files["qrels"]):
            part = assign_parts(known, seed=seed, n_parts=n_parts, source=source)
    return qrels, part, source


def _parts_of_file(path: AnyPath, known: Sequence[str]) -> dict[str, str]:
    part = {name: SPLIT.get(split, split) for name, split in read_groups(path).items()}
    if lacking := [name for name in known if name not in part]:
        fix = "give every judged query a line: query part"
        raise InputError(f"{len(lacking)} judged queries have no part", file=path, found=lacking[0], fix=fix)
    with placed(path):
        fold_names(part.values())
    return part


def _split(parts: Mapping[str, Qrels], files: Mapping[str, AnyPath]) -> tuple[Qrels, dict[str, str]]:
    """Judgments of a fixed split, one after the other."""
    part: dict[str, str] = {}
    for name, qrels in parts.items():
        if shared := part.keys() & qrels.by_query.keys():
            fix = "give each query to one part: a query to learn from cannot test"
            raise InputError("a query is in two parts", file=files[f"qrels.{name}"], found=min(shared), fix=fix)
        part |= dict.fromkeys(qrels.by_query, SPLIT[name])
    query, doc, grade = (np.concatenate([getattr(qrels, name) for qrels in parts.values()]) for name in _COLUMNS)
    return Qrels(query, doc, grade, parts["test"].form), part


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
    files: Mapping[str, AnyPath],
    *,
    seed: int,
    reference: str | None = None,
    max_label: int = 4,
    n_parts: int = 5,
    sources: Mapping[str, Any] | None = None,
) -> tuple[dict[str, pa.Table], Notes]:
    """Runs and judgments as the tables ``judged``, ``columns`` and ``topics``, and notes on them.

    Parameters
    ----------
    files : the judgments and parts (`read_judgments`), the runs under any names that begin with ``runs``, and, if there are,
        ``queries`` (their texts) and ``vectors``, which become the query columns
    seed, n_parts, sources : for parts that rotate; ``sources`` says which queries stay together (`sources_of`)
    reference : tag of the run that ranks like BM25; by default the run with the highest MAP on the training queries of the first fold
    max_label : highest grade
    """
    qrels, part, source = read_judgments(files, seed=seed, n_parts=n_parts, sources=sources)
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
        "topics": topics_table(
            names,
            judged.part,
            text=words,
            columns=vectors,
            run_scores=made.scores,
            source=[source[name] for name in names] if source else None,
        ),
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
