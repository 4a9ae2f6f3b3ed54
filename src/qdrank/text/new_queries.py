"""Features of new queries over a collection: what a study's models need to rank its documents for them.

The index is kept on the disk: analysing a collection takes seconds, reading its index does not.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy import sparse

from qdrank import __version__
from qdrank.datasets import textfiles
from qdrank.datasets.collections.beir import read_queries
from qdrank.datasets.collections.model import Collection, Documents, JudgedPairs, Query
from qdrank.datasets.collections.smart import read_smart_queries
from qdrank.datasets.collections.trec import read_topics
from qdrank.datasets.columns import topics_table
from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import query_offsets
from qdrank.store.atomic import atomic_path
from qdrank.text.analyser import Analyser
from qdrank.text.encoder_vectors import TextVectors
from qdrank.text.index import Counts, Index, analyse_queries, build_index, count_matrix, index_of
from qdrank.text.judged import TextSettings, topic_columns
from qdrank.text.past_queries import answered_before
from qdrank.text.rank_features import FIRST_STAGE, column_names, dense_values, feature_values, web_columns
from qdrank.text.retrieve import bm25_scores, find_candidates, retrieve

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
    collection's own judged queries (`qdrank.text.past_queries`). ``index_file`` is one in which the index is kept for later calls.
    ``vectors`` are those of the collection's documents and of the new queries, where an encoder is asked for.

    Returns
    -------
    judged : documents of the queries that have a candidate, all of grade 0
    topics : the artifact ``topics`` of these queries
    """
    documents, analyser = collection.documents, settings.analyser
    index = build_index(documents, analyser) if index_file is None else kept_index(documents, analyser, index_file)
    asked = analyse_queries(index, [query.text for query in queries])
    searched = index.field(settings.searched)
    ranking = retrieve(searched, asked, settings.bm25, n_top=settings.n_top)
    nothing: np.ndarray[tuple[int], np.dtype[np.int64]] = np.empty(0, dtype=np.int64)
    listed = ranking
    if past:
        texts = [query.text for query in queries]
        more = answered_before(collection, index, settings.searched, texts, past, settings.bm25)
        listed = ranking._replace(document=np.hstack([ranking.document, more.document]))
    candidates = find_candidates(listed, JudgedPairs(nothing, nothing, nothing), len(index.doc_id))
    if len(candidates.query) == 0:
        raise InputError("no word of any query occurs in the collection", fix="check the language of the queries")
    names = column_names(index, settings.feature_sets)
    static = web_columns(collection.documents)
    first = bm25_scores(searched, asked, candidates.query, candidates.document, settings.bm25)
    asked_ids = [query.query_id for query in queries]
    given = {FIRST_STAGE: first, **(dense_values(vectors, asked_ids, candidates) if vectors else {})}
    X = feature_values(index, asked, candidates, names, constants=settings.constants, static=static, given=given)
    kept = np.unique(candidates.query)
    ids = np.array(asked_ids, dtype=object)[kept]
    judged = Judged(
        query_id=ids,
        part=np.full(len(kept), PART, dtype=object),
        offsets=query_offsets(candidates.query),
        doc_id=np.array(collection.documents.doc_id, dtype=object)[candidates.document],
        y=np.zeros(len(candidates.query), dtype=np.int64),
        X=X,
    )
    columns = topic_columns(searched, asked, ranking, settings.lsa)[0][kept]
    if settings.query_vectors and vectors:
        columns = vectors.of_queries(ids).astype(np.float64)
    texts = [queries[row].text for row in kept.tolist()]
    return judged, topics_table(ids, judged.part, text=texts, columns=columns.astype(np.float32))


def read_new_queries(path: Path) -> list[Query]:
    """Queries of a file: lines ``ID<tab>text``, BEIR's queries.jsonl, TREC topics or SMART records, told apart by the first line.

    Raises `InputError` if a line has none of these forms, an id occurs twice or holds blanks, or there is no query.
    """
    first = next((line.strip() for _, line in textfiles.text_lines(path) if line.strip()), "")
    if first.startswith("{"):
        queries = list(read_queries(path))
    elif first.lower().startswith("<top"):
        queries = list(read_topics(path))
    elif first.startswith(".I"):
        queries = list(read_smart_queries(path))
    else:
        queries = list(_tabbed(path))
    if not queries:
        raise InputError("has no queries", file=path, fix="write one query per line: ID, a tab, its words")
    seen: set[str] = set()
    for query in queries:
        if query.query_id in seen or query.query_id.split() != [query.query_id]:
            problem = "the id of a query comes twice" if query.query_id in seen else "the id of a query contains blanks"
            raise InputError(problem, file=path, found=query.query_id, fix="give each query an id of its own, one word")
        seen.add(query.query_id)
    return queries


def _tabbed(path: Path) -> Iterator[Query]:
    for number, line in textfiles.text_lines(path):
        if line.strip():
            query_id, tab, text = line.partition("\t")
            if not tab:
                fix = "write one query per line: ID, a tab, its words"
                raise InputError("no tab after the id of the query", file=path, line=number, found=line, fix=fix)
            yield Query(query_id.strip(), text.strip())


def kept_index(documents: Documents, analyser: Analyser, place: Path) -> Index:
    """The index of ``documents``, from the file ``place`` if that was made of the same texts in the same way.

    Else it is built and kept there. A file that cannot be read or written is no error: the index is then built at each call.
    """
    key = _key(documents, analyser)
    kept = _read(place, key)
    if kept is None:
        tokens = analyser.analyse(text for texts in documents.fields.values() for text in texts)
        kept = count_matrix(tokens), tokens.terms
        _write(place, key, *kept)
    return index_of(documents, analyser, *kept)


def _key(documents: Documents, analyser: Analyser) -> str:
    """Digest of all texts, of how they are analysed, and of the version of the program."""
    sha256 = hashlib.sha256(f"{__version__} {analyser!r} {list(documents.fields)} {len(documents)}".encode())
    for texts in documents.fields.values():
        for text in texts:
            data = text.encode()
            sha256.update(len(data).to_bytes(8, "little") + data)
    return sha256.hexdigest()


def _read(place: Path, key: str) -> tuple[Counts, list[str]] | None:
    try:
        with np.load(place, allow_pickle=False) as file:
            if str(file["key"]) != key:
                return None
            terms = bytes(file["terms"]).decode().split("\n")
            terms = terms if terms != [""] else []
            shape = int(file["rows"]), len(terms)
            return sparse.csr_array((file["data"], file["indices"], file["indptr"]), shape=shape), terms
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def _write(place: Path, key: str, counts: Counts, terms: list[str]) -> None:
    buffer = io.BytesIO()
    words = np.frombuffer("\n".join(terms).encode(), dtype=np.uint8)
    rows = np.array(counts.shape[0])
    csr = (counts.data, counts.indices, counts.indptr)
    np.savez(buffer, key=np.array(key), terms=words, rows=rows, data=csr[0], indices=csr[1], indptr=csr[2])
    try:
        with atomic_path(place) as path:
            path.write_bytes(buffer.getvalue())
    except OSError:
        return
