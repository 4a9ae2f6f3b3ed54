"""From scores to the artifact ``measures``, one row per test query and method, and to files that every tool of the field reads.

These are a run for each method, and the judgments. Beside each run is a block of metadata after the schema of ir_metadata
(Breuer et al. 2022). It is a file of its own, because trec_eval stops at a comment in a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from qdrank.datasets.judged import Judged, load_judged, load_roles
from qdrank.datasets.runs.writing import distinct_scores, write_qrels, write_run
from qdrank.errors import InputError
from qdrank.layout import LAST, FloatArray, rows_of
from qdrank.measures.compute import measure
from qdrank.rankers import REFERENCE, RETRIEVERS
from qdrank.store import read, write
from qdrank.store.atomic import write_text
from qdrank.store.manifest import machine_record
from qdrank.store.tables import repeated


def document_ids(documents: Judged) -> pa.Table:
    """Query and document of every row, by which scores are joined."""
    # Arrow's strings: to compare Python's would take half the time of measuring.
    schema = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("query_id", "doc_id")])
    return pa.table([documents.query, documents.doc_id], schema)


def joined_scores(ids: pa.Table, path: str | os.PathLike[str]) -> FloatArray:
    """Score of every document of ``ids`` (n_documents,), joined on query and document.

    Raises `InputError` if a document has no score; scores of other documents are ignored.
    """
    return _joined(ids, read(path, "scores"), path)


def joined_refits(ids: pa.Table, path: str | os.PathLike[str]) -> list[FloatArray]:
    """Scores of every document as in `joined_scores`, from each further fit of a method, in the order of the fits."""
    table = read(path, "refits")
    fits = np.unique(table.column("fit").to_numpy()).tolist()
    return [_joined(ids, table.filter(pc.equal(table.column("fit"), fit)), path) for fit in fits]


def _joined(ids: pa.Table, table: pa.Table, path: str | os.PathLike[str]) -> FloatArray:
    scores: FloatArray = table.column("score").to_numpy()
    scored = table.select(ids.column_names)
    if scored.equals(ids):
        return scores
    place = {pair: i for i, pair in enumerate(_pairs(scored))}
    try:
        return scores[[place[pair] for pair in _pairs(ids)]]
    except KeyError as error:
        raise InputError(f"there is no score for query and document {error}", file=path) from None


def _pairs(ids: pa.Table) -> Iterator[tuple[str, str]]:
    return zip(*(column.to_pylist() for column in ids.columns), strict=True)


def retrieved_scores(documents: Judged, path: str | os.PathLike[str]) -> tuple[Judged, FloatArray]:
    """The documents that a retriever found for the same queries, graded, and their scores, shape (n_rows,)."""
    table = read(path, "scores")
    query, doc_id = (table.column(name).to_numpy(zero_copy_only=False) for name in ("query_id", "doc_id"))
    number = rows_of(query, documents.query_id, among="the queries of the fold")
    order = np.argsort(number, kind="stable")
    return documents.ranked_instead(number[order], doc_id[order]), table.column("score").to_numpy()[order]


def measures_table(
    names: Sequence[str],
    documents: Judged,
    scores: FloatArray,
    methods: Sequence[str],
    fold: str,
    fits: Sequence[int] | None = None,
) -> pa.Table:
    """The artifact ``measures`` of one fold.

    Parameters
    ----------
    names : names of measures
    documents : the fold's test documents
    scores : (n_documents, n_columns)
    methods : method of every column
    fold : name of the fold
    fits : number of the fit of every column; 0 if not given
    """
    ids = documents.doc_id
    values = measure(names, documents.y, scores, documents.offsets, unranked=documents.unranked, doc_ids=ids)
    n_queries = documents.n_queries
    columns: dict[str, Any] = {
        **repeated(n_queries * len(methods), fold=fold),
        "method": pa.array(np.repeat(np.array(methods, dtype=object), n_queries), pa.string()),
        "fit": np.repeat(np.zeros(len(methods), dtype=np.int64) if fits is None else np.array(fits), n_queries),
        "query_id": pa.array(np.tile(documents.query_id, len(methods)), pa.string()),
    }
    return pa.table(columns | {name: column.T.ravel() for name, column in values.items()})


def measure_scores(
    names: Sequence[str],
    judged: Judged,
    files: Mapping[tuple[str, str], str],
    folds: Sequence[str],
    refits: Mapping[tuple[str, str], str] | None = None,
) -> pa.Table:
    """Measures of methods from their score files, ``files[fold, method]``, and from those of their further fits."""
    tables = []
    for fold in folds:
        documents = judged.of_role(fold, "test")
        ids = document_ids(documents)
        methods = [method for f, method in files if f == fold]
        ranking = [method for method in methods if method not in RETRIEVERS]
        scores = {(method, 0): joined_scores(ids, files[fold, method]) for method in ranking}
        for method in (method for f, method in refits or {} if f == fold):
            again = joined_refits(ids, (refits or {})[fold, method])
            scores |= {(method, fit): one for fit, one in enumerate(again, start=1)}
        columns, fits = zip(*scores, strict=True)
        tables.append(measures_table(names, documents, np.stack(list(scores.values()), 1), columns, fold, fits))
        for method in (method for method in methods if method in RETRIEVERS):
            brought, values = retrieved_scores(documents, files[fold, method])
            tables.append(measures_table(names, brought, values[:, None], [method], fold))
    return pa.concat_tables(tables)


def measure_features(names: Sequence[str], judged: Judged, folds: Sequence[str]) -> pa.Table:
    """Measures of every feature as a ranker; the methods are the features' numbers, ``1`` to ``d``."""
    numbers = [str(i + 1) for i in range(judged.X.shape[1])]
    tables = []
    for fold in folds:
        documents = judged.of_role(fold, "test")
        # A document without a value (a system that did not rank it) comes after all others.
        scores = np.nan_to_num(documents.X.astype(np.float64), nan=LAST)
        tables.append(measures_table(names, documents, scores, numbers, fold))
    return pa.concat_tables(tables)


