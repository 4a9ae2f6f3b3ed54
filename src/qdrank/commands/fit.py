"""``qdrank fit``: a method of a finished run, fitted on all judged queries, as one file to deploy."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from qdrank.commands.output import refuse_unwritable
from qdrank.rankers.served import write_ranker
from qdrank.serving.ranking import fitted_on_all, settings_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    words = "a data set's results, e.g. results/mine"
    parser.add_argument("--models", required=True, type=Path, metavar="FOLDER", help=words)
    parser.add_argument("--method", required=True, help="any method that a study scored; its folds choose the settings")
    words = "the model, which rank, export and fuse take for --models"
    parser.add_argument("--output", required=True, metavar="FILE", help=words)


def run(args: argparse.Namespace) -> int:
    """Write the model; say which settings it has."""
    refuse_unwritable(args.output)
    fitted, folds = fitted_on_all(args.models, args.method)
    write_ranker(args.output, fitted)
    settings = ", ".join(f"{name}={value}" for name, value in settings_of(fitted).items())
    print(f"{fitted.method}, settings of {', '.join(folds)}: {settings or 'none'}", file=sys.stderr)
    return 0
