"""``qdrank advise QRELS RUN RUN ...``: how to fuse runs, and whether weights per query are worth it, on one screen."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from qdrank.commands.evaluate import USUAL
from qdrank.commands.features import QUERIES
from qdrank.commands.retrieve import add_encoder, encoder_of
from qdrank.datasets.runs.reading import read_all_runs, read_qrels
from qdrank.errors import InputError
from qdrank.evaluation.advice import Advice, advise
from qdrank.measures.names import parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("qrels", metavar="QRELS", help="judgments (TREC, BEIR, three columns or JSON)")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="two runs or more; all tags of a file are taken")
    parser.add_argument("--measure", default=USUAL[0], help=f"what counts (default: {USUAL[0]})")
    parser.add_argument("--margin", type=float, default=0.005, help="smallest gain that counts (default: .005)")
    parser.add_argument(
        "--seed", type=int, default=1, help="of the parts of the queries and the resamples (default: 1)"
    )
    words = "words of the queries, by whose meaning they are similar, with --encoder: " + QUERIES
    parser.add_argument("--queries", type=Path, metavar="FILE", help=words)
    add_encoder(parser)
    parser.add_argument("--format", choices=["text", "json"], default="text", help="form of the output")


def run(args: argparse.Namespace) -> int:
    """Print the advice."""
    if not (isfinite(args.margin) and args.margin > 0):
        raise InputError("the margin must be above 0", found=str(args.margin))
    measure = parse(args.measure, convention="trec").name
    runs = read_all_runs(args.runs)
    if len(runs) < 2:
        raise InputError(
            "advice on fusion needs two runs or more", found=str(len(runs)), fix="qdrank advise QRELS RUN RUN"
        )
    vectors = _vectors(args.queries, args.encoder) if args.queries or args.encoder else None
    qrels = read_qrels(args.qrels)
    made = advise(runs, qrels, measure=measure, margin=args.margin, seed=args.seed, vectors=vectors)
    if args.format == "json":
        fields = {name: _or_null(value) for name, value in vars(made).items()}
        whole = {"measure": measure, **fields, "opensearch": _opensearch(made), "elasticsearch": _elasticsearch(made)}
        print(json.dumps(whole, indent=2, allow_nan=False))
    else:
        print("\n".join(advice_lines(made, measure, args.margin)))
    return 0


def _vectors(queries: Path | None, encoder: str | None) -> tuple[Any, Any]:
    """Names and vectors of the queries of a file."""
    if queries is None or encoder is None:
        fix = "give --queries FILE and --encoder NAME"
        raise InputError("weights by meaning need the words of the queries and an encoder", fix=fix)
    from qdrank.datasets.collections.forms import read_new_queries

    asked = read_new_queries(queries)
    vectors = encoder_of(encoder).encode([query.text for query in asked], "queries")
    return np.array([query.query_id for query in asked], dtype=object), vectors


def _or_null(value: Any) -> Any:
    """A value as JSON has it: null for a number that is none, such as an end of an interval that cannot be computed."""
    if isinstance(value, np.ndarray | tuple):
        return [_or_null(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _interval(low: float, high: float, sign: str = "") -> str:
    return "[no interval]" if not isfinite(low) else f"[{low:{sign}.4f}, {high:{sign}.4f}]"


def advice_lines(made: Advice, measure: str, margin: float) -> Iterator[str]:
    """Text of the advice."""
    alone = ", ".join(f"{tag} {value:.4f}" for tag, value in zip(made.tags, made.alone, strict=True))
    yield f"{made.queries:,} judged queries, {measure}; five-fold: tuned on some queries, measured on others"
    yield f"single runs         {alone}"
    weights = ", ".join(
        f"{tag} {weight:.3g} [{low:.3g}, {high:.3g}]"
        for tag, weight, low, high in zip(made.tags, made.weights, made.low, made.high, strict=True)
    )
    yield f"best fixed weights  {weights} on {made.norm} scores"
    over = f"{made.over_best:+.4f} {_interval(*made.over_interval, sign='+')} on the best run"
    yield f"                    {made.fixed:.4f} {_interval(*made.fixed_interval)}; {over}"
    by = ", ".join(f"{what} in {made.by.count(what)}" for what in dict.fromkeys(made.by))
    yield f"weights per query   worth it: {made.verdict.upper()} (margin {margin:g})"
    gain = f"{made.gain:+.4f} {_interval(*made.gain_interval, sign='+')} on fixed weights"
    yield f"                    {gain}, {made.control:+.4f} on their control; from {by} of 5 parts"
    yield f"                    {made.reason}"
    yield f"                    {_needed(made, margin)}"
    yield f"                    (best weights of each query by its own judgments: {made.oracle:+.4f}; noise gains as well, see the docs)"
    yield from _pipelines(made)


def _needed(made: Advice, margin: float) -> str:
    if made.needed is None:
        return "no number of queries would tell: weights per query and fixed weights rank alike"
    more = "there are enough" if made.needed <= made.queries else f"there are {made.queries:,}"
    return f"to find a gain of {margin:g} takes {made.needed:,} judged queries (power .8); {more}"


def _rounded(weights: Any) -> list[float]:
    """Weights to three digits that sum to 1, as OpenSearch requires."""
    whole = np.round(np.asarray(weights), 3)
    whole[int(np.argmax(whole))] += 1 - whole.sum()
    return [round(float(weight), 3) for weight in whole]


def _opensearch(made: Advice) -> dict[str, Any]:
    technique = {"min-max": "min_max", "z-score": "z_score"}[made.norm]
    combination = {"technique": "arithmetic_mean", "parameters": {"weights": _rounded(made.weights)}}
    processor = {"normalization": {"technique": technique}, "combination": combination}
    return {"phase_results_processors": [{"normalization-processor": processor}]}


def _elasticsearch(made: Advice) -> dict[str, Any]:
    pairs = zip(made.tags, _rounded(made.minmax), strict=True)
    inner = [{"retriever": f"<{tag}>", "weight": weight, "normalizer": "minmax"} for tag, weight in pairs]
    return {"retriever": {"linear": {"retrievers": inner, "rank_window_size": 100}}}


def _pipelines(made: Advice) -> Iterator[str]:
    yield f"OpenSearch          PUT /_search/pipeline/fused; clauses in the order {', '.join(made.tags)}"
    yield f"  {json.dumps(_opensearch(made))}"
    other = "" if made.norm == "min-max" else " (min-max: it has no z-score)"
    yield f"Elasticsearch       linear retriever{other}"
    yield f"  {json.dumps(_elasticsearch(made))}"
    summands = " + ".join(
        f"{weight:g} * normalize_linear(<{tag}>)" for tag, weight in zip(made.tags, _rounded(made.minmax), strict=True)
    )
    yield f"Vespa               rank profile{other}"
    yield f"  global-phase {{ rerank-count: 100  expression: {summands} }}"
