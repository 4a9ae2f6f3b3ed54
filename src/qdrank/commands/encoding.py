"""Encoders on the command line: by registered name, by folder, or with prompts as a configuration has them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from qdrank import cache_folder
from qdrank.datasets import sources
from qdrank.errors import InputError
from qdrank.jobs import cores
from qdrank.registry import did_you_mean

if TYPE_CHECKING:
    from qdrank.datasets.collections.model import Collection
    from qdrank.text.encoder import Encoder
    from qdrank.text.encoding import TextVectors

_WHICH = (
    "an encoder: a registered name (minilm), a folder as the model hub has it, or '{folder: F, queries: \"query: \"}' "
    "with prompts"
)


def add_encoder(parser: argparse.ArgumentParser) -> None:
    """Declare ``--encoder``."""
    parser.add_argument("--encoder", metavar="ENCODER", help=_WHICH)


def encoder_of(given: str) -> Encoder:
    """The encoder that the user names, fetched if it is registered."""
    from qdrank.datasets.fetching.fetch import fetch_all
    from qdrank.datasets.fetching.presence import download_folder
    from qdrank.text.encoder import Encoder, encoder_form

    spec: Any = yaml.safe_load(given) if given.startswith("{") else given
    known = sources.load_encoders()
    if isinstance(spec, str) and spec in known:
        fetch_all(known[spec])
        spec = str(download_folder(known[spec]))
    elif isinstance(spec, str) and not Path(spec).is_dir():
        problem = f"unknown encoder {spec!r}, and no such folder"
        raise InputError(problem, fix=did_you_mean(spec, list(known)))
    keys = {"folder": spec} if isinstance(spec, str) else dict(spec)
    if "folder" not in keys or not {*keys} <= {"folder", "queries", "documents"}:
        raise InputError("an encoder has the keys folder, queries and documents", found=given, fix="correct the keys")
    return Encoder(encoder_form(**keys), threads=cores())


def vectors_of(given: str, collection: Collection) -> TextVectors:
    """Vectors of a collection, kept in the cache for later calls; progress is printed."""
    from qdrank.text.encoding import kept_vectors

    folder = Path(cache_folder()) / "vectors"
    return kept_vectors(encoder_of(given), collection, folder, lambda words: print(f"qdrank: {words}", file=sys.stderr))
