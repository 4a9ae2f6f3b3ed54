"""``qdrank config``: check a configuration before a run, or write the files that are generated from its models."""

from __future__ import annotations

import argparse
from pathlib import Path

import yaml

from qdrank.config_files import generated, load_sources, merged, resolve
from qdrank.store.atomic import write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = commands.add_parser("check", help="check configuration files and print what they resolve to")
    check.add_argument("files", nargs="*", type=Path, metavar="FILE")
    generate = commands.add_parser("generate", help="write config/config.yaml, the JSON schema and the reference table")
    generate.add_argument("--project", type=Path, default=Path(), help="the project's folder (default: here)")


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    if args.action == "generate":
        for path, text in generated().items():
            write_text(args.project / path, text)
        return 0
    sources = load_sources(args.files)
    print(yaml.safe_dump(resolve(merged(sources), sources).model_dump(mode="json"), sort_keys=False), end="")
    return 0
