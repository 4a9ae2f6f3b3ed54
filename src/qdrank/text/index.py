"""Index of a collection: per field a sparse matrix of counts and the statistics that rank models ask for."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as setting
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qdrank import __version__
from qdrank.datasets.collections.model import Documents
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.registry import did_you_mean
from qdrank.store.atomic import atomic_path
from qdrank.text.analyser import AnalysedTokens, Analyser

Counts = sparse.csr_array

# Fields that are sums of others: Hoi's "title and abstract", LETOR's "whole document".
UNIONS = {"both": ("title", "body"), "whole": ("title", "body", "anchor", "url")}


@dataclass(frozen=True, eq=False)
class FieldIndex:
    """Counts of every term in one field of every document.

    Attributes
    ----------
    counts : csr_array (n_documents, n_terms) of int32; column numbers sorted within a row, no zeros stored
    """

    counts: Counts

    @cached_property
    def length(self) -> FloatArray:
        """Number of tokens of each document, (n_documents,)."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.float64)

    @cached_property
    def distinct(self) -> FloatArray:
        """Number of distinct terms of each document, (n_documents,)."""
        return np.diff(self.counts.indptr).astype(np.float64)

    @cached_property
    def df(self) -> FloatArray:
        """Number of documents with each term, (n_terms,)."""
        return np.bincount(self.counts.indices, minlength=self.n_terms).astype(np.float64)

    @cached_property
    def cf(self) -> FloatArray:
        """Number of tokens of each term, (n_terms,)."""
        return np.asarray(self.counts.sum(axis=0), dtype=np.float64)

    @cached_property
    def postings(self) -> sparse.csc_array:
        """The counts by term: documents of a term are together, in order."""
        return self.counts.tocsc()

    @property
    def n_documents(self) -> int:
        """Number of documents, empty ones included."""
        return int(self.counts.shape[0])

    @property
    def n_terms(self) -> int:
        """Size of the vocabulary, which all fields share."""
        return int(self.counts.shape[1])

    @cached_property
    def n_tokens(self) -> float:
        """Tokens of the whole field."""
        return float(self.length.sum())

    @property
    def mean_length(self) -> float:
        """Mean length of a document; 1 in a field without any text, where it only guards divisions."""
        return self.n_tokens / self.n_documents if self.n_tokens else 1.0


@dataclass(frozen=True, eq=False)
class Index:
    """Fields of a collection over one sorted vocabulary, and the analyser that made them."""

    doc_id: list[str]
    terms: list[str]
    fields: Mapping[str, FieldIndex]
    analyser: Analyser = setting(default_factory=Analyser)

    @cached_property
    def term_number(self) -> dict[str, int]:
        """Column of each term."""
        return {term: number for number, term in enumerate(self.terms)}

    def field(self, name: str) -> FieldIndex:
        """The field called ``name``; raises `InputError` if there is none."""
        if name not in self.fields:
            raise InputError(f"the collection has no field {name!r}", fix=did_you_mean(name, sorted(self.fields)))
        return self.fields[name]

    @property
    def main(self) -> FieldIndex:
        """Title and body together, or the body where there is no title."""
        return self.fields["both"]


@dataclass(frozen=True, eq=False)
class AnalysedQueries:
    """Queries in the terms of an index.

    Attributes
    ----------
    counts : csr_array (n_queries, n_terms) of int32
    length : (n_queries,) number of tokens, unknown words included, stop words not
    unknown : (n_queries,) number of tokens that are in no document
    """

    counts: Counts
    length: IntArray
    unknown: IntArray

    def __len__(self) -> int:
        return int(self.counts.shape[0])


def build_index(documents: Documents, analyser: Analyser | None = None, file: Path | None = None) -> Index:
    """Index every field of ``documents``, and the unions ``both`` (title + body) and ``whole`` (all four).

    With ``file`` the counts are read from there if it was made of the same texts in the same way, and else kept there: analysing
    a collection takes seconds. A file that cannot be read or written is no error.
    """
    analyser = analyser or Analyser()
    key = _key(documents, analyser) if file else ""
    kept = _read(file, key) if file else None
    if kept is None:
        tokens = analyser.analyse(text for texts in documents.fields.values() for text in texts)
        kept = count_matrix(tokens), tokens.terms
        if file:
            _write(file, key, *kept)
    return _index(documents, analyser, *kept)


def _index(documents: Documents, analyser: Analyser, counts: Counts, terms: list[str]) -> Index:
    """The index from the counts of each term in each text, (n_fields * n_documents, n_terms), field after field."""
    n = len(documents)
    fields = {name: FieldIndex(counts[i * n : (i + 1) * n]) for i, name in enumerate(documents.fields)}
    for union, members in UNIONS.items():
        if union == "both" or "anchor" in fields or "url" in fields:
            fields[union] = FieldIndex(_sum([fields[member] for member in members if member in fields]))
    return Index(documents.doc_id, terms, fields, analyser)


def _sum(members: Sequence[FieldIndex]) -> Counts:
    total = members[0].counts
    for member in members[1:]:
        total = total + member.counts
    total.sort_indices()
    return total


def count_matrix(tokens: AnalysedTokens) -> Counts:
    """Counts of each term in each text, (n_texts, n_terms): the tokens *are* a CSR matrix of ones, once summed."""
    shape = len(tokens.offsets) - 1, len(tokens.terms)
    small = tokens.offsets[-1] < 2**31
    offsets = tokens.offsets.astype(np.int32) if small else tokens.offsets
    matrix = sparse.csr_array((np.ones(len(tokens.ids), dtype=np.int32), tokens.ids, offsets), shape=shape)
    matrix.sum_duplicates()
    return matrix


def analyse_queries(index: Index, texts: Sequence[str]) -> AnalysedQueries:
    """Queries in the index's terms; words that are in no document are counted; an empty query is allowed."""
    tokens = index.analyser.analyse(texts)
    column = np.array([index.term_number.get(term, -1) for term in tokens.terms], dtype=np.int64)
    ids = column[tokens.ids] if len(column) else np.empty(0, dtype=np.int64)
    query = np.repeat(np.arange(len(texts)), np.diff(tokens.offsets))
    known = ids >= 0
    ones: NDArray[np.int32] = np.ones(int(known.sum()), dtype=np.int32)
    counts = sparse.coo_array((ones, (query[known], ids[known])), shape=(len(texts), len(index.terms))).tocsr()
    counts.sort_indices()
    return AnalysedQueries(
        counts, np.diff(tokens.offsets), np.bincount(query[~known], minlength=len(texts)).astype(np.int64)
    )


def with_words(index: Index, texts: Sequence[str]) -> Index:
    """The index with the words of ``texts`` in its vocabulary too, after those of the documents."""
    new = [term for term in index.analyser.analyse(texts).terms if term not in index.term_number]
    fields = {}
    for name, one in index.fields.items():
        counts = one.counts
        wide = counts.shape[0], counts.shape[1] + len(new)
        fields[name] = FieldIndex(sparse.csr_array((counts.data, counts.indices, counts.indptr), shape=wide))
    return Index(index.doc_id, [*index.terms, *new], fields, index.analyser)


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
