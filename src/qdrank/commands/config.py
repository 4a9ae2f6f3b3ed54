"""``qdrank config``: check a configuration before a run, or write the files that are generated from its models."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from qdrank.datasets import registry
from qdrank.errors import InputError
from qdrank.store.atomic import write_text
from qdrank.workflow.config_files import generated, load_sources, merged, resolve
from qdrank.workflow.plan import plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = commands.add_parser("check", help="find what would stop a run, and print what the files resolve to")
    check.add_argument("files", nargs="*", type=Path, metavar="FILE")
    generate = commands.add_parser("generate", help="write config/config.yaml, the JSON schema and the reference table")
    generate.add_argument("--project", type=Path, default=Path(), help="the project's folder (default: here)")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.action == "generate":
        for path, text in generated().items():
            write_text(args.project / path, text)
        return 0
    sources = load_sources(args.files)
    settings = resolve(merged(sources), sources)
    planned = plan(settings, [*(file.parent for file in args.files), registry.default_table().parents[1]])
    for dataset in planned.datasets.values():
        if dataset.kind == "simulated":
            check_simulated(dataset.name, dataset.options)
    for name, reason in planned.left_out.items():
        print(f"qdrank: {name} is left out: {reason}", file=sys.stderr)
    print(yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False), end="")
    return 0


def check_simulated(name: str, options: Mapping[str, Any]) -> None:
    """Raise if the simulated data set ``name`` cannot be made with these settings."""
    from qdrank.datasets.simulated.affine import AffineCopies
    from qdrank.datasets.simulated.changing import changed_settings, checked_seed
    from qdrank.datasets.simulated.features import SIMULATIONS
    from qdrank.datasets.simulated.simweb.settings import WebSimulation
    from qdrank.datasets.simulated.web import Web

    known: dict[str, Any] = SIMULATIONS | {"simweb": WebSimulation(), "web": Web(), "affine": AffineCopies()}
    try:
        checked_seed(options["seed"])
        changed_settings(
            known[options.get("like", name)], {k: v for k, v in options.items() if k not in ("like", "seed")}
        )
    except InputError as error:
        raise InputError(f"own.{name}.settings: {error.problem}", found=error.found, fix=error.fix) from None
