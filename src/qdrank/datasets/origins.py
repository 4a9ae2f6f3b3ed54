"""Which queries come from one source: an article, a page, an author. `qdrank.datasets.folds` keeps them together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from qdrank.datasets.runs.rows import read_groups
from qdrank.errors import InputError


def sources_of(
    rule: Mapping[str, Any], query_id: Sequence[str], relevant: Sequence[tuple[str, str, int]] | None = None
) -> dict[str, str]:
    """Source of every query, called as a file says or after its first query.

    Parameters
    ----------
    rule : one of ``file`` (lines of a query and its source), ``blocks`` (number of consecutive queries), ``starts`` (places of
        the first queries, counted from 0) and ``shared`` (queries with a common document of this grade or higher)
    query_id : (n_queries,) in the order of their file
    relevant : query, document and grade of every judgment, for ``shared``
    """
    ((kind, value),) = rule.items()
    if kind == "file":
        return _listed_sources(value, query_id)
    if kind == "shared":
        return _joined_sources(query_id, [(q, d) for q, d, grade in relevant or () if grade >= value])
    starts = list(range(0, len(query_id), value)) if kind == "blocks" else value
    return {name: query_id[starts[bisect_right(starts, i) - 1]] for i, name in enumerate(query_id)}


def _listed_sources(path: str, query_id: Sequence[str]) -> dict[str, str]:
    listed = read_groups(path)
    if lacking := [name for name in query_id if name not in listed]:
        fix = "give every judged query a line: query source"
        raise InputError(f"{len(lacking)} queries have no source", file=path, found=lacking[0], fix=fix)
    return {name: listed[name] for name in query_id}


def _joined_sources(query_id: Sequence[str], pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Queries joined by common documents, each named after the first that it is joined with."""
    first = {name: name for name in query_id}
    place = {name: i for i, name in enumerate(query_id)}

    def root(name: str) -> str:
        while first[name] != name:
            first[name] = name = first[first[name]]
        return name

    owner: dict[str, str] = {}
    for query, document in pairs:
        a, b = sorted((root(query), root(owner.setdefault(document, query))), key=place.__getitem__)
        first[b] = a
    return {name: root(name) for name in query_id}
