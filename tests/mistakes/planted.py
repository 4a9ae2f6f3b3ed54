"""What a planted mistake is, and how it is made: in a folder of its own, in this process, as a user would make it."""

import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from qdrank.cli import main
from qdrank.errors import QdrankError
from qdrank.figures.data import import_dataset
from qdrank.figures.text_notes import write_text_features
from qdrank.workflow.config_files import load_sources, merged, resolve
from qdrank.workflow.plan import plan

Files = Mapping[str, str | bytes]


@dataclass(frozen=True)
class Mistake:
    """A mistake, and what the message must say.

    Attributes
    ----------
    name : what the user did, in words
    makes : makes the mistake in the present folder; what it raises or prints is the message
    says : words of the message, with `` | `` between them: the place, the problem and the fix
    files : what is in the folder; None as a text: no such file
    leaves : files that may be in the folder afterwards, beside ``files``
    """

    name: str
    makes: Callable[[], Any]
    says: str
    files: Files = field(default_factory=dict)
    leaves: tuple[str, ...] = ()


def message(mistake: Mistake, folder: Path) -> str:
    """Make the mistake in an empty ``folder``; what the user reads last. Anything but an error in words is a fault."""
    for name, content in mistake.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with chdir(folder), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            said = mistake.makes()
        except QdrankError as error:
            return f"qdrank: {error}"
        if isinstance(said, str):
            return said
        return "\n".join(f"{one.category.__name__}: {one.message}" for one in warned) or "(nothing was said)"


def left(mistake: Mistake, folder: Path) -> list[str]:
    """Files that the mistake left behind."""
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return sorted(files - set(mistake.files) - set(mistake.leaves))


def command(*words: str) -> Callable[[], str]:
    """A command line of ``qdrank``: what it writes to standard error, if it fails as it should."""

    def makes() -> str:
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = main(list(words))
            except SystemExit as error:  # argparse
                code = int(error.code or 0)
        return err.getvalue().strip() if code else f"(exit 0) {out.getvalue()[-200:]}{err.getvalue()}"

    return makes


CHECK = command("config", "check", "mine.yaml")


def first_job() -> str:
    """The check, and if it finds nothing, the first job of the first data set of mine.yaml."""
    said = CHECK()
    if not said.startswith("(exit 0)"):
        return said
    settings = resolve(merged(load_sources(["mine.yaml"])))
    dataset = next(iter(plan(settings, [Path()]).datasets.values()))
    Path("results").mkdir(exist_ok=True)
    out = {name: f"results/{name}.parquet" for name in ("judged", "columns", "topics")}
    out |= {form: f"results/notes.{form}" for form in ("csv", "html")}
    common: dict[str, Any] = {"options": dataset.options, "title": "mine", "seed": settings.seed}
    common["log"] = lambda *_: None
    if dataset.kind == "text":
        write_text_features({}, out, settings=settings.text.model_dump(), published={}, **common)
    else:
        import_dataset("mine", [], out, files={k: os.fspath(v) for k, v in dataset.files.items()}, **common)
    return "(the data were read)"


def without(folder: Path) -> None:
    """Remove an empty folder that a mistake made."""
    with suppress(OSError):
        folder.rmdir()
