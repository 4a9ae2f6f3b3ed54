"""An index kept on the disk: analysing a collection takes seconds, reading what came of it does not."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse

from qdrank import __version__
from qdrank.datasets.collections.model import Documents
from qdrank.store.atomic import atomic_path
from qdrank.text.analyser import Analyser
from qdrank.text.index import Counts, Index, count_matrix, index_of


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
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
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
