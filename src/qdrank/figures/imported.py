"""Files of features, or runs and judgments, become judged documents; a table says what was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from qdrank.datasets.importing import fetched_parts, import_features
from qdrank.datasets.runs.dataset import import_runs
from qdrank.figures.data import notes_table
from qdrank.figures.tables import write_table


def import_dataset(
    dataset: str,
    inputs: Sequence[str],
    out: Mapping[str, str],
    *,
    files: Mapping[str, str],
    options: Mapping[str, Any],
    title: str,
    seed: int,
    log: Callable[..., None],
) -> None:
    """Write the artifacts of a data set, and the table of notes to the other paths of ``out``; log the notes.

    ``files`` are the user's own, by part; for a registered data set they are in the listing that fetching it left, the only one of ``inputs``.
    ``options`` has ``like: runs`` for runs and judgments.
    """
    made = {name: out[name] for name in ("judged", "columns", "topics")}
    reading = {name: value for name, value in options.items() if name != "like"}
    read = import_runs if options.get("like") == "runs" else import_features
    notes = read(files or fetched_parts(dataset, inputs[0]), made, seed=seed, **reading)
    for note in notes:  # not to the terminal, where a panel shows the progress
        log("%s: %s", *note)
    paths = {form: path for form, path in out.items() if form not in made}
    write_table(notes_table(notes), paths, title=f"{title}: what was read")
