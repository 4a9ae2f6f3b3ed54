"""Vectors of the texts of a collection: made in blocks of fixed size, so that a run that goes on makes only what is missing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank import cache_folder
from qdrank.datasets.collections.forms import read_collection
from qdrank.datasets.collections.model import Collection, judged_queries_of
from qdrank.errors import AnyPath
from qdrank.layout import rows_of
from qdrank.store import open_artifact, read, write, writing
from qdrank.store.tables import list_column, list_matrix
from qdrank.text import encoder as encoder_module
from qdrank.text.encoder import Encoder, Vectors, encoder_form


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


def kept_folder() -> Path:
    """Folder of the cache for vectors."""
    return Path(cache_folder()) / "vectors"


#: Texts that are encoded together. Which texts share a block does not depend on the number of jobs.
BLOCK = 1024


class Text(NamedTuple):
    """A text to encode; ``kind`` is query, document or title."""

    kind: str
    id: str
    text: str


def texts_of(collection: Collection, *, titles: bool = True) -> list[Text]:
    """The texts of a collection: queries with judgments, documents (title and body), and if asked for ``titles``."""
    documents = collection.documents
    heads, bodies = (documents.fields.get(name, [""] * len(documents)) for name in ("title", "body"))
    whole = [f"{title} {body}".strip() for title, body in zip(heads, bodies, strict=True)]
    return [
        *(Text("query", query.query_id, query.text) for query in judged_queries_of(collection)),
        *(Text("document", *one) for one in zip(documents.doc_id, whole, strict=True)),
        *(Text("title", *one) for one in zip(documents.doc_id, heads, strict=True) if one[1] and titles),
    ]


def blocks_of(texts: Sequence[Text]) -> list[Sequence[Text]]:
    """The texts of each kind in blocks of fixed size: those of the documents stay where other queries are judged."""
    of_kinds = [list(of) for _, of in groupby(texts, lambda text: text.kind)]
    return [of[start : start + BLOCK] for of in of_kinds for start in range(0, len(of), BLOCK)]


def encoded(encoder: Encoder, texts: Sequence[Text]) -> pa.Table:
    """The artifact ``vectors`` of some texts."""
    asked = np.array([text.kind == "query" for text in texts], dtype=bool)
    queries = encoder.encode([text.text for text in texts if text.kind == "query"], "queries")
    vectors = np.empty((len(texts), queries.shape[1]), dtype=np.float32)
    vectors[asked] = queries
    vectors[~asked] = encoder.encode([text.text for text in texts if text.kind != "query"], "documents")
    columns = [pa.array([getattr(text, name) for text in texts], pa.string()) for name in ("kind", "id")]
    return pa.table([*columns, list_column(vectors)], names=["kind", "id", "vector"])


def kept_vectors(
    encoder: Encoder, collection: Collection, folder: Path, told: Callable[[str], object] = lambda _: None
) -> TextVectors:
    """Vectors of queries and documents of a collection; blocks that an earlier call left in ``folder`` are read, new ones left.

    ``told`` hears how far it is.
    """
    blocks, began = blocks_of(texts_of(collection, titles=False)), monotonic()
    paths = [_kept(encoder, block, folder) for block in blocks]
    missing = [place for place, path in enumerate(paths) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made, place in enumerate(missing, 1):
        write(paths[place], "vectors", encoded(encoder, blocks[place]))
        left = (monotonic() - began) / made * (len(missing) - made)
        told(f"encoded {made:,} of {len(missing):,} blocks of texts, {left / 60:.0f} minutes left")
    return text_vectors([read(path, "vectors") for path in paths])


def _kept(encoder: Encoder, texts: Sequence[Text], folder: Path) -> Path:
    """Where the vectors of a block are kept, by digests of the encoder, of the code and the libraries that run it, and of the texts."""
    sha256 = hashlib.sha256(encoder.form.digest.encode() + Path(encoder_module.__file__).read_bytes())
    made_by = [version(library) for library in ("onnxruntime", "tokenizers", "numpy")]
    for part in (part.encode() for text in (made_by, *texts) for part in text):
        sha256.update(len(part).to_bytes(8, "little") + part)
    return folder / f"{sha256.hexdigest()[:32]}.parquet"


def write_shard(
    path: AnyPath,
    shard: tuple[int, int],
    *,
    source: Mapping[str, Any],
    encoder: Mapping[str, Any],
    log: Callable[..., object],
) -> None:
    """Write the vectors of one share of a collection's blocks; those that `kept_vectors` left in the cache are read.

    Parameters
    ----------
    shard : number of the share, from 0, and of how many
    source : arguments of `qdrank.datasets.collections.forms.read_collection`
    encoder : arguments of `qdrank.text.encoder.encoder_form`
    """
    number, total = shard
    blocks = blocks_of(texts_of(read_collection(**source)))
    mine = blocks[number * len(blocks) // total : (number + 1) * len(blocks) // total]
    made, began = Encoder(encoder_form(**encoder)), monotonic()
    with writing(path, "vectors") as writer:
        writer.append(encoded(made, []))
        for done, block in enumerate(mine, 1):
            path = _kept(made, block, kept_folder())
            writer.append(read(path, "vectors") if path.exists() else encoded(made, block))
            left = (monotonic() - began) / done * (len(mine) - done)
            log("encoded %d of %d blocks of texts, %.0f minutes left", done, len(mine), left / 60)


def gather_vectors(files: Mapping[str, Sequence[str]], out: Mapping[str, str]) -> None:
    """Put the shares of a collection together, in order."""
    with writing(out["vectors"], "vectors") as writer:
        for path in files["shards"]:
            with open_artifact(path, "vectors") as shard:
                for group in range(shard.num_row_groups):
                    writer.append(shard.read_row_group(group))
