"""The shapes of artifacts that several stages share. A study keeps its own in its folder.

A shape names its columns and their types. ``Vector`` columns are fixed-size lists whose width depends on the data
(number of features, number of neighbours) and is the same in every row. Measures, tables and the numbers behind
figures may carry further columns, because their names come from the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from qdrank.errors import InputError
from qdrank.registry import refuse_unknown


@dataclass(frozen=True)
class Vector:
    """A fixed-size list of ``item``; the data decide its width."""

    item: pa.DataType


@dataclass(frozen=True)
class Shape:
    """A kind of artifact: its name, its columns, those that may hold nulls, whether others may follow, those that may be absent.

    ``effort`` is the level of compression: more for what is kept in the repository.
    """

    name: str
    columns: Mapping[str, pa.DataType | Vector]
    nullable: frozenset[str] = field(default_factory=frozenset)
    open: bool = False
    optional: Mapping[str, pa.DataType] = field(default_factory=dict)
    effort: int = 3

    def schema(self, widths: Mapping[str, int]) -> pa.Schema:
        """Arrow schema of the named columns, with the widths of the vectors filled in."""
        return pa.schema(
            [
                pa.field(name, _filled(kind, widths.get(name)), nullable=name in self.nullable)
                for name, kind in self.columns.items()
            ]
        )


ArtifactKind = str | Shape
"""A shape that several stages share is called by its name, a study's own is imported from the study's ``shapes``."""


def _filled(kind: pa.DataType | Vector, width: int | None) -> pa.DataType:
    if not isinstance(kind, Vector):
        return kind
    if width is None:
        raise ValueError("a vector column needs its width")
    return pa.list_(pa.field("item", kind.item, nullable=False), width)


_TEXT, _NUMBER = pa.string(), pa.float64()
_TEXTS = pa.list_(pa.field("item", _TEXT, nullable=False))
NUMBERS = pa.list_(pa.field("item", _NUMBER, nullable=False))

VERDICT_FIGURES = (
    *("effect", "low", "high", "level", "p", "p_corrected", "detectable"),
    *("differing", "boot_low", "boot_high", "fit_spread"),
)
"""Figures of a verdict; null where they do not apply."""

#: Means of the contrasts of a claim, with what an average over data sets needs (qdrank.evaluation.deciding).
_ESTIMATE = {"contrast": _TEXT, "n": pa.int64(), "mean": _NUMBER, "error": _NUMBER, "differing": _NUMBER}
_ESTIMATES = pa.list_(pa.struct([pa.field(name, kind, nullable=False) for name, kind in _ESTIMATE.items()]))

#: A value of a query: of a method in a measure, or of a contrast of a claim that is no difference of methods; the other two are
#: empty. Six digits.
_OBSERVATION = dict.fromkeys(("method", "measure", "claim", "contrast", "fold", "query_id"), _TEXT) | {
    "fit": pa.int64(),
    "value": pa.float32(),
}

_SHARED = [
    # missed and missed_id, in data made of raw text: grades and names of the relevant documents of a query that are not
    # among its candidates, in the query's first row; empty in the others.
    Shape(
        "judged",
        {"query_id": _TEXT, "doc_id": _TEXT, "label": pa.int8(), "part": _TEXT, "features": Vector(pa.float32())},
        optional={
            "missed": pa.list_(pa.field("item", pa.int8(), nullable=False)),
            "missed_id": _TEXTS,
        },
    ),
    # What the numbered features are, and which of them is the reference model's score.
    Shape("columns", {"number": pa.int32(), "name": _TEXT, "reference": pa.bool_()}),
    # A query's words, its type where the data have one, and its columns. The columns are a plain list, because a
    # query may have none, and Parquet has no vectors of width 0. run_scores: mean and deviation of each run's scores.
    Shape(
        "topics",
        {"query_id": _TEXT, "part": _TEXT, "text": _TEXT, "type": _TEXT, "query_columns": NUMBERS},
        nullable=frozenset({"text", "type"}),
        optional={"source": _TEXT, "run_scores": NUMBERS},
    ),
    # train_index numbers the training queries of a fold; neighbours refer to it. -1 outside the training part.
    Shape(
        "queries",
        {"query_id": _TEXT, "role": _TEXT, "type": _TEXT, "train_index": pa.int32(), "vector": Vector(pa.float64())},
        nullable=frozenset({"type"}),
    ),
    # Texts of a collection by an encoder; the kind is query, document or title.
    Shape("vectors", {"kind": _TEXT, "id": _TEXT, "vector": Vector(pa.float32())}),
    Shape("neighbours", {"query_id": _TEXT, "role": _TEXT, "neighbours": Vector(pa.int32())}),
    # What was fitted on the training queries of a fold: the scale of their vectors, a metric; see qdrank.queries.graph.
    Shape("fitted", {"kind": _TEXT, "name": _TEXT, "row": pa.int32(), "numbers": NUMBERS}),
    Shape(
        "models",
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
    Shape("scores", {"query_id": _TEXT, "doc_id": _TEXT, "score": _NUMBER}),
    # Scores of the further fits of a method with randomness; its first fit is in its scores.
    Shape("refits", {"fit": pa.int64(), "query_id": _TEXT, "doc_id": _TEXT, "score": _NUMBER}),
    Shape("measures", {"fold": _TEXT, "method": _TEXT, "query_id": _TEXT}, open=True),
    # Measures of queries that are no method's final ones: of controls, of further fits of these, along a setting x. Columns of
    # measures follow.
    Shape(
        "values",
        {"fold": _TEXT, "method": _TEXT, "role": _TEXT, "fit": pa.int64(), "x": _NUMBER, "query_id": _TEXT},
        nullable=frozenset({"x"}),
        open=True,
    ),
    # Settings that were tried on validation; k and lambda have their own columns, for the methods that have them.
    Shape(
        "choices",
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
    # Named arrays, one row for each of their rows; see qdrank.rankers.stored.
    Shape(
        "rankers",
        {
            "array": _TEXT,
            "row": pa.int32(),
            "text": _TEXT,
            "numbers": NUMBERS,
            "wholes": pa.list_(pa.field("item", pa.int32(), nullable=False)),
        },
        nullable=frozenset({"text"}),
    ),
    # The values behind the verdicts of a study on a data set, and those of a configuration on all of its data sets.
    Shape("observations", _OBSERVATION, optional={"source": _TEXT}),
    Shape("findings", {"dataset": _TEXT, **_OBSERVATION}, optional={"source": _TEXT}, effort=19),
    # Verdicts on claims: qdrank.evaluation.verdicts says how they are made.
    Shape(
        "verdicts",
        dict.fromkeys(("study", "paper", "claim", "text", "dataset", "world", "purpose", "kind", "measure"), _TEXT)
        | dict.fromkeys(("expected", "holds_if", "fails_if"), _TEXT)
        | {
            "margin": _NUMBER,
            "limit": _NUMBER,
            "unit": _TEXT,
            "family": _TEXT,
            "budget": _TEXT,
            "analysis": _TEXT,
            "n": pa.int64(),
            "fits": pa.int64(),
        }
        | dict.fromkeys(VERDICT_FIGURES, _NUMBER)
        | dict.fromkeys(("verdict", "reason", "note", "commit", "configuration", "queries_of"), _TEXT)
        | {"estimates": _ESTIMATES},
        nullable=frozenset({*VERDICT_FIGURES, "limit"}),
    ),
    # The queries of a data set in the plane; columns of average precisions follow (qdrank.pages.queries).
    Shape(
        "map",
        {"query_id": _TEXT, "type": _TEXT, "x": _NUMBER, "y": _NUMBER, "part": _TEXT, "text": _TEXT}
        | {"documents": pa.int64(), "relevant": pa.int64()}
        | {"neighbours": _TEXTS, "queries": _TEXT, "explained": _TEXT},
        nullable=frozenset({"type", "text"}),
        open=True,
    ),
    Shape("table", {}, open=True),
    Shape("figure", {}, open=True),
]

SHAPES: dict[str, Shape] = {shape.name: shape for shape in _SHARED}


def shape_of(kind: ArtifactKind) -> Shape:
    """``kind`` itself, or the shared shape of that name."""
    if isinstance(kind, Shape):
        return kind
    refuse_unknown("kind of artifact", kind, SHAPES)
    return SHAPES[kind]


def conform(table: pa.Table, kind: ArtifactKind) -> pa.Table:
    """``table`` with the columns of a kind of artifact in order, cast where Arrow calls that safe (a float may be rounded).

    Raises `InputError` if a column is missing, unknown, of another type, or has nulls where none are allowed.
    """
    shape = shape_of(kind)
    name = shape.name
    missing = [column for column in shape.columns if column not in table.column_names]
    optional = [
        pa.field(column, item, nullable=False)
        for column, item in shape.optional.items()
        if column in table.column_names
    ]
    extra = [column for column in table.column_names if column not in {*shape.columns, *shape.optional}]
    if missing or (extra and not shape.open):
        problem = [f"lacks {', '.join(missing)}"] if missing else []
        problem += [f"has unknown {', '.join(extra)}"] if extra and not shape.open else []
        raise InputError(f"not a {name} table: it {' and '.join(problem)}", fix="columns: " + ", ".join(shape.columns))
    wanted = shape.schema(_widths(table, shape, name))
    wanted = pa.schema([*wanted, *optional, *(table.schema.field(column).remove_metadata() for column in extra)])
    try:
        cast = _cast(table.select(wanted.names), wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise InputError(f"not a {name} table: {error}") from None
    _check_items(cast, shape, name)
    return cast.replace_schema_metadata(None)


def _cast(table: pa.Table, wanted: pa.Schema) -> pa.Table:
    """``table`` with the columns of ``wanted``; where all types are right, as in a stored table, items of lists are renamed alone."""
    pairs = list(zip(table.columns, wanted, strict=True))
    if any(column.type != field.type or (column.null_count and not field.nullable) for column, field in pairs):
        return table.cast(wanted)  # loads pyarrow.compute, which takes longer than reading a small artifact
    columns = [
        pa.chunked_array([chunk.view(field.type) for chunk in column.chunks], field.type) for column, field in pairs
    ]
    return pa.Table.from_arrays(columns, schema=wanted)


def _check_items(table: pa.Table, shape: Shape, name: str) -> None:
    """Refuse nulls inside lists, which a cast lets pass."""
    for column in shape.columns:
        kind = table.schema.field(column).type
        is_list = pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind)
        if is_list and any(
            chunk.values.null_count and chunk.flatten().null_count for chunk in table.column(column).chunks
        ):
            raise InputError(f"not a {name} table: a list in {column} holds a null")


def _widths(table: pa.Table, shape: Shape, name: str) -> dict[str, int]:
    widths = {}
    for column, kind in shape.columns.items():
        if isinstance(kind, Vector):
            stored = table.schema.field(column).type
            if not pa.types.is_fixed_size_list(stored):
                raise InputError(f"not a {name} table: {column} is {stored}, not a fixed-size list")
            widths[column] = stored.list_size
    return widths
