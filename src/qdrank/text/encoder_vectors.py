"""Vectors of the texts of a collection, as other stages read them; `qdrank.text.encoding` makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.errors import AnyPath
from qdrank.layout import rows_of
from qdrank.store import read
from qdrank.store.tables import list_matrix

Vectors = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class TextVectors:
    """Vectors of a collection's judged queries, its documents, and their titles (zeros where there is none).

    ``queries`` (n_queries, n_dimensions) of the names ``query_id``; ``documents``, ``titles`` (n_documents, n_dimensions) of the
    names ``doc_id``, in the order of the collection.
    """

    query_id: NDArray[np.object_]
    doc_id: NDArray[np.object_]
    queries: Vectors
    documents: Vectors
    titles: Vectors

    def of_queries(self, query_id: Sequence[str] | NDArray[np.object_]) -> Vectors:
        """Vectors of the queries with these names, (n_names, n_dimensions)."""
        wanted = np.asarray(query_id, dtype=object)
        return np.asarray(self.queries[rows_of(wanted, self.query_id, among="the encoded queries")])


def text_vectors(tables: Sequence[pa.Table]) -> TextVectors:
    """The vectors of a collection from its artifacts ``vectors``."""
    table = pa.concat_tables(tables)
    kind, names = (table.column(name).to_numpy(zero_copy_only=False) for name in ("kind", "id"))
    vectors = list_matrix(table.column("vector"))
    query_id, doc_id = names[kind == "query"], names[kind == "document"]
    titles = np.zeros((len(doc_id), vectors.shape[1]), dtype=np.float32)
    titles[rows_of(names[kind == "title"], doc_id)] = vectors[kind == "title"]
    return TextVectors(query_id, doc_id, vectors[kind == "query"], vectors[kind == "document"], titles)


def load_vectors(path: AnyPath) -> TextVectors:
    """The vectors of a collection from the artifact of a run."""
    return text_vectors([read(path, "vectors")])