def write_measures(
    files: Mapping[str, Any],
    path: str,
    *,
    measures: Sequence[str],
    folds: Sequence[str],
    methods: Sequence[str],
    refitted: Sequence[str],
) -> None:
    """Write the measures of methods on the test queries, and of the further fits of those that are ``refitted``.

    The scores of both are in ``files``, by fold, then method.
    """
    scores = dict(zip(product(folds, methods), files["scores"], strict=True))
    refits = dict(zip(product(folds, refitted), files["refits"], strict=True))
    judged = load_judged(files["judged"], ["doc_id"])
    write(path, "measures", measure_scores(measures, judged, scores, folds, refits))


def write_feature_measures(
    files: Mapping[str, Any], path: str, *, measures: Sequence[str], folds: Sequence[str]
) -> None:
    """Write the measures of every feature of a data set as a ranker."""
    write(path, "measures", measure_features(measures, load_judged(files["judged"]), folds))


# ---- runs ----------------------------------------------------------------------------------------------------------


_TIES = "no ties: scores in single precision that differ, tied documents in the order in which the study ranked them"


def write_runs(
    files: Mapping[str, Any],
    path: str | Path,
    fold: str,
    *,
    dataset: str,
    title: str,
    methods: Sequence[str],
    measures: Sequence[str],
) -> None:
    """Write the runs of a fold's test queries, their metadata, and the judgments.

    Parameters
    ----------
    files : ``judged``, and ``scores``: one file for each method
    path : folder that gets ``judgments.qrels.gz``, and for each method ``METHOD.run.gz`` and ``METHOD.ir-metadata.yml``
    dataset, title : name of the data set, and how it is called
    measures : names of the measures that the run reports
    """
    folder = Path(path)
    folder.mkdir(exist_ok=True)
    qrels = folder / "judgments.qrels.gz"
    test = load_roles(files["judged"], fold, ["test"], ["doc_id"])["test"]
    ids = document_ids(test)
    _write_judgments(qrels, test)
    for method, path in zip(methods, files["scores"], strict=True):
        ranked, scores = retrieved_scores(test, path) if method in RETRIEVERS else (test, joined_scores(ids, path))
        write_scored(folder / f"{method}.run.gz", ranked, scores, tag=method)
        described = metadata(method, dataset=dataset, title=title, fold=fold, measures=measures)
        described["data"]["test collection"]["qrels"] = qrels.name
        write_text(folder / f"{method}.ir-metadata.yml", yaml.safe_dump(described, sort_keys=False, width=120))


def write_scored(path: str | Path, ranked: Judged, scores: FloatArray, *, tag: str) -> None:
    """Write scored documents, (n_documents,), as a run whose order every tool keeps; without those at minus infinity."""
    listed = scores != -np.inf
    distinct = distinct_scores(scores, ranked.offsets)[listed]
    write_run(path, ranked.query[listed], ranked.doc_id[listed], distinct, tag=tag)


def _write_judgments(path: Path, test: Judged) -> None:
    """Judgments of the documents to rank, and of relevant ones that are not among them."""
    query, doc, grade = [test.query], [test.doc_id], [test.y]
    if test.unranked is not None:
        grades, offsets = test.unranked
        names = np.repeat(test.query_id, np.diff(offsets))
        known = [name for ids in test.missed_id for name in ids] if test.missed_id is not None else None
        # Where only the grades are known: a name that no document has.
        missed = known or [f"MISSED-{name}-{i}" for i, name in enumerate(names.tolist())]
        query, doc, grade = [*query, names], [*doc, np.array(missed, dtype=object)], [*grade, grades]
    write_qrels(path, np.concatenate(query), np.concatenate(doc), np.concatenate(grade))


def metadata(method: str, *, dataset: str, title: str, fold: str, measures: Sequence[str]) -> dict[str, Any]:
    """Metadata of a run after ir_metadata 0.1, without what only the people behind it know.

    The machine is described in ``manifest.json``: metadata of the same run are the same bytes everywhere.
    """
    machine = machine_record()
    libraries = [f"{name}=={version}" for name, version in machine["libraries"].items()]
    step: dict[str, Any] = {"name": method} | ({} if method in (REFERENCE, *RETRIEVERS) else {"reranks": REFERENCE})
    return {
        "schema version": 0.1,
        "tag": method,
        "platform": {"software": {"libraries": {"python": libraries}}},
        "implementation": {"executable": {"cmd": "snakemake runs"}, "source": {"lang": ["python"], "name": "qdrank"}},
        "data": {"test collection": {"name": dataset, "title": title, "fold": fold}},
        "method": {"automatic": True, "score ties": _TIES, "retrieval": [step]},
        "research goal": {"evaluation": {"reported measures": list(measures), "baseline": [REFERENCE]}},
    }
