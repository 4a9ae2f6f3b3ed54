"""``qdrank retrieve DATASET``: runs of a data set with judgments, so that anyone can fuse, compare and study them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from qdrank.datasets import sources
from qdrank.datasets.fetching.fetch import fetch_all
from qdrank.datasets.runs.run import Qrels, Run
from qdrank.errors import InputError
from qdrank.jobs import cores
from qdrank.registry import did_you_mean
from qdrank.store.atomic import write_text

if TYPE_CHECKING:
    from qdrank.datasets.collections.model import Collection
    from qdrank.text.encoder import Encoder
    from qdrank.text.encoding import TextVectors


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    what = (
        "a registered text collection or set of rankings to aggregate (`qdrank datasets`), or a folder in BEIR's form"
    )
    parser.add_argument("dataset", metavar="DATASET", help=what)
    parser.add_argument(
        "--output", required=True, type=Path, metavar="FOLDER", help="gets runs/*.run.gz, qrels.txt, and what is known"
    )
    parser.add_argument(
        "--method",
        action="append",
        choices=["bm25", "rm3", "lsa", "dense"],
        help="first stages of a text collection (default: the first three, and with --encoder all); may be given several times",
    )
    add_encoder(parser)
    parser.add_argument("--depth", type=int, default=100, help="most documents of a query (default: 100)")
    parser.add_argument(
        "--best",
        choices=["low", "high"],
        help="of rankings to aggregate: whether the best document has the lowest number or the highest (default: as the "
        "table of data sets says)",
    )
    parser.add_argument("--judgments", metavar="NAME", help="of nfcorpus: 3-2-1 (default), 2-1-0, direct or beir")


def run(args: argparse.Namespace) -> int:
    """Write the runs, the judgments, the parts and the texts of the queries."""
    if args.depth < 1:
        raise InputError("the depth is below 1", found=str(args.depth), fix="give --depth 1 or more")
    entry = _entry(args.dataset)
    if entry is not None and entry.kind == "agg":
        made = _systems(entry, args.best or entry.best)
    elif entry is None or entry.kind == "text":
        made = _first_stages(args)
    else:
        fix = "give a text collection or a set to aggregate; `snakemake runs` writes a study's rankings as runs"
        raise InputError(
            f"{args.dataset} is neither text nor rankings to aggregate", found=f"kind {entry.kind}", fix=fix
        )
    _write(args.output, *made)
    return 0


def _entry(dataset: str) -> sources.Dataset | None:
    """The registered data set of this name; None for a folder."""
    known = sources.load()
    if dataset in list(known):
        return known[dataset]
    if not Path(dataset).is_dir():
        raise InputError(f"unknown data set {dataset!r}, and no such folder", fix=did_you_mean(dataset, list(known)))
    return None


def collection_of(dataset: str, judgments: str | None = None) -> Collection:
    """A registered text collection, fetched, or one in a folder in BEIR's form; what was counted rather than refused is printed."""
    from qdrank.datasets.collections.forms import read_collection
    from qdrank.datasets.fetching.presence import download_folder

    entry, source = _entry(dataset), dict[str, Any](like="beir", folder=dataset)
    if entry is not None:
        if entry.kind != "text":
            raise InputError(f"{dataset} is no text", found=f"kind {entry.kind}", fix="give a text collection")
        fetch_all(entry)
        rule = entry.sources.model_dump(exclude_none=True) if entry.sources else None
        source = {"like": entry.name, "folder": download_folder(entry), "sources": rule}
    if judgments is not None:
        if source["like"] != "nfcorpus":
            raise InputError("only nfcorpus has several judgments", found=judgments, fix="leave --judgments out")
        source["form"] = {"qrels": judgments}
    collection = read_collection(**source)
    for note in collection.notes:
        print(f"qdrank: {note}", file=sys.stderr)
    return collection


def _systems(entry: sources.Dataset, best: str) -> tuple[Iterable[Run], Qrels, dict[str, Mapping[str, str]]]:
    """The systems of a set to aggregate, its judgments, and the parts of its queries."""
    from tempfile import TemporaryDirectory

    from qdrank.datasets.importing import import_letor
    from qdrank.datasets.judged import load_judged
    from qdrank.datasets.runs.run import judgments_of, system_runs

    paths = fetch_all(entry)
    with TemporaryDirectory() as folder:
        files = {name: paths[file.name] for name, file in entry.by_part().items()}
        import_letor(files, Path(folder) / "ranks.parquet", missing=True, max_label=entry.max_label or 4)
        ranks = load_judged(Path(folder) / "ranks.parquet")
    folds = dict(zip(ranks.query_id.tolist(), ranks.part.tolist(), strict=True))
    return system_runs(ranks, best), judgments_of(ranks), {"folds.txt": folds}


