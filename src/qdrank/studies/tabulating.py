"""The job that writes tables of a study that belong together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qdrank.figures.tables import write_tables
from qdrank.studies.making import Shown, made


def make_tables(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    dataset: str,
    *,
    make: str,
    titles: Mapping[str, str],
    **shown: Any,
) -> None:
    """Write the tables that ``make`` computes, each with its title; ``shown`` as in `Shown`."""
    tables = made(make, files, Shown(dataset, **shown))
    named = enumerate(titles.items())
    write_tables({f"t{place}": (tables[id_], f"{shown['title']}: {title}") for place, (id_, title) in named}, out)
