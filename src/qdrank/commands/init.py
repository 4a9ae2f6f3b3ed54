"""``qdrank init``: a folder in which ``snakemake`` runs the workflow of the installed package."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from qdrank.errors import InputError
from qdrank.project import PROJECT

_SNAKEFILE = """# The workflow of the installed package qdrank, with config/config.yaml: snakemake --cores all
from qdrank.project import PROJECT


configfile: "config/config.yaml"


include: str(PROJECT / "Snakefile")


# An included file has no say in what is made by default.
workflow.default_target = workflow.modifier.modify_rulename("all")
"""

_HEAD = """# What differs from the default configuration; `qdrank config check config/config.yaml` prints every key.
# A first look: one study on one simulated data set, in about three minutes on two cores.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a folder, which is made if there is none")


def run(args: argparse.Namespace) -> int:
    """Write the Snakefile, a first configuration and the profiles, unless one of them is there."""
    folder: Path = args.folder
    snakefile, config = folder / "workflow" / "Snakefile", folder / "config" / "config.yaml"
    profiles = folder / "workflow" / "profiles"
    for path in (snakefile, config, profiles, folder / "Snakefile"):
        if path.exists():
            raise InputError("this is there already, and stays as it is", file=path, fix="name another folder")
    config.parent.mkdir(parents=True, exist_ok=True)
    first = (PROJECT / "config" / "first.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    config.write_text(_HEAD + "".join(line for line in first if not line.startswith("#")), encoding="utf-8")
    shutil.copytree(PROJECT / "workflow" / "profiles", profiles)
    snakefile.write_text(_SNAKEFILE, encoding="utf-8")
    print(f"Edit {config}, then:\n  cd {folder}\n  snakemake --cores all")
    return 0
