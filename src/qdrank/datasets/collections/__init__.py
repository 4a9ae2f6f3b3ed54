"""Collections of documents, queries and judgments, each form read into one shape.

`COLLECTIONS` maps the name of a form to its reader; every reader returns a `model.Collection`.
"""

from __future__ import annotations

from qdrank.registry import Registry

COLLECTIONS = Registry(
    "collection form",
    {
        "beir": "qdrank.datasets.collections.beir:read_beir",
        "irds": "qdrank.datasets.collections.irds:read_irds",
        "nfcorpus": "qdrank.datasets.collections.beir:read_nfcorpus",
        "scifact": "qdrank.datasets.collections.beir:read_scifact",
        "smart": "qdrank.datasets.collections.smart:read_smart",
        "squad-dev": "qdrank.datasets.collections.beir:read_beir",
        "time": "qdrank.datasets.collections.smart:read_time",
        "trec": "qdrank.datasets.collections.trec:read_trec",
        "ohsumed": "qdrank.datasets.collections.smart:read_ohsumed",
        "worldtree2": "qdrank.datasets.collections.beir:read_beir",
    },
    together=True,
)
