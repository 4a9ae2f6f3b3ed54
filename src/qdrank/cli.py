"""The console command ``qdrank``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module

from qdrank import __version__
from qdrank.errors import QdrankError
from qdrank.jobs import leave_pandas_out
from qdrank.kernel_cache import Announcer

# Each command is a module with ``add_arguments(parser)`` and ``run(args) -> int``, imported only when it is used.
COMMANDS = {
    "advise": ("qdrank.commands.advise", "how to fuse runs, and whether weights per query are worth it"),
    "compare": ("qdrank.commands.compare", "the verdict on two runs: is one better by a difference that counts"),
    "config": ("qdrank.commands.config", "check a configuration, or generate what is derived from its models"),
    "datasets": ("qdrank.commands.datasets", "list the data sets, what is present, and how to get the rest"),
    "digest": ("qdrank.commands.digest", "print the digest of every artifact in a folder"),
    "evaluate": ("qdrank.commands.evaluate", "measure runs against judgments, or scores against a LETOR file"),
    "doctor": (
        "qdrank.commands.doctor",
        "look for what would stop a run here: Python, memory, disk, mirror, kernels, SLURM",
    ),
    "export": ("qdrank.commands.export", "a model as Elasticsearch, OpenSearch, Solr, RankLib or ONNX take it"),
    "features": ("qdrank.commands.features", "compute the features of new text queries, for `qdrank rank`"),
    "findings": ("qdrank.commands.findings", "write the table of what was found into the page of each study"),
    "fuse": ("qdrank.commands.fuse", "one run from several, without judgments"),
    "init": ("qdrank.commands.init", "make a folder in which snakemake runs the workflow of the installed package"),
    "rank": ("qdrank.commands.rank", "score new queries in a LETOR file with the models of a study"),
    "retrieve": ("qdrank.commands.retrieve", "runs of a data set: first stages of a text collection, ranked systems"),
    "run": ("qdrank.commands.run", "run the workflow with a configuration, then write the report"),
}

#: Commands that use compiled kernels.
COMPILED = ("advise", "compare", "evaluate", "features", "rank", "retrieve")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    argv = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="qdrank", description="Query-dependent learning to rank.")
    parser.add_argument("--version", action="version", version=f"qdrank {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    if argv and argv[0] in COMPILED:
        sys.meta_path.insert(0, Announcer)
    for name, (module, words) in COMMANDS.items():
        command = commands.add_parser(name, help=words, description=words[0].upper() + words[1:] + ".")
        if argv and argv[0] == name:
            import_module(module).add_arguments(command)
    args = parser.parse_args(argv)
    leave_pandas_out()
    return _guarded(import_module(COMMANDS[args.command][0]).run, args)


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
