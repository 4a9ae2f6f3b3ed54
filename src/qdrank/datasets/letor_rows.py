"""Rows of LETOR text: Arrow reads blocks that are regular, a loop over lines the others; the loop also names every fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.textfiles import Block
from qdrank.errors import GRADE_FIX, AnyPath, InputError
from qdrank.layout import IntArray
from qdrank.measures.ranking import MAX_GRADE

if TYPE_CHECKING:
    import pyarrow as pa


_CHUNK_BYTES = 1 << 26
_OTHERS = bytes(set(range(256)) - set(b" :#\n"))
_PLAIN = b"\n" + bytes(range(32, 127)) + bytes(range(128, 256))
_AS_BLANKS = bytes.maketrans(b":#", b"  ")

_LABEL = re.compile(rb"\+?([0-9]++)(?:\.0*+)?[ \t]+")
_QUERY = re.compile(rb"qid:([^\x00-\x20#\x7f]++)(?![^ \t\r#])[ \t]*")
_DECIMAL = rb"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_NUMBER = re.compile(_DECIMAL)
_FEATURE = re.compile(rb"([0-9]{1,18}):(" + _DECIMAL + rb")(?![^ \t\r#])[ \t]*")
_ANY_FEATURE = re.compile(rb"([0-9]++):([^ \t\r#]*)[ \t]*")
_NOT_FINITE = re.compile(rb"[+-]?(i|na)", re.IGNORECASE)
_DOCID = re.compile(rb"(?<=[ \t#])docid[ \t]*=[ \t]*([^ \t\r]*)")
#: The document's name in ``# NAME ...``, as RankLib and Elasticsearch write it; ``# inc = 1`` and ``# docid ...`` name none.
_FIRST_WORD = re.compile(rb"#[ \t]*(?!docid(?:[ \t\r]|\Z))([^\x00-\x20=\x7f]++)(?![^ \t\r])(?![ \t]*=)")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_ABOVE_SINGLE = 3.4028235677973366e38
"""The least number that is infinite in single precision."""
_LARGEST_DOUBLE = 1.797e308
_HEXADECIMAL = re.compile(rb" 0[xX]")  # whole numbers to Arrow
_COMMENT = ord("#")


@dataclass(frozen=True)
class Form:
    """Number of features, and whether every row must have them all."""

    width: int
    dense: bool


class Rows(NamedTuple):
    """Consecutive rows of a file.

    Attributes
    ----------
    lines : (n_rows,) numbers of their lines
    X, y : (n_rows, n_features) features, (n_rows,) labels
    query_id, offsets : names of the runs of rows that name the same query, and their bounds (n_runs + 1,)
    doc_id : (n_rows,) names of the documents, None for a row without one
    """

    lines: IntArray
    X: NDArray[np.float32]
    y: NDArray[np.int8]
    query_id: list[str]
    offsets: IntArray
    doc_id: list[str | None]


_ROW = "write rows as: LABEL qid:QUERY 1:VALUE 2:VALUE ... #docid = DOCUMENT"
_MAY_BE_LEFT_OUT = (
    "if features left out are zero, say so: sparse: true for own data in the configuration, --sparse for `qdrank rank`, "
    "sparse=True in Python"
)
_REAL = re.compile(rb"[+-]?[0-9]*[.]?[0-9]+([eE][+-]?[0-9]+)?|[+-]?[0-9]+[.]")
_SPARSE = f"complete the row; or, {_MAY_BE_LEFT_OUT}"

#: Problem and fix of each fault; {width} and {max_label} are filled in.
REASONS = {
    "label": ("the row does not begin with a whole number as label", _ROW),
    "negative": (
        "the label is negative",
        "labels are grades from 0 on; leave unjudged documents (-1 in the semi-supervised sets) out",
    ),
    "large label": (
        "the label is above {max_label}",
        f"correct the label, or give the highest grade: max_label (at most {MAX_GRADE})",
    ),
    "no query": ("the label is not followed by qid:QUERY", _ROW),
    "query": ("the query's name is empty or has control characters", _ROW),
    "feature": ("not a feature of the form INDEX:VALUE", _ROW),
    "zero": ("a feature has index 0", "number the features from 1"),
    "order": ("a feature is out of order or comes twice", "sort the row's features by index, each one once"),
    "large index": (
        "a feature's index is above {width}, the number of features",
        f"number the features from 1 to {{width}}; or, {_MAY_BE_LEFT_OUT}",
    ),
    "gap": ("a feature is left out before this one, in a file whose first row is complete", _SPARSE),
    "short": ("the row ends before feature {width}, in a file whose first row is complete", _SPARSE),
    "value": ("the feature's value is not a number", "write a decimal number such as 0.25 or 1e-3"),
    "not finite": ("the feature's value is not finite", "replace NaN and infinities by numbers"),
    "overflow": ("the feature's value is too large for single precision", "scale the feature to below 3.4e38"),
    "missing": (
        "the feature's value is missing",
        "fill it in; or, if values may be missing, say so: missing_values: true for own data in the configuration, "
        "missing=True in Python",
    ),
    "document": ("docid = is followed by no name, or by control characters", "write: #docid = DOCUMENT"),
}


@dataclass
class RowReader:
    """Reads the rows of one file.

    Parameters
    ----------
    path, form : the file and its form
    missing : whether values may be missing (``NULL``, or the largest double); they become NaN
    max_label : largest label allowed
    """

    path: AnyPath
    form: Form
    missing: bool
    max_label: int

    def rows(self, block: Block) -> Iterator[Rows]:
        """Rows of a block, in several pieces if their matrix would be large."""
        regular = self.regular(block) if self.form.dense else None
        if regular is None:
            yield from self.by_line(block)
        else:
            yield regular

    def regular(self, block: Block) -> Rows | None:
        """Rows of a block with single blanks, whose rows all or none end in ``#docid = NAME ...``; None for any other block."""
        text = block.text.replace(b"\r\n", b"\n")
        table = self._table(text)
        if table is None:
            return None
        X = np.empty((len(table), self.form.width))
        for j, column in enumerate(X.T):
            if (table[f"index {j}"].to_numpy() != j + 1).any():
                return None
            column[:] = table[f"value {j}"].to_numpy()
        n_missing = sum(table[f"value {j}"].null_count for j in range(self.form.width))
        if np.isnan(X).sum() != n_missing:  # nan is no number, though to Arrow it is
            return None
        if self.missing:
            X[np.isfinite(X) & (np.abs(X) > _LARGEST_DOUBLE)] = np.nan
        labels, query = table["label"].to_numpy(), table["query"].chunk(0)
        names: list[str] = query.dictionary.to_pylist()
        documents = table["name"].to_pylist() if "name" in table.column_names else [None] * len(table)
        if (
            not (np.abs(X) < _ABOVE_SINGLE)[~np.isnan(X)].all()
            or labels.max() > self.max_label
            or "" in {*names, *documents}
        ):
            return None
        numbers = query.indices.to_numpy()
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        return Rows(
            np.arange(block.first, block.first + len(table)),
            X.astype(np.float32),
            labels.astype(np.int8),
            [names[i] for i in numbers[starts].tolist()],
            np.append(starts, len(table)),
            documents,
        )

    def _table(self, text: bytes) -> pa.Table | None:
        """Columns of a block in which every row has the separators of the first one, and the words ``qid``, ``docid`` and ``=``."""
        import pyarrow as pa
        from pyarrow import csv

        width, (_, mark, comment) = self.form.width, text[: text.index(b"\n")].partition(b"#")
        words = comment.split(b" ") if mark else []
        if (mark and (words[:2] != [b"docid", b"="] or len(words) < 3)) or text.translate(None, _PLAIN):
            return None
        separators = b" :" * (width + 1) + b" #" * len(mark) + b" " * (len(words) - 1) + b"\n"
        if text.translate(None, _OTHERS) != separators * text.count(b"\n") or _HEXADECIMAL.search(text):
            return None
        word = pa.dictionary(pa.int32(), pa.string())
        kinds = {"label": pa.uint8(), "qid": word, "query": word}
        for j in range(width):
            kinds |= {f"index {j}": pa.uint32(), f"value {j}": pa.float64()}
        if mark:
            kinds |= {"": word, "docid": word, "=": word, "name": pa.string()}
        rest = [f"word {i}" for i in range(3, len(words))]
        try:
            table = csv.read_csv(
                pa.py_buffer(text.translate(_AS_BLANKS)),
                csv.ReadOptions(column_names=[*kinds, *rest], use_threads=False, block_size=len(text) + 1),
                csv.ParseOptions(delimiter=" ", quote_char=False),
                csv.ConvertOptions(
                    column_types=kinds, include_columns=list(kinds), null_values=["NULL"] if self.missing else []
                ),
            )
        except pa.ArrowInvalid:
            return None
        spelled = (
            table[name].chunk(0).dictionary.to_pylist() == [name] for name in ("qid", "", "docid", "=") if name in kinds
        )
        return table if all(spelled) else None

    def by_line(self, block: Block) -> Iterator[Rows]:
        """Rows of any block; raises `InputError` at the first fault."""
        most, found = max(1, _CHUNK_BYTES // (4 * self.form.width)), []
        for number, line in block.lines():
            row = self._row(line, number)
            found += [] if row is None else [row]
            if len(found) == most:
                yield self._joined(found)
                found = []
        if found:
            yield self._joined(found)

    def _joined(self, found: list[_Row]) -> Rows:
        X = np.zeros((len(found), self.form.width), dtype=np.float32)
        for row, values in zip(found, X, strict=True):
            values[row.places] = row.values
        starts = [i for i, row in enumerate(found) if i == 0 or row.query != found[i - 1].query]
        return Rows(
            np.array([row.line for row in found]),
            X,
            np.array([row.label for row in found], dtype=np.int8),
            [found[i].query for i in starts],
            np.array([*starts, len(found)]),
            [row.document for row in found],
        )

    def _row(self, text: bytes, line: int) -> _Row | None:
        """One row; None for a line that is blank or a comment."""
        text = text.lstrip(b" \t")
        if not text or text.startswith(b"#"):
            return None
        label = _LABEL.match(text)
        if label is None:
            raise self._fault("negative" if text[:1] == b"-" and text[1:2].isdigit() else "label", text, 0, line)
        digits = label[1].lstrip(b"0") or b"0"
        if len(digits) > 3 or int(digits) > self.max_label:
            raise self._fault("large label", text, 0, line)
        query = _QUERY.match(text, label.end())
        if query is None:
            raise self._fault("query" if text.startswith(b"qid:", label.end()) else "no query", text, label.end(), line)
        places, values, at = self._features(text, query.end(), line)
        document = _DOCID.search(text, at) or _FIRST_WORD.match(text, at)
        if document is not None and (not document[1] or _CONTROL.search(document[1])):
            raise self._fault("document", text, at, line)
        name = None if document is None else self._decoded(document[1], line)
        return _Row(line, int(digits), self._decoded(query[1], line), name, places, values)

    def _features(self, text: bytes, at: int, line: int) -> tuple[list[int], list[float], int]:
        """Columns and values of the features from ``at`` on, and where they end."""
        places: list[int] = []
        values: list[float] = []
        last, width, dense = 0, self.form.width, self.form.dense
        while at < len(text) and text[at] != _COMMENT:
            feature = _FEATURE.match(text, at)
            index, value = (int(feature[1]), float(feature[2])) if feature else (0, 0.0)
            if feature and abs(value) < _ABOVE_SINGLE and last < index <= (min(last + 1, width) if dense else width):
                at = feature.end()
            else:
                index, at = self._missing(text, at, last, line)
                value = np.nan
            places.append(index - 1)
            values.append(value)
            last = index
        if dense and last < width:
            raise self._fault("short", text, at, line)
        return places, values, at

    def _missing(self, text: bytes, at: int, last: int, line: int) -> tuple[int, int]:
        """Index of a feature whose value may be missing, and where the next one is; raises `InputError` for any other fault."""
        feature = _ANY_FEATURE.match(text, at)
        if feature is None:
            raise self._fault("feature", text, at, line)
        digits = feature[1].lstrip(b"0")
        index = int(digits[:19] or 0)
        what = (
            "zero" if not digits else "order" if index <= last else "large index" if index > self.form.width else None
        )
        if what is None and self.form.dense and index != last + 1:
            row = [int(one) for one in re.findall(rb"(?<![^ \t])([0-9]{1,18}):", text.partition(b"#")[0])]
            what = "order" if row != sorted(row) else "gap"
        if what is None:
            what = _kind(feature[2])
        if what != "missing" or not self.missing:
            raise self._fault(what, text, at, line)
        return index, feature.end()

    def _decoded(self, name: bytes, line: int) -> str:
        try:
            return name.decode()
        except UnicodeDecodeError:
            fix = "save the file as UTF-8 or ASCII text"
            raise InputError("a name is not UTF-8 text", file=self.path, line=line, found=name, fix=fix) from None

    def _fault(self, what: str, text: bytes, at: int, line: int, limit: int = 120) -> InputError:
        """The fault of a row at position ``at`` of its text; what is found is the word there, the comment or the row's start."""
        problem, fix = (words.format(width=self.form.width, max_label=self.max_label) for words in REASONS[what])
        behind = text[at : at + limit]
        if what == "short" or not behind or behind.startswith(b"\r"):
            found = text[:limit].strip()
        else:
            found = behind.splitlines()[0] if what == "document" else behind.split(maxsplit=1)[0]
        if what == "label" and _REAL.fullmatch(found):
            fix = GRADE_FIX
        return InputError(problem, file=self.path, line=line, found=found, fix=fix)


class _Row(NamedTuple):
    line: int
    label: int
    query: str
    document: str | None
    places: list[int]
    values: list[float]


def _kind(value: bytes) -> str:
    """What is wrong with a value: NULL and the largest double, which some data sets write for it, are missing."""
    if _NUMBER.fullmatch(value):
        with suppress(InvalidOperation):
            return "missing" if Decimal("1.797e308") < abs(Decimal(value.decode())) < Decimal("1e309") else "overflow"
        return "overflow"
    return "missing" if value == b"NULL" else "not finite" if _NOT_FINITE.match(value) else "value"


def widest_index(block: Block) -> int:
    """Largest feature index in a block: what a word starts with, up to its colon. Does not check anything else."""
    text = re.sub(rb"#[^\n]*", b"", block.text)
    return max(map(int, set(re.findall(rb"(?<![^\x00-\x20])([0-9]{1,18}):", text))), default=0)
