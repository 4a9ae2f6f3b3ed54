"""From a collection to the tables that learners and query vectors start from; the same for queries that came later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.collections.forms import read_collection
from qdrank.datasets.collections.model import Collection, Documents, JudgedPairs, Note, Notebook, Query, read_counts
from qdrank.datasets.columns import columns_table, topics_table
from qdrank.datasets.importing import refuse_unusable
from qdrank.datasets.judged import Judged, judged_table, load_judged, with_missed
from qdrank.errors import InputError, placed
from qdrank.layout import FloatArray, IntArray, query_offsets
from qdrank.store import write
from qdrank.text.analyser import Analyser
from qdrank.text.encoding import TextVectors, load_vectors
from qdrank.text.expansion import answered_before
from qdrank.text.index import AnalysedQueries, FieldIndex, Index, analyse_queries, build_index
from qdrank.text.models import OHSUMED, Constants
from qdrank.text.rank_features import FIRST_STAGE, REFERENCES, column_names, dense_values, feature_values, web_columns
from qdrank.text.retrieve import (
    BM25,
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
    feature_sets : sets of feature columns (`rank_features.FEATURE_SETS`)
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
    ranking = retrieve(index.field(settings.searched), queries, settings.bm25, n_top=settings.n_top)
    candidates = find_candidates(ranking, collection.qrels, len(index.doc_id), judged=settings.judged)
    candidates = candidates.where(np.array([part is not None for part in parts], dtype=bool)[candidates.query])
    missed = missed_documents(candidates, collection.qrels, len(index.doc_id))
    made = _described(
        collection.documents, collection.queries, _Found(index, queries, ranking, candidates), settings, vectors
    )
    columns = columns_table(made.names, _reference(made.names))
    return JudgedText(
        judged=_judged_table(collection, candidates, parts, made.X, missed if settings.relevant == "all" else None),
        columns=columns,
        topics=_topics_table(collection, np.unique(candidates.query), parts, made.topics),
        topic_columns=made.topic_names,
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


class _Found(NamedTuple):
    """Queries over an index, their best documents and their candidates."""

    over: Index
    queries: AnalysedQueries
    ranking: RankedDocuments
    candidates: Candidates


class _Described(NamedTuple):
    """Features of candidates, (n_pairs, n_columns), and columns of the queries that have any, (n_kept, n_topic_columns), with their names."""

    X: NDArray[np.float32]
    names: list[str]
    topics: FloatArray
    topic_names: list[str]


def _described(
    documents: Documents, asked: Sequence[Query], found: _Found, settings: TextSettings, vectors: TextVectors | None
) -> _Described:
    index, queries, ranking, candidates = found
    searched, names = index.field(settings.searched), column_names(index, settings.feature_sets)
    query_id = np.array([query.query_id for query in asked], dtype=object)
    first = bm25_scores(searched, queries, candidates.query, candidates.document, settings.bm25)
    given = {FIRST_STAGE: first, **(dense_values(vectors, query_id, candidates) if vectors else {})}
    static = web_columns(documents)
    X = feature_values(index, queries, candidates, names, constants=settings.constants, static=static, given=given)
    kept = np.unique(candidates.query)
    if settings.query_vectors and vectors:
        topics = vectors.of_queries(query_id[kept]).astype(np.float64)
        return _Described(X, names, topics, [f"dense.{i + 1}" for i in range(topics.shape[1])])
    topics, topic_names = topic_columns(searched, queries, ranking, settings.lsa)
    return _Described(X, names, topics[kept], topic_names)


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


#: Part of queries that belong to no fold.
PART = "new"


def new_query_features(
    collection: Collection,
    queries: Sequence[Query],
    settings: TextSettings,
    past: int = 0,
    index_file: Path | None = None,
    vectors: TextVectors | None = None,
) -> tuple[Judged, pa.Table]:
    """Candidates of new queries with their features, as `judged_text` computes them for the collection's own queries.

    ``past`` is a number of further candidates: the best by BM25 over documents that are expanded with the
    collection's own judged queries (`qdrank.text.expansion`). ``index_file`` is one in which the index is kept for later calls.
    ``vectors`` are those of the collection's documents and of the new queries, where an encoder is asked for.

    Returns
    -------
    judged : documents of the queries that have a candidate, all of grade 0
    topics : the artifact ``topics`` of these queries
    """
    index = build_index(collection.documents, settings.analyser, index_file)
    asked = analyse_queries(index, [query.text for query in queries])
    ranking = retrieve(index.field(settings.searched), asked, settings.bm25, n_top=settings.n_top)
    listed = ranking
    if past:
        texts = [query.text for query in queries]
        more = answered_before(collection, index, settings.searched, texts, past, settings.bm25)
        listed = ranking._replace(document=np.hstack([ranking.document, more.document]))
    nothing: IntArray = np.empty(0, dtype=np.int64)
    candidates = find_candidates(listed, JudgedPairs(nothing, nothing, nothing), len(index.doc_id))
    if len(candidates.query) == 0:
        raise InputError("no word of any query occurs in the collection", fix="check the language of the queries")
    made = _described(collection.documents, queries, _Found(index, asked, ranking, candidates), settings, vectors)
    kept = [queries[row] for row in np.unique(candidates.query).tolist()]
    judged = Judged(
        query_id=np.array([query.query_id for query in kept], dtype=object),
        part=np.full(len(kept), PART, dtype=object),
        offsets=query_offsets(candidates.query),
        doc_id=np.array(collection.documents.doc_id, dtype=object)[candidates.document],
        y=np.zeros(len(candidates.query), dtype=np.int64),
        X=made.X,
    )
    texts = [query.text for query in kept]
    return judged, topics_table(judged.query_id, judged.part, text=texts, columns=made.topics.astype(np.float32))


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


def text_settings(options: Mapping[str, Any], seed: int, *, query_vectors: bool = False) -> TextSettings:
    """Settings of the text features from the section ``text`` of a configuration."""
    return TextSettings(
        analyser=Analyser(stemmer=options["stemmer"], stop_words=options["stop_words"]),
        bm25=BM25(variant=options["variant"], k1=options["k1"], b=options["b"]),
        constants=OHSUMED if options["constants"] == "ohsumed" else Constants(),
        n_top=options["candidates"],
        judged=options["judged"],
        feature_sets=tuple(options["features"]),
        folds=5 if options["folds"] == "rotation" else None,
        seed=seed,
        lsa=options["lsa"],
        query_vectors=query_vectors,
        relevant=options["relevant"],
    )


def extract_features(
    out: Mapping[str, str | Path],
    source: Mapping[str, Any],
    *,
    seed: int,
    vectors: str | None = None,
    query_vectors: bool = False,
    **options: Any,
) -> tuple[Note, ...]:
    """Write ``judged``, ``columns`` and ``topics`` of a collection; return the notes.

    ``source`` holds the arguments of `read_collection`; ``vectors`` is the artifact with an encoder's, which become features
    and, with ``query_vectors``, the columns of queries.
    """
    with placed(_judgments(source)):
        collection = read_collection(**source)
        settings = text_settings(options, seed, query_vectors=query_vectors)
        notes = write_judged_text(out, collection, settings, load_vectors(vectors) if vectors else None)
        judged = load_judged(out["judged"], [])
        refuse_unusable(judged)
    ranked = Note("candidates to rank, which tables call documents", judged.n_documents, (), "")
    return (*read_counts(collection), ranked, *notes)


def _judgments(source: Mapping[str, Any]) -> str:
    """Where the judgments of a collection are: their file or files, or the folder of all its files."""
    qrels = (source.get("files") or {}).get("qrels", source.get("folder", ""))
    return ", ".join(map(str, qrels.values())) if isinstance(qrels, Mapping) else str(qrels)
