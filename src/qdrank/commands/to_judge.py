"""``--to-judge N FILE``: the pairs of query and document whose judgment moves a difference most, for an annotator.

The file is a table (CSV). Who has filled in grades types the same command again: it counts them, and puts the next pairs below.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Collection
from dataclasses import replace
from itertools import islice

from qdrank.commands.output import opened, refuse_unwritable
from qdrank.commands.retrieve import collection_of
from qdrank.errors import InputError
from qdrank.evaluation.two_runs import Question
from qdrank.evaluation.unjudged import read_judged, weights, written_rows


def add_to_judge(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--to-judge",
        nargs=2,
        metavar=("N", "FILE"),
        help="write the N unjudged pairs of query and document that move the difference most; grades filled in there count",
    )
    parser.add_argument(
        "--text",
        metavar="DATASET",
        help="text for --to-judge: a registered text collection, or a folder in BEIR's form",
    )


def write_to_judge(question: Question, args: argparse.Namespace) -> Question:
    """The question with the grades of the file, which gets the next pairs."""
    number, file = args.to_judge
    if not (number.isdigit() and int(number) > 0):
        raise InputError(
            "--to-judge wants a number of pairs, and a file", found=number, fix="such as --to-judge 50 to-judge.csv"
        )
    two = question.two
    if two.qrels is None:
        raise InputError("a LETOR file has no unjudged documents", file=args.qrels, fix="leave --to-judge out")
    refuse_unwritable(file)
    judged = read_judged(file)
    two = two.graded(judged) if judged else two
    assert two.qrels is not None
    pairs = list(islice(weights(two.runs[0], two.runs[1], two.qrels, two.names[0]), int(number)))
    texts = _texts(args.text, {query for query, _ in pairs}, {doc for _, doc in pairs}) if args.text else ({}, {})
    with opened(file) as out:
        csv.writer(out, lineterminator="\n").writerows(written_rows(judged, pairs, *texts))
    print(f"qdrank: {len(judged)} judged pairs of {file} count; {len(pairs)} to judge are in it", file=sys.stderr)
    return replace(question, two=two)


def _texts(dataset: str, queries: Collection[str], documents: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Texts of these queries and documents, by id."""
    text = collection_of(dataset)
    fields = {name: column for name, column in text.documents.fields.items() if name in ("title", "text")}
    rows = {doc: row for row, doc in enumerate(text.documents.doc_id) if doc in documents}
    of_documents = {doc: " ".join(column[row] for column in fields.values()) for doc, row in rows.items()}
    return {one.query_id: one.text for one in text.queries if one.query_id in queries}, of_documents
