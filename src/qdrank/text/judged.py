"""From a collection to the tables that learners and query vectors start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.collections.model import Collection, Note, Notebook
from qdrank.datasets.columns import columns_table, topics_table
from qdrank.datasets.judged import judged_table, with_missed
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_offsets
from qdrank.store import write
from qdrank.text.analyser import Analyser
from qdrank.text.bm25 import BM25
from qdrank.text.encoder_vectors import TextVectors
from qdrank.text.index import AnalysedQueries, FieldIndex, analyse_queries, build_index
from qdrank.text.models import Constants
from qdrank.text.rank_features import FIRST_STAGE, REFERENCES, column_names, dense_values, feature_values, web_columns
from qdrank.text.retrieve import (
    Candidates,
    RankedDocuments,
    bm25_scores,
    find_candidates,
    missed_documents,
    parts_of,
    retrieve,
)
from qdrank.text.topics import QUERY_COLUMNS, lsa_columns, lsa_coordinates, query_columns


@dataclass(frozen=True)
class TextSettings:
    """Everything that decides the features of a collection.

    Attributes
    ----------
    analyser, bm25, constants : how words are made, how candidates are found, the constants of the rank models
    n_top, searched, judged : candidates: the best ``n_top`` by BM25 in the field ``searched`` (``"both"`` title and
        body; ``"whole"`` a page of the web with its anchors and URL), with or without all judged documents
    feature_sets : sets of feature columns (`features.FEATURE_SETS`)
    folds, seed : rotating parts drawn with ``seed``; None: the collection's own split if it has one, else five parts
    lsa : number of latent semantic columns per query; 0 for none
    query_vectors : whether a query's own columns are the encoder's vector of its words instead
    relevant
        Relevant documents that measures count: all that are judged, as trec_eval does, or those among the candidates.
    """

    analyser: Analyser = field(default_factory=Analyser)
    bm25: BM25 = field(default_factory=BM25)
    constants: Constants = field(default_factory=Constants)
    n_top: int = 100
    searched: str = "both"
    judged: bool = False
    feature_sets: tuple[str, ...] = ("first", "letor25", "extra")
    folds: int | None = None
    seed: int = 0
    lsa: int = 0
    query_vectors: bool = False
    relevant: Literal["all", "candidates"] = "all"

    def __post_init__(self) -> None:
        if self.n_top < 1 or self.lsa < 0:
            raise InputError(
                f"bad settings: n_top {self.n_top}, lsa {self.lsa}", fix="n_top at least 1, lsa at least 0"
            )


@dataclass(frozen=True, eq=False)
class JudgedText:
    """Tables of the shapes ``judged``, ``columns`` and ``topics``; names of the topics' columns; what was noticed."""

    judged: pa.Table
    columns: pa.Table
    topics: pa.Table
    topic_columns: list[str]
    notes: tuple[Note, ...]


def judged_text(
    collection: Collection, settings: TextSettings | None = None, vectors: TextVectors | None = None
) -> JudgedText:
    """Index a collection, find candidates, and compute the features of every pair; ``vectors`` are an encoder's, if it is asked for.

    A query takes part if it has judgments and at least one candidate; those that do not are counted in the notes.
    """
    settings = settings or TextSettings()
    index = build_index(collection.documents, settings.analyser)
    queries = analyse_queries(index, [query.text for query in collection.queries])
    parts = parts_of(collection, folds=settings.folds, seed=settings.seed)
    names = column_names(index, settings.feature_sets)
    columns = columns_table(names, _reference(names))
    searched = index.field(settings.searched)
    ranking = retrieve(searched, queries, settings.bm25, n_top=settings.n_top)
    candidates = find_candidates(ranking, collection.qrels, len(index.doc_id), judged=settings.judged)
    candidates = candidates.where(np.array([part is not None for part in parts], dtype=bool)[candidates.query])
    first = bm25_scores(searched, queries, candidates.query, candidates.document, settings.bm25)
    static = web_columns(collection.documents)
    asked = [query.query_id for query in collection.queries]
    given = {FIRST_STAGE: first, **(dense_values(vectors, asked, candidates) if vectors else {})}
    X = feature_values(index, queries, candidates, names, constants=settings.constants, static=static, given=given)
    kept = np.unique(candidates.query)
    missed = missed_documents(candidates, collection.qrels, len(index.doc_id))
    topics, topic_names = topic_columns(searched, queries, ranking, settings.lsa)
    topics = topics[kept]
    if settings.query_vectors and vectors:
        topics = vectors.of_queries(np.array(asked, dtype=object)[kept]).astype(np.float64)
        topic_names = [f"dense.{i + 1}" for i in range(topics.shape[1])]
    return JudgedText(
        judged=_judged_table(collection, candidates, parts, X, missed if settings.relevant == "all" else None),
        columns=columns,
        topics=_topics_table(collection, kept, parts, topics),
        topic_columns=topic_names,
        notes=(*collection.notes, *_notes(collection, queries, candidates, parts, missed)),
    )


