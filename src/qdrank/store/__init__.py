"""The store: artifacts as Parquet files with a registered shape, a digest, and deterministic bytes."""

from __future__ import annotations

from qdrank.store.atomic import atomic_path, write_text
from qdrank.store.digest import CorruptArtifact, verify
from qdrank.store.tables import ArtifactWriter, open_artifact, read, table_of, write, writing

__all__ = [
    "ArtifactWriter",
    "CorruptArtifact",
    "atomic_path",
    "open_artifact",
    "read",
    "table_of",
    "verify",
    "write",
    "write_text",
    "writing",
]
