from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.evaluation.measuring import document_ids, joined_refits, joined_scores
from qdrank.store import write

QUERY, DOCUMENT, SCORES = ["a", "a", "b", "b"], ["d1", "d2", "d1", "d3"], np.array([0.1, 0.2, 0.3, 0.4])


@pytest.fixture
def ids():
    return document_ids(Judged.from_arrays(np.zeros((4, 1)), [0, 1, 0, 1], QUERY, DOCUMENT))


def stored(path, rows, **more):
    columns = {
        name: np.array(values, dtype=object)[rows] for name, values in (("query_id", QUERY), ("doc_id", DOCUMENT))
    }
    write(path, "refits" if more else "scores", pa.table({**columns, "score": SCORES[rows], **more}))


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_scores_are_joined_on_query_and_document(ids, tmp_path, rows):
    stored(tmp_path / "scores.parquet", rows)
    assert joined_scores(ids, tmp_path / "scores.parquet").tolist() == SCORES.tolist()


def test_further_fits_are_joined_each_for_itself(ids, tmp_path):
    rows = [0, 1, 2, 3, 3, 1, 0, 2]
    stored(tmp_path / "refits.parquet", rows, fit=np.repeat([1, 2], 4))
    assert [fit.tolist() for fit in joined_refits(ids, tmp_path / "refits.parquet")] == [SCORES.tolist()] * 2


def test_a_document_without_a_score_is_named(ids, tmp_path):
    stored(tmp_path / "scores.parquet", [0, 1, 2])
    with pytest.raises(InputError, match=r"no score for query and document \('b', 'd3'\)"):
        joined_scores(ids, tmp_path / "scores.parquet")
