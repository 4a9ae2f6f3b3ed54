"""How good a web page is for any query: PageRank, links, and the shape of its URL (LETOR's features 41 to 46)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from qdrank.datasets.collections.model import Documents
from qdrank.layout import FloatArray, IntArray

WEB_COLUMNS = ("link.pagerank", "link.inlinks", "link.outlinks", "url.slashes", "url.characters", "url.children")


def web_columns(documents: Documents) -> dict[str, FloatArray]:
    """Every column of `WEB_COLUMNS`, (n_documents,) each; 0 where the collection has no links or no URLs."""
    n = len(documents)
    links = documents.links if documents.links is not None else np.zeros((0, 2), dtype=np.int64)
    urls = documents.fields.get("url", [""] * n)
    values = (
        pagerank(links, n) if len(links) else np.zeros(n),
        np.bincount(links[:, 1], minlength=n).astype(np.float64),
        np.bincount(links[:, 0], minlength=n).astype(np.float64),
        np.array([_path(url).count("/") for url in urls], dtype=np.float64),
        np.array([len(url) for url in urls], dtype=np.float64),
        children(urls),
    )
    return dict(zip(WEB_COLUMNS, values, strict=True))


def pagerank(links: IntArray, n_pages: int, *, damping: float = 0.85, tol: float = 1e-12) -> FloatArray:
    """PageRank (Brin & Page 1998) by power iteration, summing to 1; a page without links leads everywhere.

    ``links``: (n_links, 2) distinct pairs from, to.
    """
    out = np.bincount(links[:, 0], minlength=n_pages)
    share = 1.0 / out[links[:, 0]]
    step = sparse.csr_array((share, (links[:, 1], links[:, 0])), shape=(n_pages, n_pages))
    rank = np.full(n_pages, 1.0 / n_pages)
    # The error shrinks by the damping in every step, so this many steps suffice whatever the graph.
    for _ in range(int(np.ceil(np.log(tol) / np.log(damping)))):
        last = rank
        rank = damping * (step @ last + last[out == 0].sum() / n_pages) + (1 - damping) / n_pages
        if np.abs(rank - last).sum() < tol:
            break
    return rank


def children(urls: Sequence[str]) -> FloatArray:
    """Number of pages directly below each page's URL, (n_pages,)."""
    paths = [_path(url).rstrip("/") for url in urls]
    below = Counter(path.rpartition("/")[0] for path in paths if "/" in path)
    return np.array([below[path] if path else 0 for path in paths], dtype=np.float64)


def _path(url: str) -> str:
    """URL without its scheme, whose slashes say nothing."""
    return url.partition("://")[2] or url
