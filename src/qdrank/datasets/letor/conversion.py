"""From LETOR text to the artifact ``judged``, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from qdrank.datasets.folds import assign_parts, fold_names
from qdrank.datasets.judged import Judged, judged_table
from qdrank.datasets.letor.reader import MAX_LABEL, Chunk, Ledger, letor_form, read_letor
from qdrank.datasets.origins import sources_of
from qdrank.datasets.textfiles import blocks
from qdrank.errors import AnyPath, InputError
from qdrank.jobs import in_order, threads_given
from qdrank.store import ArtifactWriter, atomic_path, writing

_EXPORT_ROWS = 1 << 13
_NAMES_BLOCK = 1 << 20
_QUERY = re.compile(rb"^[ \t]*[^\s]++[ \t]+qid:([^\s]*)", re.MULTILINE)


def import_letor(
    files: Mapping[str, AnyPath] | AnyPath,
    out: AnyPath,
    *,
    n_features: int | None = None,
    sparse: bool | None = None,
    missing: bool = False,
    max_label: int = MAX_LABEL,
    seed: int = 0,
    n_parts: int = 5,
    sources: Mapping[str, Any] | None = None,
) -> None:
    """Stream LETOR text into the artifact ``judged`` at ``out``; nothing is written if a row is wrong.

    Parameters
    ----------
    files : files by part (S1 to S5, or train, vali, test); or one file, whose queries are then put into parts S1 to
        S``n_parts`` by a permutation drawn with ``seed`` (the names of the queries are read first)
    out : the artifact
    n_features, sparse, missing, max_label : as in `read_letor`, the same for all files
    seed, n_parts, sources : for one file without parts; ``sources`` says which queries stay together (`sources_of`)
    """
    parts = dict(files) if isinstance(files, Mapping) else {"": files}
    form = letor_form(list(parts.values()), n_features=n_features, sparse=sparse)
    options = {"n_features": form.width, "sparse": not form.dense, "missing": missing, "max_label": max_label}
    if isinstance(files, Mapping):
        fold_names(parts)  # the parts must make folds
        part_of: dict[str, str] = {}
    else:
        part_of = _assigned(files, parts, options, seed=seed, n_parts=n_parts, sources=sources)
    tables = (
        _table(chunk, [part_of.get(name, part) for name in chunk.query_id]) for part, chunk in _chunks(parts, options)
    )
    with writing(out, "judged") as writer:
        # Compressing takes half as long as parsing: with more than one thread the two run side by side. Several tables
        # make a row group, so some may wait.
        for _ in in_order(lambda table: _written(writer, table), tables, min(1, threads_given() - 1), ahead=6):
            pass


def _assigned(
    file: AnyPath,
    parts: Mapping[str, AnyPath],
    options: Mapping[str, Any],
    *,
    sources: Mapping[str, Any] | None,
    **drawn: int,
) -> dict[str, str]:
    """Part of each query of one file without parts."""
    try:
        names = _query_ids(file)
        return assign_parts(names, source=sources_of(sources, names) if sources else None, **drawn)
    except InputError:
        for _ in _chunks(parts, options):  # a faulty row may be why there are too few queries: report it first
            pass
        raise


def _chunks(parts: Mapping[str, AnyPath], options: Mapping[str, Any]) -> Iterator[tuple[str, Chunk]]:
    """Chunks of all parts; a query may be in one part only."""
    ledger = Ledger()
    for part, path in parts.items():
        for chunk in read_letor(path, ledger=ledger, **options):
            yield part, chunk


def _query_ids(path: AnyPath) -> list[str]:
    """Queries of a file, in order. Rows are not checked here: they are read again, and faults are reported then."""
    ids = dict.fromkeys(chain.from_iterable(_QUERY.findall(text) for text, _ in blocks(path, _NAMES_BLOCK)))
    return [name.decode("utf-8", "replace") for name in ids]


def _written(writer: ArtifactWriter, table: pa.Table) -> Iterator[int]:
    """Write a table and yield its number of rows."""
    writer.append(table)
    yield len(table)


def _table(chunk: Chunk, parts: list[str]) -> pa.Table:
    owner = pa.array(np.repeat(np.arange(len(parts)), np.diff(chunk.offsets)))
    names, part = pa.array(chunk.query_id, pa.string()).take(owner), pa.array(parts, pa.string()).take(owner)
    return judged_table(names, chunk.doc_id, chunk.y, part, chunk.X)


def export_letor(judged: Judged, path: AnyPath, *, sparse: bool = False) -> None:
    """Write plain LETOR text that `load_letor` reads back unchanged (missing values as ``NULL``).

    Parameters
    ----------
    judged : the documents; the parts are not written
    path : the file, replaced as a whole
    sparse : leave zero features out; such a file is read back with ``sparse=True`` and ``n_features`` given
    """
    with atomic_path(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(letor_text(judged, sparse=sparse))


def letor_text(judged: Judged, *, sparse: bool = False) -> Iterator[str]:
    """The text that `export_letor` writes, in pieces."""
    _check_names(judged)
    query = judged.query
    for start in range(0, judged.n_documents, _EXPORT_ROWS):
        rows = slice(start, min(start + _EXPORT_ROWS, judged.n_documents))
        yield _lines(judged, query[rows], rows, sparse)


def _lines(judged: Judged, query: NDArray[np.object_], rows: slice, sparse: bool) -> str:
    values = _shortest(judged.X[rows])
    kept = judged.X[rows] != 0 if sparse else np.ones(values.shape, dtype=bool)
    lines = []
    for i, (label, name) in enumerate(zip(judged.y[rows].tolist(), query.tolist(), strict=True)):
        features = [f"{j + 1}:{values[i, j]}" for j in np.flatnonzero(kept[i]).tolist()]
        comment = [f"#docid = {judged.doc_id[rows][i]}"] if len(judged.doc_id) else []
        lines.append(" ".join([str(label), f"qid:{name}", *features, *comment]) + "\n")
    return "".join(lines)


def _shortest(X: NDArray[np.float32]) -> NDArray[np.object_]:
    """Shortest decimals that give the same float32, ``NULL`` for NaN; shape as ``X``."""
    flat = pa.array(np.ascontiguousarray(X).ravel())
    text: NDArray[np.object_] = pc.cast(flat, pa.string()).to_numpy(zero_copy_only=False).reshape(X.shape)
    text[np.isnan(X)] = "NULL"
    return text


def _check_names(judged: Judged) -> None:
    """Raise if a name holds blanks: it would be read back as something else."""
    for name in [*judged.query_id, *judged.doc_id]:
        if not name or name.split() != [name]:
            raise InputError("a name with blanks cannot be written as LETOR text", found=name, fix="rename it")
