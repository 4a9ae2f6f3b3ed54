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


def timed_outputs() -> set[str]:
    """Ids of all outputs that hold times: their bytes differ from run to run."""
    return {output for name in STUDIES for output in STUDIES[name].timed}
