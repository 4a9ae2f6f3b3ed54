"""``qdrank rank``: scores for new queries by the models of a study."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from qdrank.commands.features import PAST, QUERIES, encoded_queries, features_of, study_of
from qdrank.commands.output import add_output, opened, refuse_unwritable
from qdrank.datasets.letor import Chunk, letor_form, read_letor
from qdrank.datasets.runs.writing import run_lines
from qdrank.errors import InputError
from qdrank.jobs import cores
from qdrank.layout import FloatArray
from qdrank.queries.recipe import topics_of
from qdrank.rankers import DENSE
from qdrank.rankers.served import ServedRanker
from qdrank.rankers.stored import Searcher
from qdrank.serving.ranking import DEFAULT, load_ranker, load_stored
from qdrank.store import read

if TYPE_CHECKING:
    import pyarrow as pa

    from qdrank.datasets.collections.model import Query
    from qdrank.text.retrieve import RankedDocuments

    _Found = tuple[Sequence[str] | NDArray[np.object_], RankedDocuments]
    """Names of all documents of a collection, and those found for each query."""

LARGEST_LABEL = 127  # labels are ignored
#: Bytes of text that are read, scored and written at a time.
_BLOCK = 1 << 22
#: Threads that parse, one a core at most, beside the one that scores and writes; it keeps about four of them busy.
_PARSERS = 4


@dataclass(frozen=True)
class Batch:
    """Whole queries of a file: ids (n_queries,), bounds (n_queries + 1,), features and ids of their documents."""

    query_id: list[str]
    offsets: NDArray[np.int64]
    X: NDArray[np.float32]
    doc_id: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    words = "a fold's results, e.g. results/mq2008/fold1, or a file of `qdrank fit`"
    parser.add_argument("--models", required=True, metavar="FOLDER", help=words)
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument(
        "--input",
        metavar="FILE",
        help="LETOR text: 0 qid:... 1:... #docid = ...; .gz, .xz, .bz2, .zst too, - for standard input",
    )
    asked.add_argument("--queries", metavar="FILE", help=f"new queries of a data set of text instead: {QUERIES}")
    words = "with --queries: the data set's results (default: those that --models are in)"
    parser.add_argument("--data", type=Path, metavar="FOLDER", help=words)
    parser.add_argument("--past", type=int, default=0, metavar="N", help=f"with --queries: {PAST}")
    parser.add_argument(
        "--method", help=f"any method that a study scored: a file of the folder's served/ (default: {DEFAULT})"
    )
    parser.add_argument(
        "--k", type=float, help="neighbours, up to 1 a share of the training queries (default: the study's choice)"
    )
    parser.add_argument("--lam", type=float, help="lambda (default: the study's choice)")
    parser.add_argument(
        "--sparse", action="store_true", help="features left out are zero, also if the first row is full"
    )
    parser.add_argument("--topics", metavar="FILE", help="artifact topics, where models look at columns of the query")
    parser.add_argument(
        "--format",
        choices=list(_FORMATS),
        default="scores",
        help="a score per row, a TREC run, or rows with the score for a label (default: scores)",
    )
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Score the file batch by batch."""
    refuse_unwritable(args.output)
    if args.input is None and args.queries is None:
        raise InputError("nothing is given to rank", fix="give --input with features, or --queries with words")
    if args.method == DENSE:
        return _search(args, DENSE, _by_meaning)
    if args.queries is not None and isinstance(stage := load_stored(args.models, args.method)[1], Searcher):
        return _search(args, stage.method, partial(_by_words, stage))
    ranker = load_ranker(args.models, args.method, k=args.k, lam=args.lam)
    if args.past and args.queries is None:
        raise InputError("--past needs the words of the queries", fix="give --queries FILE in place of --input")
    batches, topics = _of_queries(args) if args.input is None else _of_features(args, ranker)
    with opened(args.output) as file:
        for batch in batches:
            columns, text = (None, None) if topics is None else topics_of(topics, batch.query_id)
            names = {"query_id": batch.query_id, "doc_id": batch.doc_id}
            scores = ranker.score_many(batch.X, batch.offsets, query_columns=columns, text=text, **names)
            file.writelines(_FORMATS[args.format](batch, scores, ranker))
    return 0


def _of_features(args: argparse.Namespace, ranker: ServedRanker) -> tuple[Iterator[Batch], pa.Table | None]:
    """Queries of the file of features, and their topics if they are given."""
    sparse = True if args.sparse else None
    refuse_other_width(args.input, ranker.n_features, sparse)
    chunks = read_letor(
        args.input,
        n_features=ranker.n_features,
        sparse=sparse,
        missing=ranker.documents.missing,
        max_label=LARGEST_LABEL,
        block_bytes=_BLOCK,
        threads=1 + min(cores(), _PARSERS),
    )
    return whole_queries(chunks), None if args.topics is None else _topics(args.topics)


def _of_queries(args: argparse.Namespace) -> tuple[Iterator[Batch], pa.Table]:
    """New queries over the collection of the data set that the models belong to, with their topics."""
    judged, topics = features_of(_data(args), Path(args.queries), args.past)
    return iter([Batch(judged.query_id.tolist(), judged.offsets, judged.X, judged.doc_id.tolist())]), topics


