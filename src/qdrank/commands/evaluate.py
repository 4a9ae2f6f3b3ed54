"""``qdrank evaluate FEATURES SCORES``: measures of any scores on any LETOR file, as the publisher's script computes them."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from qdrank.errors import AnyPath, InputError
from qdrank.evaluation.score_files import Labels, read_labels, read_scores
from qdrank.groups import FloatArray
from qdrank.measures import CONVENTIONS
from qdrank.measures.compute import measure
from qdrank.measures.names import parse


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Values of measures for every query of a file.

    Attributes
    ----------
    query_id : (n_queries,) ids in the file's order
    values : from each measure's name to its values, shape (n_queries,)
    n_documents : number of documents
    n_empty : number of queries without a relevant document
    """

    query_id: list[str]
    values: dict[str, FloatArray]
    n_documents: int
    n_empty: int

    @property
    def means(self) -> dict[str, float]:
        """Mean of each measure over all queries."""
        return {name: float(column.mean()) for name, column in self.values.items()}


def evaluate(features: AnyPath, scores: AnyPath, names: Sequence[str] = CONVENTIONS["letor4"]) -> Evaluation:
    """Measure the ranking of a LETOR file's documents by a file of scores.

    Parameters
    ----------
    features : LETOR text, plain or compressed
    scores : one score per document, in the same order
    names : names of measures

    Raises
    ------
    InputError
        If a name is unknown, a file is malformed, or the two do not have the same number of rows.
    """
    for name in names:
        parse(name)
    labels, column = read_labels(features), read_scores(scores)
    if len(column) != len(labels.y):
        raise InputError(
            f"{len(column):,} scores for {len(labels.y):,} documents",
            file=scores,
            fix=f"give one score per line, in the order of the rows of {features}",
        )
    values = measure(names, labels.y, column, labels.offsets, doc_ids=labels.doc_id)
    return Evaluation(labels.query_id, values, len(labels.y), _n_empty(labels))


def _n_empty(labels: Labels) -> int:
    return int((np.maximum.reduceat(labels.y, labels.offsets[:-1]) == 0).sum())


def as_table(evaluation: Evaluation, *, per_query: bool) -> str:
    """Text for the eye, to four digits as the publisher prints them."""
    if per_query:
        heads = ["query", *evaluation.values]
        rows = [[query, *map(_short, row)] for query, row in _rows(evaluation)]
        rows.append(["mean", *map(_short, evaluation.means.values())])
    else:
        heads = ["measure", "mean"]
        rows = [[name, _short(mean)] for name, mean in evaluation.means.items()]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in [heads, *rows]
    ]
    counted = f"{len(evaluation.query_id):,} queries, {evaluation.n_documents:,} documents, "
    counted += (
        f"{evaluation.n_empty:,} queries without a relevant document (counted as each measure's convention has it)"
    )
    return "\n".join([counted, "", *lines]) + "\n"


def as_csv(evaluation: Evaluation, *, per_query: bool) -> str:
    """Comma-separated values in full precision."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if per_query:
        writer.writerow(["query", *evaluation.values])
        writer.writerows([query, *row] for query, row in _rows(evaluation))
    else:
        writer.writerow(["measure", "mean"])
        writer.writerows(evaluation.means.items())
    return text.getvalue()


def as_json(evaluation: Evaluation, *, per_query: bool) -> str:
    """One JSON object in full precision."""
    content: dict[str, object] = {
        "queries": len(evaluation.query_id),
        "documents": evaluation.n_documents,
        "queries_without_relevant": evaluation.n_empty,
        "mean": evaluation.means,
    }
    if per_query:
        names = list(evaluation.values)
        content["per_query"] = {query: dict(zip(names, row, strict=True)) for query, row in _rows(evaluation)}
    return json.dumps(content, indent=2) + "\n"


FORMATS: dict[str, Callable[..., str]] = {"table": as_table, "csv": as_csv, "json": as_json}


def _rows(evaluation: Evaluation) -> list[tuple[str, list[float]]]:
    """Each query's id and values."""
    matrix = np.column_stack(list(evaluation.values.values()))
    return list(zip(evaluation.query_id, matrix.tolist(), strict=True))


def _short(value: float) -> str:
    return f"{value:.4f}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "features", metavar="FEATURES", help="LETOR file: label qid:... 1:... #docid = ...; .gz, .xz, .bz2 too"
    )
    parser.add_argument("scores", metavar="SCORES", help="one score per row of FEATURES: a number, or the last column")
    parser.add_argument(
        "--convention", choices=list(CONVENTIONS), default="letor4", help="what is reported, and how (default: letor4)"
    )
    parser.add_argument(
        "--measure",
        metavar="NAME",
        action="append",
        help="report this measure instead, e.g. ndcg@10/exp; may be repeated",
    )
    parser.add_argument("--per-query", action="store_true", help="one row per query")
    parser.add_argument("--format", choices=list(FORMATS), default="table", help="form of the output (default: table)")


def run(args: argparse.Namespace) -> int:
    """Print what was asked for."""
    evaluation = evaluate(args.features, args.scores, args.measure or CONVENTIONS[args.convention])
    print(FORMATS[args.format](evaluation, per_query=args.per_query), end="")
    return 0
