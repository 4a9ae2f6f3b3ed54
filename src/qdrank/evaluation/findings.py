"""Findings: the values behind the verdicts on a study's claims in one configuration, in a file that decides them again.

The file has every value once, by data set, method or claim, fit and query, sorted so that the values of a query lie together:
many are alike, and a value takes about a byte and a half. What else the verdicts depend on, and what made them, is in its
footer (`About`); what is claimed is in the code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from qdrank.errors import AnyPath
from qdrank.evaluation.deciding import decide, stamped, verdicts_table
from qdrank.evaluation.values import load_observations
from qdrank.registry import loaded
from qdrank.store import read, read_about, write


class About(TypedDict):
    """What the footer says.

    Attributes
    ----------
    study : its name
    budget : keys of the configuration that its claims name
    members : data sets that are decided on together, by the name of the first: the seeds of one simulated world
    worlds : what is built into each of these, empty for real data
    queries_of : what names the queries of each: forms of one set have the same
    configuration, commit : what made the values
    """

    study: str
    budget: Mapping[str, Any]
    members: Mapping[str, list[str]]
    worlds: Mapping[str, str]
    queries_of: Mapping[str, str]
    configuration: str
    commit: str


def write_findings(path: AnyPath, about: About, observations: Mapping[str, AnyPath]) -> None:
    """Write the findings of a study from the ``observations`` of each data set."""
    parts = []
    for dataset, file in observations.items():
        table = read(file, "observations")
        parts.append(table.add_column(0, "dataset", pa.array([dataset] * len(table), pa.string())))
    table = pa.concat_tables(parts, promote_options="default")
    if "source" in table.column_names:  # of the sets that know it
        place = table.column_names.index("source")
        table = table.set_column(place, "source", table.column(place).fill_null(""))
    write(path, "findings", table, about)


def decided_again(path: AnyPath, claims: str, across: str) -> pa.Table:
    """Verdicts on single data sets, from a file of findings.

    ``claims`` and ``across`` are the functions of `Study` that declare the claims and decide those that compare data sets.
    """
    about, values = read_about(path, "findings"), read(path, "findings")
    declaration = loaded(claims)(about["budget"])
    stamps = {name: about[name] for name in ("commit", "configuration")}
    observations = {
        name: {member: load_observations(_of(values, member), declaration) for member in members}
        for name, members in about["members"].items()
    }

    def tables() -> Iterator[pa.Table]:
        for name, members in observations.items():
            called = name if len(members) == 1 else f"{name} ({len(members)} seeds)"
            table = decide(declaration, members, dataset=called, world=about["worlds"][name])
            yield stamped(table, queries_of=about["queries_of"][name])
        if across:
            yield loaded(across)(declaration, observations, about["worlds"])

    return stamped(pa.concat_tables([verdicts_table([]), *tables()]), **stamps)


def _of(values: pa.Table, dataset: str) -> pa.Table:
    return values.filter(pc.equal(values.column("dataset"), dataset)).drop_columns(["dataset"])
