"""Findings of all studies, and the verdicts on their claims: a table and two pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from qdrank.evaluation.deciding import stamped, verdicts_table, with_averages
from qdrank.evaluation.findings import decided_again, write_findings
from qdrank.figures.tables import write_table
from qdrank.figures.verdicts import FOLDED, expected_errors, readable, titled, verdicts_overview
from qdrank.store import write
from qdrank.workflow.provenance import commit


def decide_claims(
    files: Mapping[str, Any],
    out: Mapping[str, Any],
    *,
    studies: Mapping[str, Mapping[str, Any]],
    decided: Sequence[tuple[str, str]],
    titles: Mapping[str, str],
    configuration: str,
) -> None:
    """Write the findings of each study, the verdicts that follow from them, and the pages that show these.

    ``studies`` says by short name what declares the claims of a study, and what its findings are about
    (`qdrank.evaluation.findings.About`); ``decided`` are the data set and the study of each file of observations.
    """
    made_by = {"configuration": configuration, "commit": commit()}
    tables = []
    for (short, of), path in zip(studies.items(), out["findings"], strict=True):
        observations = {
            name: file for (name, study), file in zip(decided, files["observations"], strict=True) if study == short
        }
        write_findings(path, of["about"] | made_by, observations)
        tables.append(decided_again(path, of["claims"], of["across"]))
    verdicts = stamped(with_averages(pa.concat_tables([verdicts_table([]), *tables])), **made_by)
    write(out["table"], "verdicts", verdicts)
    whole, glance = readable(verdicts, titles), verdicts_overview(verdicts)
    write_table(whole, {"html": out["html"]}, title="Claims of the papers", folded=[*FOLDED, "purpose"])
    write_table(glance, {"csv": out["csv"], "md": out["md"]})
    page = {"html": out["overview"]}
    write_table(titled(glance, titles), page, title="Claims at a glance", said=expected_errors(verdicts))
