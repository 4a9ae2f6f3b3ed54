"""Queries as points: their vectors, the distance between them, their neighbours, their types."""

from __future__ import annotations

from qdrank.registry import Registry

#: Distances between query vectors, by the name used in the configuration.
METRICS = Registry(
    "metric",
    {
        "euclidean": "qdrank.queries.metrics:Euclidean",
        "manhattan": "qdrank.queries.metrics:Manhattan",
        "cosine": "qdrank.queries.metrics:Cosine",
        "mahalanobis": "qdrank.queries.metrics:Mahalanobis",
        "learned": "qdrank.queries.metrics:Learned",
    },
    together=True,
)