def _search(args: argparse.Namespace, method: str, find: Callable[[Path, Sequence[Query]], _Found]) -> int:
    """Write the TREC run of what a first stage finds for the queries."""
    from qdrank.datasets.collections.forms import read_new_queries

    if args.format != "trec" or args.queries is None:
        fix = "add --format trec" if args.queries is not None else "give --queries FILE --format trec"
        raise InputError(f"{method} brings documents of its own, which need names", fix=fix)
    queries = read_new_queries(Path(args.queries))
    doc_id, found = find(_data(args), queries)
    row, place = np.nonzero(found.document >= 0)
    names = np.array([query.query_id for query in queries], dtype=object)[row].tolist()
    documents = np.array(doc_id, dtype=object)[found.document[row, place]].tolist()
    with opened(args.output) as file:
        file.writelines(run_lines(names, documents, found.score[row, place], f"qdrank-{method}"))
    return 0


def _by_words(stage: Searcher, data: Path, queries: Sequence[Query]) -> _Found:
    from qdrank.datasets.collections.forms import read_collection
    from qdrank.text.index import build_index

    index = build_index(read_collection(**study_of(data)[0]).documents, stage.analyser, data / ".index.npz")
    return index.doc_id, stage.search(index, [query.text for query in queries])


def _by_meaning(data: Path, queries: Sequence[Query]) -> _Found:
    from qdrank.text.encoder_search import search

    _, settings, encoder = study_of(data)
    vectors = encoded_queries(data, queries, encoder)
    return vectors.doc_id, search(vectors.queries, vectors.documents, settings.text.candidates)


def _data(args: argparse.Namespace) -> Path:
    """Results of the data set whose collection is searched."""
    models = Path(args.models).absolute()
    return args.data or (models.parents[2] if models.is_file() else models.parent)


def _topics(path: str) -> pa.Table:
    if not Path(path).is_file():
        problem = (
            "a table of topics cannot be read from a pipe" if path == "-" or Path(path).exists() else "no such file"
        )
        raise InputError(problem, file=path, fix="give the file that `qdrank features --topics FILE` wrote")
    return read(path, "topics")


def refuse_other_width(path: str | os.PathLike[str], n_features: int, sparse: bool | None) -> None:
    """Raise if the first row shows that the file does not have the models' features."""
    width = letor_form([path], sparse=False).width
    dense = letor_form([path], n_features=n_features, sparse=sparse).dense
    if width > n_features or (dense and width != n_features):
        raise InputError(
            f"the first row has {width} features, and the models know {n_features}",
            file=path,
            fix="give the features that the models were trained on; with --sparse those left out are zero",
        )


def whole_queries(chunks: Iterable[Chunk]) -> Iterator[Batch]:
    """Batches of complete queries, from chunks that may end within a query."""
    waiting: list[Batch] = []  # pieces of the query that may go on
    for chunk in chunks:
        piece = Batch(chunk.query_id, chunk.offsets, chunk.X, chunk.doc_id.to_pylist())
        first, rest = _cut(piece, 1 if chunk.continues else 0)
        if first.query_id:
            waiting.append(first)
        if rest.query_id:
            if waiting:
                yield _joined(waiting)
            done, last = _cut(rest, len(rest.query_id) - 1)
            if done.query_id:
                yield done
            waiting = [last]
    if waiting:
        yield _joined(waiting)


def _cut(batch: Batch, n_queries: int) -> tuple[Batch, Batch]:
    """Split a batch: its first queries, and the rest."""
    row, n = int(batch.offsets[n_queries]), n_queries
    before = Batch(batch.query_id[:n], batch.offsets[: n + 1], batch.X[:row], batch.doc_id[:row])
    return before, Batch(batch.query_id[n:], batch.offsets[n:] - row, batch.X[row:], batch.doc_id[row:])


def _joined(pieces: list[Batch]) -> Batch:
    """One query from its pieces."""
    X = np.concatenate([piece.X for piece in pieces])
    doc_id = [name for piece in pieces for name in piece.doc_id]
    return Batch(pieces[0].query_id, np.array([0, len(X)], dtype=np.int64), X, doc_id)


def _as_scores(batch: Batch, scores: FloatArray, ranker: ServedRanker) -> Iterator[str]:  # noqa: ARG001
    """A score per row, in the order of the input, in full precision."""
    yield "\n".join([*map(repr, scores.tolist()), ""])


def _as_run(batch: Batch, scores: FloatArray, ranker: ServedRanker) -> Iterator[str]:
    """A TREC run: each query's documents by descending score, ties in row order."""
    return run_lines(_queries(batch), batch.doc_id, scores, f"qdrank-{ranker.method}")


def _as_letor(batch: Batch, scores: FloatArray, ranker: ServedRanker) -> Iterator[str]:  # noqa: ARG001
    """LETOR rows in the order of the input, with the score as the label and no features."""
    rows = zip(scores.tolist(), _queries(batch), batch.doc_id, strict=True)
    return (f"{score!r} qid:{name} #docid = {document}\n" for score, name, document in rows)


def _queries(batch: Batch) -> list[str]:
    """Query of every document."""
    return np.repeat(np.array(batch.query_id, dtype=object), np.diff(batch.offsets)).tolist()


_FORMATS: dict[str, Callable[[Batch, FloatArray, ServedRanker], Iterator[str]]] = {
    "scores": _as_scores,
    "trec": _as_run,
    "letor": _as_letor,
}
