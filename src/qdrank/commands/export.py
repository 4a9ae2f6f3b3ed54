"""``qdrank export``: a model of a study as search engines and model servers take it."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from qdrank.commands.output import add_output, opened, refuse_unwritable
from qdrank.errors import InputError
from qdrank.serving.onnx import onnx
from qdrank.serving.plain import PlainModel, WeightedSum, es_linear, es_xgboost, plain_model, ranklib, solr
from qdrank.serving.ranking import load_ranker
from qdrank.store import read

_Writer = Callable[[PlainModel, Sequence[str], str], str | bytes]
FORMATS: dict[str, _Writer] = {
    "es-linear": es_linear,
    "es-xgboost": es_xgboost,
    "ranklib": ranklib,
    "solr": solr,
    "onnx": onnx,
}
#: Formats without a place for a constant.
_NO_CONSTANT = ("es-linear", "ranklib", "solr")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    words = "a fold's results, e.g. results/mq2008/fold1, or a file of `qdrank fit`"
    parser.add_argument("--models", required=True, metavar="FOLDER", help=words)
    words = "a method of the folder with one model for all queries, such as single or lambdamart"
    parser.add_argument("--method", help=words)
    parser.add_argument("--format", required=True, choices=list(FORMATS), help="what the model is written for")
    parser.add_argument(
        "--names", metavar="FILE", help="names of the features in the engine, one per line (default: ours)"
    )
    add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Write the model."""
    refuse_unwritable(args.output)
    if args.method is None and Path(args.models).is_dir():
        raise InputError("no method is named", fix="give --method, such as single or lambdamart")
    served = load_ranker(args.models, args.method)
    model = plain_model(served.ranker, served.documents)
    names = feature_names(args.names, Path(args.models), served.n_features)
    made = FORMATS[args.format](model, names, served.method)
    content = made.encode() if isinstance(made, str) else made
    if isinstance(model, WeightedSum) and model.constant and args.format in _NO_CONSTANT:
        print(
            f"qdrank: scores there are lower by {model.constant!r}, all alike: {args.format} has no constant",
            file=sys.stderr,
        )
    with opened(args.output) as file:
        file.buffer.write(content)
    return 0


def feature_names(file: str | None, models: Path, n_features: int) -> list[str]:
    """Names of the features: those in a file, or those of the data set as single words, or their numbers."""
    if file is not None:
        names = [line.strip() for line in Path(file).read_text(encoding="utf-8").splitlines() if line.strip()]
        if len(names) != n_features or len(set(names)) < len(names):
            problem = f"{len(names)} names, {len(set(names))} of them different, for {n_features} features"
            raise InputError(problem, file=file, fix="give one name per line, a different one for each feature")
        return names
    place = models.parent / "columns.parquet"
    if not place.is_file():
        return [f"feature_{i + 1}" for i in range(n_features)]
    words = [
        re.sub(r"\W+", "_", name).strip("_") or "feature" for name in read(place, "columns").column("name").to_pylist()
    ]
    shared = Counter(words)
    return [f"{word}_{i}" if shared[word] > 1 else word for i, word in enumerate(words, 1)]
