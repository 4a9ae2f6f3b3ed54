"""Feature columns by name, and their values for candidate pairs.

A column is called ``field.model``: ``title.L1``, ``both.H1``, ``body.LMIR.DIR``; those of web pages (`WEB_COLUMNS`) say how
good a page is for any query. Groups of columns: ``first`` (the score of the first stage, which found the candidates), ``dense``
(the encoder's cosines),
``letor25`` (the 25 rank models of LETOR's OHSUMED files, with which Hoi & Jin 2008 worked), ``extra`` (per field: length,
coverage, BM25, language models), ``letor46`` (the layout of LETOR 4.0).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qdrank.datasets.collections.model import Documents
from qdrank.layout import FloatArray, IntArray
from qdrank.registry import refuse_unknown
from qdrank.text.encoder_search import cosines
from qdrank.text.index import AnalysedQueries, Index
from qdrank.text.models import MODELS, Constants, match
from qdrank.text.retrieve import Candidates

if TYPE_CHECKING:
    from qdrank.text.encoding import TextVectors

#: PageRank, links, and the shape of the URL: LETOR's features 41 to 46.
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


# Pairs at a time: some 50 MiB of intermediates at ten terms a query.
_BLOCK = 1 << 16

LETOR_STREAMS = ("body", "anchor", "title", "url", "whole")
FOUR = ("BM25", "LMIR.ABS", "LMIR.DIR", "LMIR.JM")


def letor25_columns() -> list[str]:
    """LETOR 2.0, OHSUMED: L1 to L10 of the title, then of the abstract, H1 to H5 of both together."""
    low = [f"{field}.L{i}" for field in ("title", "body") for i in range(1, 11)]
    return low + [f"both.H{i}" for i in range(1, 6)]


def extra_columns() -> list[str]:
    """Length and coverage of title, body and both; BM25 and language models of title and body alone."""
    sizes = [f"{field}.{model}" for field in ("title", "body", "both") for model in ("length", "coverage")]
    return sizes + [f"{field}.{model}" for field in ("title", "body") for model in FOUR]


def letor46_columns() -> list[str]:
    """LETOR 4.0's numbering: TF, IDF, TF·IDF, length by stream (1-20), four models by stream (21-40), the web (41-46)."""
    first = [f"{stream}.{model}" for model in ("TF", "IDF", "TFIDF", "length") for stream in LETOR_STREAMS]
    return first + [f"{stream}.{model}" for stream in LETOR_STREAMS for model in FOUR] + list(WEB_COLUMNS)


#: The score of the first stage. It is not a rank model: it uses the variant and the constants that found the
#: candidates.
FIRST_STAGE = "first.BM25"


def first_columns() -> list[str]:
    """The score by which the first stage found the candidates."""
    return [FIRST_STAGE]


def dense_columns() -> list[str]:
    """Inner products of the encoder's vectors of query and document, and of query and title."""
    return ["both.dense", "title.dense"]


def dense_values(vectors: TextVectors, query_id: NDArray[np.object_], pairs: Candidates) -> dict[str, FloatArray]:
    """Values of `dense_columns` for every pair, (n_pairs,) each; ``query_id`` (n_queries,) are the queries that pairs number."""
    rows, query = np.unique(pairs.query, return_inverse=True)
    asked = vectors.of_queries(query_id[rows])
    texts = (vectors.documents, vectors.titles)
    return {name: cosines(asked, of, query, pairs.document) for name, of in zip(dense_columns(), texts, strict=True)}


FEATURE_SETS = {
    "first": first_columns,
    "letor25": letor25_columns,
    "extra": extra_columns,
    "letor46": letor46_columns,
    "dense": dense_columns,
}
# The column that ranks like BM25, by which a query's top documents are chosen: the first that the table has.
REFERENCES = (FIRST_STAGE, "both.H1", "whole.BM25", "body.BM25")


def column_names(index: Index, feature_sets: Iterable[str]) -> list[str]:
    """Columns of ``feature_sets`` in order, each once.

    A field in which no document has text gives no columns (MED has no titles), but LETOR's layout is kept complete.
    """
    names: list[str] = []
    for feature_set in feature_sets:
        refuse_unknown("set of features", feature_set, FEATURE_SETS)
        columns = FEATURE_SETS[feature_set]()
        whole = feature_set in ("first", "letor46")
        names += [name for name in columns if whole or name.partition(".")[0] in index.fields]
    return list(dict.fromkeys(names))


def feature_values(
    index: Index,
    queries: AnalysedQueries,
    candidates: Candidates,
    names: list[str],
    *,
    constants: Constants | None = None,
    static: Mapping[str, FloatArray] | None = None,
    given: Mapping[str, FloatArray] | None = None,
) -> NDArray[np.float32]:
    """Raw values of the columns ``names`` for every candidate pair, (n_pairs, n_columns).

    Parameters
    ----------
    static : mapping of column to (n_documents,) values, optional
        Columns that belong to the document alone (`web_columns`).
    given : mapping of column to (n_pairs,) values, optional: scores of the first stage (`FIRST_STAGE`), `dense_values`
    """
    X = np.zeros((len(candidates.query), len(names)), dtype=np.float32)
    for start in range(0, len(X), _BLOCK):
        block = slice(start, min(start + _BLOCK, len(X)))
        _fill(X[block], index, queries, candidates.where(block), names, constants or Constants())
    of_pairs = {name: values[candidates.document] for name, values in (static or {}).items() if name in names}
    for name, values in {**of_pairs, **(given or {})}.items():
        if name in names:
            X[:, names.index(name)] = values
    return X


def _fill(
    X: NDArray[np.float32],
    index: Index,
    queries: AnalysedQueries,
    pairs: Candidates,
    names: list[str],
    constants: Constants,
) -> None:
    """Write the values of one block of pairs; the terms of each field are looked up once."""
    split = [name.partition(".")[::2] for name in names]
    for field in dict.fromkeys(field for field, _ in split):
        if field not in index.fields:
            continue
        met = match(index.fields[field], queries, pairs.query, pairs.document, constants)
        for column, (of_field, model) in enumerate(split):
            if of_field == field and model in MODELS:
                X[:, column] = MODELS[model](met)
