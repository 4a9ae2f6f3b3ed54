"""The registered shape of every artifact.

A shape names its columns and their types. ``Vector`` columns are fixed-size lists whose width depends on the data
(number of features, number of neighbours) and is the same in every row. Measures, tables and the numbers behind
figures may carry further columns, because their names come from the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from qdrank.errors import InputError
from qdrank.registry import did_you_mean


@dataclass(frozen=True)
class Vector:
    """A fixed-size list of ``item``; the data decide its width."""

    item: pa.DataType


@dataclass(frozen=True)
class Shape:
    """Columns of an artifact, those that may hold nulls, those that may be absent, and whether others may follow."""

    columns: Mapping[str, pa.DataType | Vector]
    nullable: frozenset[str] = field(default_factory=frozenset)
    open: bool = False
    optional: Mapping[str, pa.DataType] = field(default_factory=dict)

    def schema(self, widths: Mapping[str, int]) -> pa.Schema:
        """Arrow schema of the named columns, with the widths of the vectors filled in."""
        return pa.schema(
            [
                pa.field(name, _filled(kind, widths.get(name)), nullable=name in self.nullable)
                for name, kind in self.columns.items()
            ]
        )


def _filled(kind: pa.DataType | Vector, width: int | None) -> pa.DataType:
    if not isinstance(kind, Vector):
        return kind
    if width is None:
        raise ValueError("a vector column needs its width")
    return pa.list_(pa.field("item", kind.item, nullable=False), width)


_TEXT, _NUMBER = pa.string(), pa.float64()
NUMBERS = pa.list_(pa.field("item", _NUMBER, nullable=False))

_ZHA_FIT = {"fold": _TEXT, "role": _TEXT, "h": _TEXT, "kind": _TEXT, "lam_alpha": _NUMBER, "lam_beta": _NUMBER}

SHAPES: dict[str, Shape] = {
    # missed and missed_id, in data made of raw text: grades and names of the relevant documents of a query that are not
    # among its candidates, in the query's first row; empty in the others.
    "judged": Shape(
        {"query_id": _TEXT, "doc_id": _TEXT, "label": pa.int8(), "part": _TEXT, "features": Vector(pa.float32())},
        optional={
            "missed": pa.list_(pa.field("item", pa.int8(), nullable=False)),
            "missed_id": pa.list_(pa.field("item", _TEXT, nullable=False)),
        },
    ),
    # What the numbered features are, and which of them is the reference model's score.
    "columns": Shape({"number": pa.int32(), "name": _TEXT, "reference": pa.bool_()}),
    # A query's words, its type where the data have one, and columns of its own. The columns are a plain list, because a
    # query may have none, and Parquet has no vectors of width 0.
    "topics": Shape(
        {"query_id": _TEXT, "part": _TEXT, "text": _TEXT, "type": _TEXT, "query_columns": NUMBERS},
        nullable=frozenset({"text", "type"}),
    ),
    # train_index numbers the training queries of a fold; neighbours refer to it. -1 outside the training part.
    "queries": Shape(
        {"query_id": _TEXT, "role": _TEXT, "type": _TEXT, "train_index": pa.int32(), "vector": Vector(pa.float64())},
        nullable=frozenset({"type"}),
    ),
    "neighbours": Shape({"query_id": _TEXT, "role": _TEXT, "neighbours": Vector(pa.int32())}),
    # What was fitted on the training queries of a fold: the scale of their vectors, a metric; see qdrank.queries.fitted.
    "fitted": Shape({"kind": _TEXT, "name": _TEXT, "row": pa.int32(), "numbers": NUMBERS}),
    "models": Shape(
        {
            "model": _TEXT,
            "k": pa.int32(),
            "lam": _NUMBER,
            "weights": NUMBERS,
            "text": _TEXT,
            "pairs": pa.int64(),
            "gap": _NUMBER,
            "iterations": pa.int32(),
        },
        nullable=frozenset({"text"}),
    ),
    # Linear models of the neighbourhoods of queries: one row per family of models, query, k and lambda.
    "local_models": Shape(
        {
            "family": _TEXT,
            "role": _TEXT,
            "query_id": _TEXT,
            "k": pa.int32(),
            "lam": _NUMBER,
            "pairs": pa.int64(),
            "gap": _NUMBER,
            "iterations": pa.int32(),
            "weights": Vector(_NUMBER),
        }
    ),
    # Weights of rankers: one row per method, query and gamma; the role is train, and the query empty, where all queries share them.
    "ensembles": Shape(
        {
            "method": _TEXT,
            "role": _TEXT,
            "query_id": _TEXT,
            "gamma": _NUMBER,
            "objective": _NUMBER,
            "gap": _NUMBER,
            "kkt": _NUMBER,
            "steps": pa.int32(),
            "weights": Vector(_NUMBER),
        }
    ),
    # Clusters of documents or of queries: one row per family of clusterings, seed, number of clusters and cluster. The
    # centres of an empty cluster are NaN; counts go with queries.
    "clusters": Shape(
        {
            "family": _TEXT,
            "seed": pa.int32(),
            "m": pa.int32(),
            "cluster": pa.int32(),
            "items": pa.int64(),
            "centre": NUMBERS,
            "queries": pa.list_(pa.field("item", _TEXT, nullable=False)),
            "counts": pa.list_(pa.field("item", pa.int32(), nullable=False)),
        }
    ),
    # Linear models of clusters, and whether one is the global model because its cluster has no pairs.
    "cluster_models": Shape(
        {
            "family": _TEXT,
            "seed": pa.int32(),
            "m": pa.int32(),
            "cluster": pa.int32(),
            "part": _TEXT,
            "lam": _NUMBER,
            "pairs": pa.int64(),
            "fallback": pa.bool_(),
            "gap": _NUMBER,
            "iterations": pa.int32(),
            "weights": Vector(_NUMBER),
        }
    ),
    # Geng 2008: training query whose ready model serves a query, and how far their training sets are apart.
    "offline": Shape(
        {"role": _TEXT, "method": _TEXT, "k": pa.int32(), "query_id": _TEXT, "model": _TEXT, "gamma": _NUMBER}
    ),
    # Measures of the validation and test queries for every k and lambda that was tried.
    "sweep": Shape(
        {"fold": _TEXT, "role": _TEXT, "method": _TEXT, "k": pa.int32(), "lam": _NUMBER, "query_id": _TEXT}, open=True
    ),
    "classes": Shape(
        {"query_id": _TEXT, "role": _TEXT, "class": _TEXT, "guess": _TEXT, "guess_documents": _TEXT, "origin": _TEXT},
        nullable=frozenset({"class"}),
    ),
    # Zha 2006: values of the test queries, a row for each fit; an infinite penalty holds alpha at 1 or beta at 0.
    "zha_cells": Shape({**_ZHA_FIT, "query_id": _TEXT, "value": _NUMBER}),
    # Maps of queries, and their values without and with them; whether the query has documents of different grades.
    "zha_maps": Shape(
        {
            **_ZHA_FIT,
            "query_id": _TEXT,
            "alpha": _NUMBER,
            "beta": _NUMBER,
            "plain": _NUMBER,
            "value": _NUMBER,
            "varied": pa.bool_(),
        }
    ),
    "zha_objectives": Shape(
        {"fold": _TEXT, "h": _TEXT, "norm": _TEXT, "form": _TEXT, "step": pa.int32(), "value": _NUMBER}
    ),
    "scores": Shape({"query_id": _TEXT, "doc_id": _TEXT, "score": _NUMBER}),
    "measures": Shape({"fold": _TEXT, "method": _TEXT, "query_id": _TEXT}, open=True),
    # Settings that were tried on validation; k and lambda have columns of their own, for the methods that have them.
    "choices": Shape(
        {
            "fold": _TEXT,
            "method": _TEXT,
            "setting": _TEXT,
            "k": pa.int32(),
            "lam": _NUMBER,
            "measure": _TEXT,
            "value": _NUMBER,
            "chosen": pa.bool_(),
        },
        nullable=frozenset({"k", "lam"}),
    ),
    # Named arrays, one row for each of their rows; see qdrank.serving.pack.
    "rankers": Shape(
        {
            "part": _TEXT,
            "row": pa.int32(),
            "text": _TEXT,
            "numbers": NUMBERS,
            "wholes": pa.list_(pa.field("item", pa.int32(), nullable=False)),
        },
        nullable=frozenset({"text"}),
    ),
    # The values behind a claim, with the query and the fold of each, so that they can be analysed again.
    "evidence": Shape({"claim": _TEXT, "part": _TEXT, "fold": _TEXT, "query_id": _TEXT, "value": _NUMBER}),
    # Verdicts on claims: qdrank.evaluation.verdicts says how they are made.
    "verdicts": Shape(
        dict.fromkeys(("study", "paper", "claim", "text", "dataset", "world", "group", "kind", "measure"), _TEXT)
        | dict.fromkeys(("expected", "holds_if", "fails_if"), _TEXT)
        | {"margin": _NUMBER, "unit": _TEXT, "family": _TEXT, "budget": _TEXT, "analysis": _TEXT, "n": pa.int64()}
        | dict.fromkeys(("effect", "low", "high", "level", "p", "p_corrected", "detectable"), _NUMBER)
        | dict.fromkeys(("verdict", "reason", "note"), _TEXT),
        nullable=frozenset({"effect", "low", "high", "level", "p", "p_corrected", "detectable"}),
    ),
    # The queries of a data set in the plane; columns of average precisions follow (qdrank.pages.queries).
    "map": Shape(
        {"query_id": _TEXT, "type": _TEXT, "x": _NUMBER, "y": _NUMBER, "part": _TEXT, "text": _TEXT}
        | {"documents": pa.int64(), "relevant": pa.int64()}
        | {"neighbours": pa.list_(pa.field("item", _TEXT, nullable=False)), "queries": _TEXT, "explained": _TEXT},
        nullable=frozenset({"type", "text"}),
        open=True,
    ),
    "table": Shape({}, open=True),
    "figure": Shape({}, open=True),
}


def shape_of(name: str) -> Shape:
    """Return the registered shape called ``name``."""
    if name not in SHAPES:
        raise InputError(f"unknown kind of artifact {name!r}", fix=did_you_mean(name, sorted(SHAPES)))
    return SHAPES[name]


def conform(table: pa.Table, name: str) -> pa.Table:
    """``table`` with the columns of shape ``name`` in order, cast where Arrow calls that safe (a float may be rounded).

    Raises
    ------
    InputError
        If a column is missing, unknown, of another type, or has nulls where none are allowed.
    """
    shape = shape_of(name)
    missing = [column for column in shape.columns if column not in table.column_names]
    optional = [
        pa.field(name, kind, nullable=False) for name, kind in shape.optional.items() if name in table.column_names
    ]
    extra = [column for column in table.column_names if column not in {*shape.columns, *shape.optional}]
    if missing or (extra and not shape.open):
        problem = [f"lacks {', '.join(missing)}"] if missing else []
        problem += [f"has unknown {', '.join(extra)}"] if extra and not shape.open else []
        raise InputError(f"not a {name} table: it {' and '.join(problem)}", fix="columns: " + ", ".join(shape.columns))
    wanted = shape.schema(_widths(table, shape, name))
    wanted = pa.schema([*wanted, *optional, *(table.schema.field(column).remove_metadata() for column in extra)])
    try:
        cast = table.select(wanted.names).cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise InputError(f"not a {name} table: {error}") from None
    _check_items(cast, shape, name)
    return cast.replace_schema_metadata(None)


def _check_items(table: pa.Table, shape: Shape, name: str) -> None:
    """Refuse nulls inside lists, which a cast lets pass."""
    for column in shape.columns:
        kind = table.schema.field(column).type
        is_list = pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind)
        if is_list and any(chunk.flatten().null_count for chunk in table.column(column).chunks):
            raise InputError(f"not a {name} table: a list in {column} holds a null")


def _widths(table: pa.Table, shape: Shape, name: str) -> dict[str, int]:
    widths = {}
    for column, kind in shape.columns.items():
        if isinstance(kind, Vector):
            found = table.schema.field(column).type
            if not pa.types.is_fixed_size_list(found):
                raise InputError(f"not a {name} table: {column} is {found}, not a fixed-size list")
            widths[column] = found.list_size
    return widths