def write_judged_text(
    out: Mapping[str, str | Path],
    collection: Collection,
    settings: TextSettings | None = None,
    vectors: TextVectors | None = None,
) -> tuple[Note, ...]:
    """Write ``judged``, ``columns`` and ``topics`` of a collection to the paths in ``out``; return the notes."""
    tables = judged_text(collection, settings, vectors)
    write(out["judged"], "judged", tables.judged)
    write(out["columns"], "columns", tables.columns)
    write(out["topics"], "topics", tables.topics)
    return tables.notes


def topic_columns(
    searched: FieldIndex, queries: AnalysedQueries, ranking: RankedDocuments, lsa: int
) -> tuple[FloatArray, list[str]]:
    """Columns of the queries themselves, (n_queries, n_columns), ``lsa`` of them latent semantic, and their names."""
    columns, names = query_columns(searched, queries, ranking), list(QUERY_COLUMNS)
    if lsa:
        latent = lsa_columns(lsa_coordinates(searched, lsa), ranking)
        columns = np.hstack([columns, latent])
        names += [f"lsa.{i + 1}" for i in range(latent.shape[1])]
    return columns, names


def _reference(names: list[str]) -> int:
    """Place of the column that ranks like BM25."""
    places = [names.index(name) for name in REFERENCES if name in names]
    if not places:
        fix = f"add one of {', '.join(REFERENCES)}"
        raise InputError("no column ranks like BM25", found=", ".join(names), fix=fix)
    return places[0]


def _judged_table(
    collection: Collection,
    candidates: Candidates,
    parts: list[str | None],
    X: NDArray[np.float32],
    missed: Mapping[int, list[tuple[int, int]]] | None,
) -> pa.Table:
    query, document = pa.array(candidates.query), pa.array(candidates.document)
    query_id = pa.array([query.query_id for query in collection.queries], pa.string())
    doc_id = pa.array(collection.documents.doc_id, pa.string())
    part = pa.array(parts, pa.string())
    table = judged_table(query_id.take(query), doc_id.take(document), candidates.label, part.take(query), X)
    if missed is None:
        return table
    missing = [missed.get(row, []) for row in np.unique(candidates.query)]
    grades = [[grade for grade, _ in one] for one in missing]
    names = [[collection.documents.doc_id[row] for _, row in one] for one in missing]
    return with_missed(table, grades, query_offsets(candidates.query), names)


def _topics_table(collection: Collection, kept: IntArray, parts: list[str | None], columns: FloatArray) -> pa.Table:
    asked = [collection.queries[row] for row in kept.tolist()]
    return topics_table(
        [query.query_id for query in asked],
        [parts[row] or "" for row in kept.tolist()],
        text=[query.text for query in asked],
        types=[query.type for query in asked],
        columns=columns.astype(np.float32),
        source=[query.source for query in asked] if asked and asked[0].source is not None else None,
    )


def _notes(
    collection: Collection,
    queries: AnalysedQueries,
    candidates: Candidates,
    parts: list[str | None],
    missed: Mapping[int, list[tuple[int, int]]],
) -> tuple[Note, ...]:
    book = Notebook()
    n = np.bincount(candidates.query, minlength=len(queries))
    relevant = np.bincount(candidates.query, weights=candidates.label > 0, minlength=len(queries))
    for row, query in enumerate(collection.queries):
        if parts[row] is None:
            continue  # without judgments: the collection's own notes count it
        if n[row] == 0:
            book.add("query without a candidate (no word of it occurs), left out", query.query_id)
        elif relevant[row] == 0:
            book.add("query without a relevant candidate, kept", query.query_id)
        for _ in missed.get(row, ()):
            book.add("relevant document that is not among the candidates of its query", query.query_id)
        if queries.unknown[row]:
            book.add("query with unknown words", query.query_id)
    return book.notes()
