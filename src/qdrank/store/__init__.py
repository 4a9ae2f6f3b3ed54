"""The store: artifacts as Parquet files with a registered shape, a digest, and deterministic bytes."""

from __future__ import annotations

from qdrank.store.atomic import atomic_path, write_text
from qdrank.store.tables import (
    ArtifactWriter,
    CorruptArtifact,
    open_artifact,
    read,
    read_about,
    table_of,
    verify,
    write,
    writing,
)

__all__ = [
    "ArtifactWriter",
    "CorruptArtifact",
    "atomic_path",
    "open_artifact",
    "read",
    "read_about",
    "table_of",
    "verify",
    "write",
    "write_text",
    "writing",
]
