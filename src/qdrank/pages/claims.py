"""Verdicts on the claims of all studies, the seeds of a simulated world taken together: a table and two pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from qdrank.evaluation.deciding import decide, stamped, verdicts_table, with_averages
from qdrank.evaluation.values import load_observations
from qdrank.figures.tables import write_table
from qdrank.figures.verdicts import FOLDED, expected_errors, readable, titled, verdicts_overview
from qdrank.registry import loaded
from qdrank.store import read, write
from qdrank.workflow.provenance import commit


def decide_claims(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    *,
    studies: Mapping[str, Mapping[str, Any]],
    decided: Sequence[tuple[str, str]],
    titles: Mapping[str, str],
    configuration: str,
) -> None:
    """Write the verdicts, and the pages that show them.

    ``studies`` says by short name what declares the claims of a study, and which data sets are decided on together;
    ``decided`` are the data set and the study of each file of observations.
    """
    observations = dict(zip(map(tuple, decided), files["observations"], strict=True))
    tables = [table for short, of in studies.items() for table in _of_study(short, of, observations)]
    single = pa.concat_tables([verdicts_table([]), *tables])
    verdicts = stamped(with_averages(single), commit=commit(), configuration=configuration)
    write(out["table"], "verdicts", verdicts)
    whole, glance = readable(verdicts, titles), verdicts_overview(verdicts)
    write_table(whole, {"html": out["html"]}, title="Claims of the papers", folded=[*FOLDED, "purpose"])
    write_table(glance, {"csv": out["csv"], "md": out["md"]})
    page = {"html": out["overview"]}
    write_table(titled(glance, titles), page, title="Claims at a glance", said=expected_errors(verdicts))


def _of_study(short: str, of: Mapping[str, Any], files: Mapping[Any, str]) -> Iterator[pa.Table]:
    declaration = loaded(of["claims"])(of["budget"])
    observations = {
        name: {member: load_observations(read(files[member, short], "observations")) for member in members}
        for name, members in of["members"].items()
    }
    for name, members in observations.items():
        called = name if len(members) == 1 else f"{name} ({len(members)} seeds)"
        table = decide(declaration, members, dataset=called, world=of["worlds"][name])
        yield stamped(table, queries_of=of["queries_of"][name])
    if of["across"]:
        yield loaded(of["across"])(declaration, observations, of["worlds"])
