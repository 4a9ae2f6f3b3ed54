"""``qdrank fuse RUN RUN ...``: one run from several, without judgments, or by what a study learned from judged ones."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from qdrank.commands.output import add_output, opened, refuse_unwritable
from qdrank.datasets.runs.reading import read_all_runs
from qdrank.datasets.runs.run import Qrels, Run, union_of
from qdrank.datasets.runs.writing import run_lines
from qdrank.errors import InputError
from qdrank.learners.fusion import FUSION_METHODS, NORMS, fuse


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
    parser.add_argument(
        "--models",
        metavar="FOLDER",
        help="fuse by weights that a study learned: a fold's results, a file of its served/, or of `qdrank fit`; runs with the tags of its configuration",
    )
    parser.add_argument("--queries", metavar="FILE", help="texts of the queries, where the models look at them")
    parser.add_argument("--tag", default="qdrank-fused", help="name of the fused run")
    add_output(parser)


#: Short name of the method that fuses, where ``--models`` names a folder.
WEIGHTS = "weights"


def fuse_by_models(runs: Sequence[Run], models: str, tag: str, queries: str | None = None) -> Run:
    """One run from several by a stored ranker of runs' columns; ties by descending document id.

    Parameters
    ----------
    runs : those that the ranker was trained on, known by their tags, in any order
    models : a fold's results, or a file of its folder ``served``
    tag : name of the fused run
    queries : file of the queries' texts, for rankers that look at them
    """
    from qdrank.datasets.runs.dataset import read_texts
    from qdrank.datasets.runs.run import judged_runs
    from qdrank.queries.predictors import RunPredictors
    from qdrank.serving.ranking import load_ranker

    ranker = load_ranker(models, WEIGHTS if Path(models).is_dir() else None)
    runs = _as_learned(runs, ranker)
    union = union_of(runs)
    grades = np.zeros(len(union.of_query), dtype=np.int64)
    unjudged = Qrels(union.queries[union.of_query], union.docs[union.docno], grades)
    made = judged_runs(runs, unjudged, dict.fromkeys(union.queries.tolist(), "test"), max_label=0)
    documents, names = made.judged, made.judged.query_id.tolist()
    looked_at = made.scores if isinstance(ranker.queries, RunPredictors) else None
    texts = None if queries is None else [read_texts(queries).get(name, "") for name in names]
    score = ranker.score_many(
        documents.X, documents.offsets, query_columns=looked_at, text=texts, query_id=names, doc_id=documents.doc_id
    )
    _, docno = np.unique(documents.doc_id.astype(str), return_inverse=True)
    order = np.lexsort((-docno, -score, documents.query_index))
    order = order[score[order] > -np.inf]
    return Run(documents.query[order], documents.doc_id[order], score[order], tag, f"fused by {ranker.method}")


def _as_learned(runs: Sequence[Run], ranker: Any) -> list[Run]:
    """The runs in the order in which the ranker knows them, by their tags."""
    tags = list(getattr(ranker, "tags", ()))
    by_tag = {one.tag: one for one in runs}
    if not tags or sorted(tags) != sorted(one.tag for one in runs):
        problem = f"{ranker.method} fuses the runs {', '.join(tags)}" if tags else f"{ranker.method} fuses no runs"
        fix = "give one run of each tag, in any order; the tag is the last word of a line"
        raise InputError(problem, found=", ".join(one.tag for one in runs), fix=fix)
    return [by_tag[tag] for tag in tags]


def run(args: argparse.Namespace) -> int:
    """Write the fused run; report on standard error how ties were handled."""
    if args.tag.split() != [args.tag]:
        raise InputError("the tag is not a single word", found=args.tag)
    refuse_unwritable(args.output)
    runs = read_all_runs(args.runs)
    if args.models is None:
        fused = fuse(runs, args.method, norm=args.norm, weights=args.weights, k=args.k, tag=args.tag)
    else:
        fused = fuse_by_models(runs, args.models, args.tag, args.queries)
    lines = run_lines(fused.query.tolist(), fused.doc.tolist(), fused.score, fused.tag)
    with opened(args.output) as file:
        file.writelines(lines)
    tied = int((fused.score[1:] == fused.score[:-1])[fused.query[1:] == fused.query[:-1]].sum())
    forms = ", ".join(dict.fromkeys(one.form for one in runs))
    said = f"{len(runs)} runs ({forms}): {len(fused.place)} queries, {len(fused.doc):,} documents"
    print(f"{said}; {tied:,} tied with the one above, ordered by descending id", file=sys.stderr)
    return 0
