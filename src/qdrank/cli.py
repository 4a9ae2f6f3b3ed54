"""The console command ``qdrank``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from types import ModuleType

from qdrank import __version__
from qdrank.errors import QdrankError
from qdrank.jobs import leave_pandas_out

# What each command does, and arguments of an example. It is a module of `qdrank.commands` with ``add_arguments(parser)`` and
# ``run(args) -> int``, imported only when it is used.
COMMANDS = {
    "advise": ("how to fuse runs, and whether weights per query are worth it", "qrels.txt bm25.run dense.run"),
    "compare": (
        "the verdict on two runs: is one better by a difference that counts",
        "qrels.txt dense.run bm25.run --margin .005 --measure nDCG@10",
    ),
    "config": ("check a configuration, or generate what is derived from its models", "check mine.yaml"),
    "datasets": ("list the data sets, what is present, and how to get the rest", "mq2008"),
    "digest": ("print the digest of every artifact in a folder", "results --check"),
    "evaluate": (
        "measure runs against judgments, or scores against a LETOR file",
        "qrels.txt bm25.run dense.run --measure nDCG@10 --baseline bm25.run",
    ),
    "doctor": ("look for what would stop a run here: Python, memory, disk, mirror, kernels, SLURM", "--compile"),
    "export": (
        "a model as Elasticsearch, OpenSearch, Solr, RankLib or ONNX take it",
        "--models results/mq2008/fold1 --method single --format es-linear --output model.json",
    ),
    "features": (
        "compute the features of new text queries, for `qdrank rank`",
        "--data results/mine --queries new.tsv --output new.txt",
    ),
    "findings": ("decide all claims again, and write the pages with the verdicts", "--check"),
    "fit": (
        "a method of a finished run on all judged queries, as one file to deploy",
        "--models results/mine --method ranksvm --output ranksvm.model",
    ),
    "fuse": ("one run from several, without judgments", "bm25.run dense.run --output fused.run"),
    "gate": (
        "may a candidate run replace a baseline? the exit status tells a build",
        "qrels.txt old.run new.run --measure nDCG@10 --margin .005",
    ),
    "init": ("make a folder in which snakemake runs the workflow of the installed package", "study"),
    "rank": (
        "score new queries in a LETOR file with the models of a study",
        "--models results/mq2008/fold1 --input new.txt --output scores.txt",
    ),
    "retrieve": (
        "runs of a data set: first stages of a text collection, ranked systems",
        "cranfield --output runs/cranfield",
    ),
    "rules": (
        "print the rules that the workflow makes of a study's declarations, as plain Snakemake",
        "hoi2008 --configfile config/first.yaml",
    ),
    "run": ("run the workflow with a configuration, then write the report", "config/first.yaml"),
}

_STATUS = """exit status:
  0  done
  1  what was checked or run is not as it should be
  2  something given is wrong: standard error says what, and how to mend it"""

_OF_GATE = """exit status:
  0  the candidate passes
  1  it fails
  2  something given is wrong: standard error says what, and how to mend it
  3  the data cannot tell, or a run lacks queries"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="qdrank", description="Query-dependent learning to rank.")
    parser.add_argument("--version", action="version", version=f"qdrank {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (words, example) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=words,
            description=words[0].upper() + words[1:] + ".",
            epilog=f"example:\n  qdrank {name} {example}\n\n{_OF_GATE if name == 'gate' else _STATUS}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if argv and argv[0] == name:
            _module(name).add_arguments(command)
    args = parser.parse_args(argv)
    leave_pandas_out()
    return _guarded(_module(args.command).run, args)


def _module(command: str) -> ModuleType:
    return import_module(f"qdrank.commands.{command}")


def _guarded(run: Callable[[argparse.Namespace], int], args: argparse.Namespace) -> int:
    """Report a user's mistake without a traceback; a closed pipe (``| head``) is no mistake."""
    try:
        code = run(args)
        sys.stdout.flush()
    except QdrankError as error:
        print(f"qdrank: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        _leave_output()
        return 0
    except OSError as error:
        if error.strerror is None:  # not of the system's
            raise
        _leave_output()
        print(f"qdrank: {error.filename or 'the output'}: {error.strerror.lower()}", file=sys.stderr)
        return 2
    return code


def _leave_output() -> None:
    """Close standard output if it takes no more, so that Python does not try again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            sys.stdout.close()


if __name__ == "__main__":
    sys.exit(main())
