"""From LETOR text, features or rankings, to the artifacts that every data set starts from (judged, columns, topics), and back.

And whether a data set can be studied at all: learning needs differences in grade, measuring needs relevant documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from qdrank.datasets import sources
from qdrank.datasets.columns import columns_table, feature_names, topics_table
from qdrank.datasets.folds import assign_parts, fold_names, roles
from qdrank.datasets.judged import Judged, judged_table, load_judged
from qdrank.datasets.letor import MAX_LABEL, Chunk, Ledger, document_names, letor_form, read_letor
from qdrank.datasets.origins import sources_of
from qdrank.datasets.scaling import rank_features, turned_ranks
from qdrank.datasets.textfiles import blocks
from qdrank.errors import AnyPath, InputError, placed
from qdrank.jobs import in_order, threads_given
from qdrank.layout import LAST, shuffled_within
from qdrank.measures.compute import average_precision
from qdrank.store import ArtifactWriter, atomic_path, open_artifact, write, writing

Paths = Mapping[str, str | Path]
#: What a reader should know of the data: what it is, and the value, in words.
Notes = list[tuple[str, str]]
#: MAP by which the other end of rankings must be better before they count as read from the wrong one.
_WRONG_END = 0.02


def fetched_parts(dataset: str, listing: str | Path) -> dict[str, str]:
    """Part to path for a registered data set, from the list that fetching it left; of runs ``qrels`` and ``runs.1`` and so on."""
    paths, entry = json.loads(Path(listing).read_text(encoding="utf-8")), sources.load()[dataset]
    by_part = {part: paths[file.name] for part, file in entry.by_part().items()}
    runs = [paths[file.name] for file in entry.required if file.role == "run"]
    by_part |= {file.role: paths[file.name] for file in entry.required if file.role == "qrels" and runs}
    return by_part | {f"runs.{i}": path for i, path in enumerate(runs, start=1)}


def import_features(
    files: Paths,
    out: Paths,
    *,
    reference: int | None,
    max_label: int,
    missing_values: bool,
    seed: int,
    sparse: bool | None = None,
    names: Sequence[str] | None = None,
    sources: Mapping[str, Any] | None = None,
) -> Notes:
    """Read LETOR text by part into the artifacts ``judged``, ``columns`` and ``topics``; return notes on it.

    A single part called ``all`` is cut into five by query, those of one of the ``sources`` (`sources_of`) together. Without a known reference, the feature that best ranks the
    training queries of the first fold takes its place.
    """
    source = files["all"] if set(files) == {"all"} else files
    with placed(", ".join(map(str, files.values()))):
        import_letor(
            source,
            out["judged"],
            sparse=sparse,
            missing=missing_values,
            max_label=max_label,
            seed=seed,
            sources=sources,
        )
        judged = load_judged(out["judged"], ["features"] if reference is None else ["doc_id"])
        refuse_unusable(judged)
        number = best_feature(judged, seed) if reference is None else reference - 1
        columns = columns_table(feature_names(_width(out["judged"]), names), number)
    write(out["columns"], "columns", columns)
    of = sources_of(sources, judged.query_id.tolist()) if sources else None
    write(out["topics"], "topics", topics_table(judged.query_id, judged.part, source=[*of.values()] if of else None))
    return [(f"documents of {part}", document_names(path)) for part, path in files.items()]


def _width(path: str | Path) -> int:
    with open_artifact(path, "judged") as file:
        return int(file.schema_arrow.field("features").type.list_size)


def refuse_the_wrong_end(ranks: Judged, dataset: str, best: str) -> None:
    """Raise if the rankings do better when they are read from the other end, on the training queries of fold 1."""
    train = ranks.select(roles(ranks.parts, "fold1")["train"])
    ends = (np.nan_to_num(sign * train.X, nan=LAST) for sign in (-1.0, 1.0))
    this, other = (float(average_precision(train.y, one, train.offsets).mean()) for one in ends)
    if other > this + _WRONG_END:
        raise InputError(
            f"the rankings of {dataset} seem to be read from the wrong end",
            found=f"mean MAP of the systems {this:.3f}, read from the other end {other:.3f}",
            fix=f"set best: {'low' if best == 'high' else 'high'} for {dataset} in config/datasets.yaml",
        )


def best_feature(judged: Judged, seed: int) -> int:
    """Feature, counted from 0, with the highest MAP on the training queries of the first fold; tied documents are shuffled."""
    train = judged.select(roles(judged.parts, "fold1")["train"])
    order = shuffled_within(train.offsets, seed)
    X = np.nan_to_num(train.X[order], nan=LAST)
    return int(np.argmax(average_precision(train.y[order], X, train.offsets).mean(axis=0)))


def import_ranks(
    dataset: str, inputs: Sequence[str | Path], out: Paths, *, max_label: int, best: Literal["low", "high"] = "low"
) -> None:
    """Read rankings to aggregate: the ranks as ``ranks``, features made from them as ``judged``.

    ``inputs`` is the listing that fetching them left. With ``best`` "high" the best document has the highest number in the files; the ranks are turned, so that 1 is the best.
    """
    import_letor(fetched_parts(dataset, inputs[0]), out["ranks"], missing=True, max_label=max_label)
    ranks = load_judged(out["ranks"])
    refuse_unusable(ranks)
    if best == "high":
        ranks = ranks.with_features(turned_ranks(ranks.X, ranks.offsets))
        write(out["ranks"], "judged", ranks.to_table())
    refuse_the_wrong_end(ranks, dataset, best)
    n_systems = ranks.X.shape[1]
    X = rank_features(ranks.X)
    # The mean discount of the systems replaces the reference model, which these data do not have.
    mean = X[:, n_systems : 2 * n_systems].mean(axis=1, keepdims=True)
    kinds = ("ranked by", "1/log2(1+rank)", "ln rank")
    names = [f"{kind} system {i + 1}" for kind in kinds for i in range(n_systems)]
    write(out["judged"], "judged", ranks.with_features(np.hstack([X, mean])).to_table())
    write(out["columns"], "columns", columns_table([*names, "mean 1/log2(1+rank)"], len(names)))
    write(out["topics"], "topics", topics_table(ranks.query_id, ranks.part))


#: Fewest training queries with documents of different grades that a fold needs.
MIN_TRAIN = 5
#: Fewest test queries with a relevant document that a fold needs: a mean of one query has no interval.
MIN_TEST = 2


def refuse_unusable(judged: Judged) -> None:
    """Raise if some fold has too little to learn from, to choose by or to measure.

    Raises `InputError` if no document is relevant, or a fold has fewer than `MIN_TRAIN` training queries with documents
    of different grades, fewer than `MIN_TEST` test queries with a relevant document, or none for validation where it
    has any.
    """
    if not (judged.y > 0).any():
        raise InputError(
            f"none of the {judged.n_documents:,} documents is relevant: every grade is 0",
            fix="check the labels; measures and learning need documents with a grade of 1 or more",
        )
    for fold in judged.folds:
        train = int((judged.of_role(fold, "train").pairs > 0).sum())
        if train < MIN_TRAIN:
            raise _too_few(fold, "training", train, "documents of different grades", MIN_TRAIN)
        vali = judged.of_role(fold, "vali")
        if vali.n_queries and not (vali.y > 0).any():
            raise _too_few(fold, "validation", 0, "a relevant document", 1)
        test = _with_relevant(judged.of_role(fold, "test"))
        if test < MIN_TEST:
            raise _too_few(fold, "test", test, "a relevant document", MIN_TEST)


def _with_relevant(documents: Judged) -> int:
    """Number of queries with a relevant document."""
    return len(np.unique(documents.query_index[documents.y > 0]))


def _too_few(fold: str, role: str, count: int, what: str, least: int) -> InputError:
    queries = "query has" if count == 1 else "queries have"
    return InputError(
        f"{fold}: {count} {role} {queries} {what}; a study needs at least {least}",
        fix="give more judged queries, or other parts: `files: {all: FILE}` divides the queries evenly into five",
    )


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
