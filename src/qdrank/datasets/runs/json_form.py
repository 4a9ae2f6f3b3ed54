"""Runs and judgments as JSON, ``{query: {document: number}}``, as BEIR's and ranx' tools write them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.letor.files import open_bytes
from qdrank.datasets.runs.model import together
from qdrank.errors import AnyPath, InputError

_LARGEST = 1e308


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object in order, duplicates included."""


def json_rows(path: AnyPath, what: str, *, whole: bool = False) -> tuple[NDArray[Any], NDArray[Any], list[float]]:
    """Queries, documents and numbers, each query's together; ``what`` the number is, and whether it must be whole.

    Raises `InputError` if the file is not JSON of this form, a value is not a number, or a query has a document twice.
    """
    fix = f'write {{"query": {{"document": {what}}}}}'
    content = _content(path)
    if not isinstance(content, _Members):
        raise InputError("not an object of queries", file=path, found=str(content), fix=fix)
    rows: list[tuple[str, str, float]] = []
    for query, documents in content:
        if not isinstance(documents, _Members):
            raise InputError(f"query {query}: its documents are missing", file=path, found=str(documents), fix=fix)
        rows += [(query, doc, value) for doc, value in documents]
    if not rows:
        raise InputError("has no documents", file=path, fix=fix)
    _check(rows, what, whole, path, fix)
    order = together([query for query, _, _ in rows])
    queries, docs, values = zip(*(rows if order is None else [rows[i] for i in order]), strict=True)
    return np.array(queries, dtype=object), np.array(docs, dtype=object), list(values)


def _content(path: AnyPath) -> Any:
    with open_bytes(path) as file:
        try:
            return json.loads(file.read(), object_pairs_hook=_Members)
        except json.JSONDecodeError as error:
            problem, line = f"not JSON: {error.msg}", error.lineno
        except (ValueError, OSError, EOFError, RecursionError) as error:
            problem, line = f"not JSON: {error}", 1
    raise InputError(problem, file=path, line=line, fix="write the file again with a JSON library")


def _check(rows: list[tuple[str, str, float]], what: str, whole: bool, path: AnyPath, fix: str) -> None:
    seen: set[tuple[str, str]] = set()
    for query, doc, value in rows:
        place = f"query {query}, document {doc}"
        if type(value) not in (int, float) or not -_LARGEST < value < _LARGEST:
            raise InputError(f"{place}: the {what} is not a number", file=path, found=str(value), fix=fix)
        if whole and value != int(value):
            raise InputError(f"{place}: the {what} is not a whole number", file=path, found=str(value), fix=fix)
        if (query, doc) in seen:
            raise InputError(f"{place}: comes again", file=path, found=str(value), fix="keep one of the two")
        seen.add((query, doc))