def _first_stages(
    args: argparse.Namespace,
) -> tuple[Iterable[Run], Qrels, dict[str, Mapping[str, str]]]:
    """First stages of a text collection, its judgments, texts and, if they are known, its split and the sources of its queries."""
    from qdrank.datasets.collections.model import judged_queries_of
    from qdrank.datasets.runs.dataset import SPLIT
    from qdrank.text.first_runs import judgments_of

    collection = collection_of(args.dataset, args.judgments)
    asked = judged_queries_of(collection)
    files: dict[str, Mapping[str, str]] = {"queries.txt": {one.query_id: " ".join(one.text.split()) for one in asked}}
    if all(one.split for one in asked):
        files["split.txt"] = {one.query_id: SPLIT[str(one.split)] for one in asked}
    if all(one.source for one in asked):
        files["sources.txt"] = {one.query_id: str(one.source) for one in asked}
    return runs_of(collection, args.method, args.depth, args.encoder), judgments_of(collection), files


def runs_of(collection: Collection, methods: Sequence[str] | None, depth: int, encoder: str | None) -> Iterator[Run]:
    """First stages of a collection; without ``methods`` all that can be had."""
    from qdrank.text.first_runs import DENSE, FIRST_RUNS, first_runs

    methods = methods or (*FIRST_RUNS, *([DENSE] if encoder else []))
    if DENSE not in methods:
        return first_runs(collection, methods, depth)
    if encoder is None:
        raise InputError("the method dense needs an encoder", fix="name one: --encoder minilm")
    return first_runs(collection, methods, depth, vectors_of(encoder, collection))


def _write(folder: Path, runs: Iterable[Run], qrels: Qrels, files: Mapping[str, Mapping[str, str]]) -> None:
    from qdrank.datasets.runs.writing import write_qrels, write_run

    (folder / "runs").mkdir(parents=True, exist_ok=True)
    write_qrels(folder / "qrels.txt", qrels.query, qrels.doc, qrels.grade)
    for name, lines in files.items():
        write_text(folder / name, "".join(f"{query}\t{text}\n" for query, text in lines.items() if text))
    for one in runs:
        path = folder / "runs" / f"{one.tag}.run.gz"
        write_run(path, one.query, one.doc, one.score, tag=one.tag)
        print(f"{path}: {len(one.place):,} queries, {len(one.doc):,} documents")
    print(f"{folder / 'qrels.txt'}: {len(qrels.by_query):,} queries, {len(qrels.grade):,} judgments")


# ---- encoders: by registered name, by folder, or with prompts as a configuration has them --------------------------


_WHICH = (
    "an encoder: a registered name (minilm), a folder as the model hub has it, or '{folder: F, queries: \"query: \"}' "
    "with prompts"
)


def add_encoder(parser: argparse.ArgumentParser) -> None:
    """Declare ``--encoder``."""
    parser.add_argument("--encoder", metavar="ENCODER", help=_WHICH)


def encoder_of(given: str) -> Encoder:
    """The encoder that the user names, fetched if it is registered."""
    from qdrank.datasets.fetching.fetch import fetch_all
    from qdrank.datasets.fetching.presence import download_folder
    from qdrank.text.encoder import Encoder, encoder_form

    spec: Any = yaml.safe_load(given) if given.startswith("{") else given
    known = sources.load_encoders()
    if isinstance(spec, str) and spec in known:
        fetch_all(known[spec])
        spec = str(download_folder(known[spec]))
    elif isinstance(spec, str) and not Path(spec).is_dir():
        problem = f"unknown encoder {spec!r}, and no such folder"
        raise InputError(problem, fix=did_you_mean(spec, list(known)))
    keys = {"folder": spec} if isinstance(spec, str) else dict(spec)
    if "folder" not in keys or not {*keys} <= {"folder", "queries", "documents"}:
        raise InputError("an encoder has the keys folder, queries and documents", found=given, fix="correct the keys")
    return Encoder(encoder_form(**keys), threads=cores())


def vectors_of(given: str, collection: Collection) -> TextVectors:
    """Vectors of a collection, kept in the cache for later calls; progress is printed."""
    from qdrank.text.encoding import kept_folder, kept_vectors

    def told(words: str) -> None:
        print(f"qdrank: {words}", file=sys.stderr)

    return kept_vectors(encoder_of(given), collection, kept_folder(), told)
