"""Query-dependent learning to rank, done reproducibly."""

__version__ = "0.1.0"
