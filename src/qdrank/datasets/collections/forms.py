"""A collection by name and folder; queries from a file in any of the forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from qdrank.datasets import textfiles
from qdrank.datasets.collections import COLLECTIONS
from qdrank.datasets.collections.beir import read_queries
from qdrank.datasets.collections.model import Collection, Query, with_sources
from qdrank.datasets.collections.smart import FORMS, SmartForm, read_smart_queries
from qdrank.datasets.collections.trec import read_topics
from qdrank.errors import InputError


def read_collection(
    like: str,
    folder: str | Path = "",
    *,
    files: Mapping[str, Any] | None = None,
    form: Mapping[str, Any] | None = None,
    sources: Mapping[str, Any] | None = None,
) -> Collection:
    """Read a collection.

    Parameters
    ----------
    like : one of the registry's by name, or a form: beir, irds, smart, trec
    folder : of the files of a registered collection, of one in BEIR form, or of ir_datasets
    files, form : of the user's own collection in SMART or TREC form: its files, and how they are written; for ir_datasets the id
    sources : which queries are of one source (`qdrank.datasets.origins.sources_of`), where folds keep them together
    """
    if files is not None and like == "smart":
        documents = tuple(files["documents"])
        collection: Collection = COLLECTIONS["smart"](
            Path(), SmartForm(**{**files, "documents": documents}, **(form or {}))
        )
    elif files is not None:
        collection = COLLECTIONS[like](**files, **(form or {}))
    elif like in FORMS:
        collection = COLLECTIONS["smart"](Path(folder), like)
    else:
        collection = COLLECTIONS[like](Path(folder), **(form or {}))
    return with_sources(collection, sources) if sources else collection


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
