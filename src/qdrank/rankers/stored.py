"""Fitted rankers as plain values: a JSON description and named arrays, without pickle; and first stages as they are stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.learners.parameters import fitted_names
from qdrank.store.tables import list_matrix, open_list_column

if TYPE_CHECKING:
    from qdrank.text.analyser import Analyser
    from qdrank.text.index import Index
    from qdrank.text.retrieve import RankedDocuments

Arrays = dict[str, NDArray[Any]]
#: Name of the description among the arrays of the artifact.
_DESCRIPTION = "description"
_INT32 = np.iinfo(np.int32)


def described(value: Any, name: str, arrays: Arrays) -> Any:
    """``value`` as JSON; its arrays are added to ``arrays`` under names that begin with ``name``.

    A fitted object has ``NAME``, its parameters are its fields, and its fitted attributes are those of `fitted_names`.
    """
    if isinstance(value, np.ndarray):
        arrays[name] = value
        kind = "text" if value.dtype == object else value.dtype.name
        return {"array": name, "type": kind, "shape": list(value.shape)}
    if isinstance(value, list | tuple):
        return {"items": [described(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]}
    if isinstance(value, Mapping):
        return {"entries": {key: described(item, f"{name}.{key}", arrays) for key, item in value.items()}}
    if hasattr(value, "NAME"):
        params = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        state = {key: getattr(value, key) for key in fitted_names(value)}
        return {"object": value.NAME} | {
            kind: {key: described(item, f"{name}.{key}", arrays) for key, item in items.items()}
            for kind, items in (("params", params), ("state", state))
        }
    return value.item() if isinstance(value, np.generic) else value


def restored(description: Any, arrays: Mapping[str, NDArray[Any]], kind: Callable[[str], Any]) -> Any:
    """The inverse of `described`; ``kind`` gives the class of a name."""
    if not isinstance(description, dict):
        return description
    if "array" in description:
        shape, dtype = description["shape"], object if description["type"] == "text" else description["type"]
        array = arrays[description["array"]] if description["array"] in arrays else np.zeros(0)
        return np.ascontiguousarray(array.reshape(shape).astype(dtype, copy=False))
    if "items" in description:
        return tuple(restored(item, arrays, kind) for item in description["items"])
    if "entries" in description:
        return {key: restored(item, arrays, kind) for key, item in description["entries"].items()}
    params, state = (
        {name: restored(value, arrays, kind) for name, value in description[section].items()}
        for section in ("params", "state")
    )
    made = kind(description["object"])(**params)
    for name, value in state.items():
        setattr(made, name, value)
    return made


def state_table(value: Any) -> pa.Table:
    """A fitted object as the artifact ``rankers``: its description, and a row for each row of its arrays."""
    arrays: Arrays = {}
    tables = [_described_row(described(value, "", arrays))]
    tables += [_rows(name, array) for name, array in arrays.items() if array.size]
    return pa.concat_tables(tables).combine_chunks()


def from_state_table(table: pa.Table, kind: Callable[[str], Any]) -> Any:
    """The inverse of `state_table`; ``kind`` gives the class of a name."""
    arrays = dict(_arrays_of(table))
    return restored(json.loads(arrays.pop(_DESCRIPTION)[0]), arrays, kind)


def _described_row(description: Any) -> pa.Table:
    return _rows(_DESCRIPTION, np.array([json.dumps(description, sort_keys=True)], dtype=object))


def _rows(name: str, array: NDArray[Any]) -> pa.Table:
    """An array as rows: texts and numbers each in their own column; integers that fit take half the space."""
    matrix = (
        array.reshape(len(array), -1)
        if array.ndim > 1
        else array.reshape(-1, 1 if array.dtype == object else array.size)
    )
    n = len(matrix)
    none = np.zeros((n, 0))
    whole = array.dtype.kind in "iub" and _INT32.min <= array.min() and array.max() <= _INT32.max
    is_text = array.dtype == object
    texts = pa.array([str(one) for one in matrix[:, 0]], pa.string()) if is_text else pa.nulls(n, pa.string())
    return pa.table(
        {
            "array": pa.array([name] * n, pa.string()),
            "row": pa.array(np.arange(n, dtype=np.int32)),
            "text": texts,
            "numbers": open_list_column((none if is_text or whole else matrix).astype(np.float64, copy=False)),
            "wholes": open_list_column((matrix if whole else none).astype(np.int32)),
        }
    )


def _arrays_of(table: pa.Table) -> Iterator[tuple[str, NDArray[Any]]]:
    """Arrays of the artifact by name; arrays of size 0 have no rows."""
    names = table.column("array").to_numpy(zero_copy_only=False)
    starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
    for a, b in pairwise(starts):
        rows = table.slice(a, b - a)
        if not rows.column("text").null_count:
            yield names[a], rows.column("text").to_numpy(zero_copy_only=False)
            continue
        numbers = list_matrix(rows.column("numbers"))
        yield names[a], numbers if numbers.size else list_matrix(rows.column("wholes"))


# ---- first stages --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Searcher:
    """A first stage as it is stored: it searches a collection of text for new queries.

    Most that is served searches no text, so what does that is imported when it is used.

    Attributes
    ----------
    method, fold : its name, and the fold that chose its settings
    stemmer, stop_words, searched, depth : how words are made, the field, the documents of a run
    variant, k1, b : of `BM25`
    documents, terms, weight : of `Feedback`; a weight of 1 is none
    """

    NAME: ClassVar[str] = "first-stage"

    method: str
    fold: str
    stemmer: str
    stop_words: str
    searched: str
    depth: int
    variant: str
    k1: float
    b: float
    documents: int = 1
    terms: int = 1
    weight: float = 1.0

    def settings(self) -> dict[str, Any]:
        """Everything but its name and the fold."""
        return {name: value for name, value in vars(self).items() if name not in ("method", "fold")}

    @property
    def analyser(self) -> Analyser:
        """What makes words of texts."""
        from qdrank.text.analyser import Analyser

        return Analyser(stemmer=self.stemmer, stop_words=self.stop_words)

    def search(self, index: Index, texts: Sequence[str]) -> RankedDocuments:
        """The best documents of each of the queries with these texts; ``index`` is of the same analyser."""
        from qdrank.text.expansion import Feedback, expanded_queries
        from qdrank.text.index import analyse_queries
        from qdrank.text.retrieve import BM25, retrieve

        field, words = index.field(self.searched), analyse_queries(index, texts)
        model = BM25(variant=self.variant, k1=self.k1, b=self.b)
        found = retrieve(field, words, model, n_top=self.depth)
        if self.weight == 1:
            return found
        words = expanded_queries(field, words, found, Feedback(self.documents, self.terms, self.weight))
        return retrieve(field, words, model, n_top=self.depth)
