"""Fitted rankers as plain values: a description that is JSON, and named arrays; nothing is pickled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.rankers import RANKERS
from qdrank.store.lists import list_matrix, open_list_column

Arrays = dict[str, NDArray[Any]]


def described(value: Any, name: str, arrays: Arrays) -> Any:
    """``value`` as JSON; its arrays are added to ``arrays`` under names that begin with ``name``.

    A fitted object has ``NAME``, its parameters are its fields, and ``STATE`` names its fitted attributes.
    """
    if isinstance(value, np.ndarray):
        arrays[name] = value
        kind = "text" if value.dtype == object else value.dtype.name
        return {"array": name, "type": kind, "shape": list(value.shape)}
    if isinstance(value, list | tuple):
        return {"items": [described(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]}
    if hasattr(value, "STATE"):
        params = {
            f.name: described(getattr(value, f.name), f"{name}.{f.name}", arrays) for f in fields(value) if f.init
        }
        state = {key: described(getattr(value, key), f"{name}.{key}", arrays) for key in value.STATE}
        return {"object": value.NAME, "params": params, "state": state}
    return value.item() if isinstance(value, np.generic) else value


def restored(description: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The inverse of `described`."""
    if not isinstance(description, dict):
        return description
    if "array" in description:
        array = arrays[description["array"]]
        kind = object if description["type"] == "text" else description["type"]
        return np.ascontiguousarray(array.reshape(description["shape"]).astype(kind))
    if "items" in description:
        return tuple(restored(item, arrays) for item in description["items"])
    made = RANKERS[description["object"]](
        **{name: restored(value, arrays) for name, value in description["params"].items()}
    )
    for name, value in description["state"].items():
        setattr(made, name, restored(value, arrays))
    return made


def array_rows(name: str, array: NDArray[Any], text: str | None = None) -> pa.Table:
    """An array as rows of the artifact ``rankers``; texts have a row each, numbers one row for each of theirs."""
    is_text = array.dtype == object or text is not None
    numbers = np.zeros((len(array) if text is None else 1, 0)) if is_text else np.atleast_2d(array)
    n = len(numbers)
    texts = [text] if text is not None else [str(one) for one in array] if is_text else None
    return pa.table(
        {
            "part": pa.array([name] * n, pa.string()),
            "row": pa.array(np.arange(n, dtype=np.int32)),
            "text": pa.nulls(n, pa.string()) if texts is None else pa.array(texts, pa.string()),
            "numbers": open_list_column(numbers.astype(np.float64)),
            "wholes": open_list_column(np.zeros((n, 0), dtype=np.int32)),
        }
    )


def arrays_of(table: pa.Table) -> Iterator[tuple[str, NDArray[Any]]]:
    """Arrays of the artifact by name; those of size 0 have left no row."""
    names = table.column("part").to_numpy(zero_copy_only=False)
    starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
    for a, b in pairwise(starts):
        part = table.slice(a, b - a)
        if part.column("text").null_count:
            yield names[a], list_matrix(part.column("numbers"))
        else:
            yield names[a], part.column("text").to_numpy(zero_copy_only=False)
