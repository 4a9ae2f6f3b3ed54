import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.evaluation.values import fold_means


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["fold1", "fold2", "fold3"])), min_size=1, max_size=20))
def test_means_are_those_of_the_lists(rows):
    lists = {name: [value for value, fold in rows if fold == name] for _, name in rows}
    means = fold_means(np.array([value for value, _ in rows]), np.array([fold for _, fold in rows]))
    by_fold = {name: sum(values) / len(values) for name, values in lists.items()}
    assert means.folds == pytest.approx(by_fold)
    assert means.published == pytest.approx(sum(by_fold.values()) / len(by_fold))
    assert means.pooled == pytest.approx(sum(value for value, _ in rows) / len(rows))


@pytest.mark.parametrize(
    ("values", "fold"), [([], []), ([1.0, 2.0], ["a"]), ([[1.0], [2.0]], [["a"], ["b"]])], ids=["none", "short", "2d"]
)
def test_other_shapes_are_refused(values, fold):
    with pytest.raises(InputError, match="one of each per query"):
        fold_means(np.array(values), np.array(fold))
