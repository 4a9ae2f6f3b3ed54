import numpy as np
import pytest

from qdrank.datasets.importing import refuse_unusable
from qdrank.datasets.judged import Judged
from qdrank.errors import InputError


def judged(parts: list[str], grades: list[list[int]]) -> Judged:
    offsets = np.cumsum([0, *map(len, grades)])
    n = int(offsets[-1])
    return Judged(
        query_id=np.array([f"q{i}" for i in range(len(parts))], dtype=object),
        part=np.array(parts, dtype=object),
        offsets=offsets,
        doc_id=np.array([f"d{i}" for i in range(n)], dtype=object),
        y=np.concatenate([np.array(own) for own in grades]).astype(np.int64),
        X=np.zeros((n, 1), dtype=np.float32),
    )


ENOUGH = ["train"] * 5 + ["vali"] + ["test"] * 2


def test_enough_is_enough() -> None:
    refuse_unusable(judged(ENOUGH, [[0, 1]] * 8))
    refuse_unusable(judged(["train"] * 5 + ["test"] * 2, [[0, 1]] * 7))


@pytest.mark.parametrize(
    ("parts", "grades", "words"),
    [
        (ENOUGH, [[0, 0]] * 8, "none of the 16 documents is relevant"),
        (["train", "vali", "test", "test"], [[0, 1]] * 4, "fold1: 1 training query has documents of different grades"),
        (ENOUGH, [[1, 1]] + [[0, 1]] * 7, "fold1: 4 training queries have"),
        (ENOUGH, [[0, 1]] * 5 + [[0, 0]] + [[0, 1]] * 2, "fold1: 0 validation queries have a relevant document"),
        (ENOUGH, [[0, 1]] * 7 + [[0, 0]], "fold1: 1 test query has a relevant document"),
        (["S1", "S2", "S3", "S4", "S5"] * 2, [[0, 1]] * 9 + [[0, 0]], "fold1: 1 test query has"),
    ],
)
def test_too_little_is_refused(parts: list[str], grades: list[list[int]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        refuse_unusable(judged(parts, grades))
