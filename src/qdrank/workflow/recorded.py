"""Which configuration a folder of results belongs to, and the command that makes one of its files."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qdrank.errors import InputError
from qdrank.project import PROJECT

SHORT = PROJECT / "config" / "first.yaml"
"""The short study, with which `qdrank run` begins; what the user's own configuration sets is on top of it."""
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


def recorded_files(results: str | os.PathLike[str]) -> list[Path]:
    """Configuration files that a folder of results was begun with, as seen from the folder of the run."""
    return [Path(file) for file in _files(recorded_options(results))]


def without_short(files: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Configuration files but for the short study, which an installed package has elsewhere than a checkout."""
    return [os.fspath(file) for file in files if Path(file).parts[-2:] != SHORT.parts[-2:]]


def record_configuration(results: str | os.PathLike[str], files: Sequence[str], settings: str) -> None:
    """Write which configuration a folder of results belongs to, if it does not say so already."""
    from qdrank.store import write_text  # heavy, and needed once a run

    text, path = recorded_text(files, settings), Path(results) / FILE
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)


def write_configuration(path: str, *, files: Sequence[str], settings: Any) -> None:
    """Write the resolved configuration, and the files that it was resolved from."""
    import yaml

    from qdrank.store import write_text  # both slow to load, and needed by one job

    write_text(path, recorded_text(files, yaml.safe_dump(settings, sort_keys=False)))


def options(files: Sequence[str]) -> str:
    """Options of snakemake that name configuration files; "the default configuration" if there are none."""
    return f"--configfile {shlex.join(files)}" if files else "the default configuration"


def typed_values(values: Mapping[str, Any]) -> list[str]:
    """Words that give ``values`` of the configuration on the command line, after ``--config``."""
    return [f"{key}={json.dumps(value)}" for key, value in values.items()]


def command(results: str | os.PathLike[str], *targets: str | os.PathLike[str]) -> str:
    """The snakemake command that makes ``targets``, with the configuration that ``results`` was made with."""
    folder = Path(results).parent
    files = [seen_from(os.curdir, folder / file) for file in _files(recorded_options(results))]
    return _typed([*map(str, targets)], str(folder), files)


def refuse_other_configuration(
    results: str | os.PathLike[str], files: Sequence[str], start: str | os.PathLike[str] = os.curdir
) -> None:
    """Raise if ``results`` was begun with other configuration files than ``files``.

    The short study of the same files may become the whole one, and not the reverse: what it leaves out would stay. Paths are relative to the folder of the run, the present one; the message has them as seen from ``start``, where the
    command was typed.

    Raises
    ------
    InputError
        Names both configurations, and says how to keep both or set the older results aside.
    """
    before = recorded_options(results)
    begun = _files(before)
    widened = begun != without_short(begun) and without_short(begun) == without_short(files)
    if before is None or before == options(files) or widened:
        return
    was, now = ([seen_from(start, file) for file in given] for given in (begun, files))
    place, beside = seen_from(start, results), _free_folder(now, start)
    raise InputError(
        f"{place} belongs to another run ({options(was)}); with files of this run ({options(now)}) it would be a mixture",
        fix=f"keep both, with results in {beside}/results:\n"
        f"           {_typed([], beside, now, start)}\n"
        f"         or put the other away, then run the same command again:\n"
        f"           {shlex.join(['mv', place, _free_name(place)])}",
    )


def _free_folder(files: Sequence[str], start: str | os.PathLike[str]) -> str:
    """A folder for a run, named after its configuration, in which no other configuration has results."""
    name = Path(files[-1]).stem if files else "default"
    folders = [f"runs/{name}", *(f"runs/{name}-{number}" for number in range(2, 100))]
    return next(one for one in folders if recorded_options(Path(start, one, "results")) is None)


def _free_name(place: str) -> str:
    """A free name for results that are set aside."""
    names = (f"{place}-{number}" for number in range(1, 1000))
    return next(name for name in names if not os.path.exists(name))


def where_to_look(
    results: str | os.PathLike[str],
    files: Sequence[str],
    start: str | os.PathLike[str] = os.curdir,
    storage: str | None = None,
    values: Mapping[str, Any] | None = None,
) -> str:
    """What to open after a run: the usual files that exist, and the command that makes the report.

    ``values`` were given with ``--config``. Paths are shown as seen from ``start``, where the command was typed. The
    summary of another configuration is not shown. What went to a ``storage`` is not here to be looked for.
    """
    if storage:
        return f"Where to look: in the storage, {storage.rstrip('/')}/{results}/; index.html there first, after a whole run"
    places = {
        "index.html": "start here: findings, claims, figures and queries, on one page",
        "claims-overview.html": "every claim on every data set, as a table",
        "overview.html": "what was run on what",
    }
    ours = recorded_options(results) in (None, options(files))
    folder = seen_from(start, results)
    known = {f"{folder}/{name}": words for name, words in places.items() if ours and (Path(results) / name).is_file()}
    known[f"{folder}/DATASET/"] = "figures (pdf, svg, png) and tables (html, csv, md, tex, parquet)"
    width = max(map(len, known))
    rows = ["Where to look:", *(f"  {path:<{width}}  {words}" for path, words in known.items())]
    if f"{folder}/index.html" in known and _has_snakefile(start):  # `qdrank run` writes the report itself
        given, directory = [seen_from(start, file) for file in files], seen_from(start, os.curdir)
        words = ["snakemake", "--report", f"{results}/report.html"]
        words += ["--directory", directory] if directory != os.curdir else []
        words += ["--configfile", *given] if given else []
        words += ["--config", *typed_values(values)] if values else []
        rows += ["All on one page, with captions:", f"  {shlex.join(words)}"]
    return "\n".join(rows)


def started_in(directory: str | os.PathLike[str] | None) -> str:
    """Folder in which a run was started with ``--directory``, which has become the present folder."""
    if directory is None:
        return os.curdir
    steps = Path(os.path.normpath(directory)).parts
    if not os.path.isabs(directory) and os.pardir not in steps:
        return os.path.join(os.curdir, *[os.pardir] * len(steps))
    shell = os.environ.get("PWD", "")  # the shell's folder, which Snakemake does not change
    here = os.path.isdir(shell) and os.path.realpath(os.path.join(shell, directory)) == os.path.realpath(os.curdir)
    return shell if here else os.curdir


def _files(made_with: str | None) -> list[str]:
    """Configuration files in what `options` wrote."""
    return shlex.split(made_with)[1:] if made_with and made_with.startswith("--") else []


def seen_from(start: str | os.PathLike[str], path: str | os.PathLike[str]) -> str:
    """A path as seen from ``start``; absolute if that is shorter, as for a run far from where it was started."""
    return os.fspath(path) if os.path.isabs(path) else min(os.path.relpath(path, start), os.path.abspath(path), key=len)


def words_from(start: str | os.PathLike[str], words: str) -> str:
    """A message in which paths below the present folder, that of a run, are as seen from ``start``."""
    return re.sub(r"(?<![\w./-])(results|resources)(?=/)", lambda place: seen_from(start, place[1]), words)


def _typed(targets: Sequence[str], folder: str, files: Sequence[str], start: str | os.PathLike[str] = os.curdir) -> str:
    """The command that runs the workflow: that of Snakemake where ``start`` has a Snakefile for it, else that of the package."""
    given = ["--directory", folder] if folder != os.curdir else []
    if not _has_snakefile(start):
        named = [word for target in targets for word in ("--target", target)]
        return shlex.join(["qdrank", "run", *without_short(files), *named, *given])
    return shlex.join(["snakemake", "--cores", "all", *targets, *given, *(["--configfile", *files] if files else [])])


def _has_snakefile(folder: str | os.PathLike[str]) -> bool:
    return any((Path(folder) / name).is_file() for name in ("Snakefile", "workflow/Snakefile"))
