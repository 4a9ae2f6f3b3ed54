"""What an encoder finds in a whole collection, as a row of every table: as many documents as there are candidates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qdrank.datasets.judged import load_roles, scores_table
from qdrank.store import write
from qdrank.text.encoder_search import search
from qdrank.text.encoding import load_vectors


def write_dense(files: Mapping[str, str], out: Mapping[str, str], fold: str, *, depth: int) -> None:
    """Write the scores of the best ``depth`` documents of the test queries of a fold.

    ``files`` has the artifacts ``judged`` and ``vectors`` of the collection.
    """
    vectors = load_vectors(files["vectors"])
    test = load_roles(files["judged"], fold, ["test"], ["doc_id"])["test"]
    found = search(vectors.of_queries(test.query_id), vectors.documents, depth)
    graded = test.ranked_instead(
        np.repeat(np.arange(len(found.size)), found.size), vectors.doc_id[found.document.ravel()]
    )
    write(out["scores"], "scores", scores_table(graded, found.score.ravel()))
