"""Which configuration a folder of results belongs to, and the command that makes one of its files."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from qdrank.errors import InputError

FILE = "config.yaml"
_HEAD = "# made with: "


def recorded_text(files: Sequence[str], settings: str) -> str:
    """Text of ``results/config.yaml``: the configuration files that were given, and all settings."""
    return f"{_HEAD}{options(files)}\n{settings}"


def recorded_options(results: str | os.PathLike[str]) -> str | None:
    """Options that named the configuration of a folder of results; None if the folder does not say."""
    try:
        with (Path(results) / FILE).open(encoding="utf-8") as file:
            first = file.readline().rstrip("\n")
    except OSError:
        return None
    return first.removeprefix(_HEAD) if first.startswith(_HEAD) else None


def options(files: Sequence[str]) -> str:
    """Options of snakemake that name configuration files; "the default configuration" if there are none."""
    return f"--configfile {shlex.join(files)}" if files else "the default configuration"


def command(results: str | os.PathLike[str], *targets: str | os.PathLike[str]) -> str:
    """The snakemake command that makes ``targets``, with the configuration that ``results`` was made with."""
    folder, made_with = Path(results).parent, recorded_options(results) or ""
    words = ["snakemake", "--cores", "all", *(str(target) for target in targets)]
    words += ["--directory", str(folder)] if folder != Path() else []
    return f"{shlex.join(words)} {made_with if made_with.startswith('--') else ''}".strip()


def refuse_other_configuration(results: str | os.PathLike[str], files: Sequence[str]) -> None:
    """Raise if the summary in ``results`` was made with other configuration files than ``files``.

    Raises
    ------
    InputError
        Naming both configurations, and how to keep or to replace the older summary.
    """
    before, now = recorded_options(results), options(files)
    if before is None or before == now:
        return
    name = Path(files[-1]).stem if files else "default"
    words = ["snakemake", "--cores", "all", "--directory", f"runs/{name}"]
    keep = f"{shlex.join(words)} {now if files else ''}".strip()
    raise InputError(
        f"{results} holds the claims and the report of another run ({before}), which this run ({now}) would overwrite",
        fix=f"keep both, with results in runs/{name}/results:\n"
        f"           {keep}\n"
        f"         or let this run take the place of the other, then run the same command again:\n"
        f"           rm {shlex.quote(os.fspath(Path(results) / FILE))}",
    )


def where_to_look(results: str | os.PathLike[str], files: Sequence[str]) -> str:
    """What to open after a run: those of the usual files that are there, and the command that makes the report."""
    folder = Path(results)
    places = {
        folder / "index.html": "start here: findings, claims, figures and queries, on one page",
        folder / "claims-overview.html": "every claim on every data set, as a table",
        folder / "overview.html": "what was run on what",
    }
    known = {str(path): words for path, words in places.items() if path.is_file()}
    known[f"{folder}/DATASET/"] = "figures (pdf, svg, png) and tables (html, csv, md, tex, parquet) of each data set"
    width = max(map(len, known))
    report = f"snakemake --report {folder}/report.html {options(files) if files else ''}".strip()
    rows = [f"  {path:<{width}}  {words}" for path, words in known.items()]
    return "\n".join(["Where to look:", *rows, "All on one page, with captions:", f"  {report}"])
