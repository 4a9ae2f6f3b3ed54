"""``qdrank fuse RUN RUN ...``: one run from several, without judgments."""

from __future__ import annotations

import argparse
import sys

from qdrank.aggregators.fusion import FUSION_METHODS, NORMS, fuse
from qdrank.datasets.runs.reading import read_runs
from qdrank.datasets.runs.writing import run_lines
from qdrank.errors import InputError
from qdrank.store.atomic import write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    words = "runs (TREC, three columns or JSON; .gz, .xz, .bz2, .zst too, - for standard input); all tags of a file are taken"
    parser.add_argument("runs", metavar="RUN", nargs="+", help=words)
    parser.add_argument("--method", choices=FUSION_METHODS, default="rrf", help="how runs are fused (default: rrf)")
    parser.add_argument(
        "--norm", choices=list(NORMS), default="min-max", help="how scores are made comparable (default: min-max)"
    )
    parser.add_argument("--weights", type=float, nargs="+", metavar="W", help="one for each run, for --method weights")
    parser.add_argument("--k", type=float, default=60, help="constant of rrf (default: 60)")
    parser.add_argument("--tag", default="qdrank-fused", help="name of the fused run")
    parser.add_argument("--output", metavar="FILE", help="written completely or not at all (default: standard output)")


def run(args: argparse.Namespace) -> int:
    """Write the fused run; report on standard error how ties were handled."""
    if args.tag.split() != [args.tag]:
        raise InputError("the tag is not a single word", found=args.tag)
    runs = [one for path in args.runs for one in read_runs(path)]
    fused = fuse(runs, args.method, norm=args.norm, weights=args.weights, k=args.k, tag=args.tag)
    lines = run_lines(fused.query.tolist(), fused.doc.tolist(), fused.score, fused.tag)
    if args.output in (None, "-"):
        sys.stdout.writelines(lines)
    else:
        write_text(args.output, "".join(lines))
    tied = int((fused.score[1:] == fused.score[:-1])[fused.query[1:] == fused.query[:-1]].sum())
    forms = ", ".join(dict.fromkeys(one.form for one in runs))
    said = f"{len(runs)} runs ({forms}): {len(fused.place)} queries, {len(fused.doc):,} documents"
    print(f"{said}; {tied:,} tied with the one above, ordered by descending id", file=sys.stderr)
    return 0
