"""The jobs that write tables of a study that belong together, and that decide on its claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qdrank.evaluation.deciding import decide
from qdrank.evaluation.values import load_observations, observations_table
from qdrank.figures.tables import write_table, write_tables
from qdrank.figures.verdicts import FOLDED, readable
from qdrank.registry import loaded
from qdrank.store import read, write
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


def gather_observations(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    dataset: str,
    *,
    make: str,
    claims: str,
    budget: Mapping[str, Any],
    world: str,
    **shown: Any,
) -> None:
    """Write the observations of claims, and the verdicts on them.

    ``files["sources"]`` has the artifact ``topics`` where folds are by source. ``claims`` declares them with ``budget``, ``make`` gathers what decides them; ``world`` names a simulated data set, ``shown``
    is as in `Shown`.
    """
    declaration = loaded(claims)(budget)
    source: dict[str, str] = {}
    for topics in files["sources"]:
        table = read(topics, "topics")
        source = dict(zip(table.column("query_id").to_pylist(), table.column("source").to_pylist(), strict=True))
    values, own = made(make, files, Shown(dataset, **shown))
    observations = observations_table(own, values, declaration, source)
    write(out["observations"], "observations", observations)
    decided = {dataset: load_observations(observations, declaration)}
    table = decide(declaration, decided, dataset=dataset, world=world)
    forms = {form: path for form, path in out.items() if form != "observations"}
    title = f"{shown['title']}: claims of {declaration.paper}"
    write_table(readable(table), forms, title=title, folded=[*FOLDED, "data set", "paper"])
