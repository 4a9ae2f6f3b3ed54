"""Studies by name: one folder per paper, and one line here."""

from __future__ import annotations

from qdrank.registry import Registry

STUDIES = Registry(
    "study",
    {
        "geng2008": "qdrank.studies.geng2008:STUDY",
        "hoi2008": "qdrank.studies.hoi2008:STUDY",
        "zha2006": "qdrank.studies.zha2006:STUDY",
        "lin2011": "qdrank.studies.lin2011:STUDY",
        "beyond": "qdrank.studies.beyond:STUDY",
        "hybrid": "qdrank.studies.hybrid:STUDY",
    },
)


def stored_kinds() -> dict[str, str]:
    """From the name of each ranker that a study defines, as files have it, to where its class is."""
    return {kind: target for study in STUDIES for kind, target in STUDIES[study].rankers.items()}


def timed_outputs() -> set[str]:
    """Ids of all outputs that hold times: their bytes differ from run to run."""
    return {output for name in STUDIES for output in STUDIES[name].timed}
