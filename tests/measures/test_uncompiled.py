"""The NumPy functions of measures give the bits of the compiled ones, and are used where Numba is not loaded."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qdrank.measures import kernels, uncompiled
from qdrank.measures.definitions import gains


@st.composite
def rankings(draw):
    sizes = draw(st.lists(st.integers(0, 9), min_size=1, max_size=8))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    grades = np.array(draw(st.lists(st.integers(0, 6), min_size=sum(sizes), max_size=sum(sizes))), dtype=np.int64)
    scores = draw(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5, -np.inf]), min_size=sum(sizes), max_size=sum(sizes)))
    missed = np.array(draw(st.lists(st.integers(0, 3), min_size=len(sizes), max_size=len(sizes))), dtype=np.int64)
    return grades, np.array(scores, dtype=np.float64), offsets, missed


@given(rankings(), st.lists(st.sampled_from([1, 2, 3, 5, 12, np.iinfo(np.int64).max]), min_size=1, unique=True))
def test_same_bits_as_the_kernels(case, cutoffs):
    grades, scores, offsets, missed = case
    cutoffs = np.array(sorted(cutoffs), dtype=np.int64)
    tables = gains.exponential(7), gains.log2_next(9)
    ideal = kernels.ideal_grades(grades, offsets, 7)
    for name, arguments in {
        "ranked_rows": (scores, offsets),
        "ideal_grades": (grades, offsets, 7),
        "gain_at": (grades, offsets, *tables, cutoffs),
        "mean_ratio": (grades, offsets, ideal, offsets, *tables),
        "average_precisions": (grades, offsets, missed, cutoffs),
        "reciprocal_ranks": (grades, offsets),
    }.items():
        ours, compiled = getattr(uncompiled, name)(*arguments), getattr(kernels, name)(*arguments)
        assert ours.dtype == compiled.dtype
        np.testing.assert_array_equal(ours, compiled, err_msg=name)
    ranked, first = kernels.ranked_rows(scores, offsets), kernels.first_rows(scores, offsets, 3)
    for a, b in pairwise(offsets):
        np.testing.assert_array_equal(first[a:b][:3], ranked[a:b][:3])
        np.testing.assert_array_equal(np.sort(first[a:b]), np.arange(a, b))


def test_same_bits_on_long_lists():
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 200, 50))]).astype(np.int64)
    grades = rng.integers(0, 5, offsets[-1])
    gain, discount = gains.exponential(5), gains.letor(200)
    ideal = kernels.ideal_grades(grades, offsets, 5)
    arguments = grades, offsets, ideal, offsets, gain, discount
    assert uncompiled.mean_ratio(*arguments).tobytes() == kernels.mean_ratio(*arguments).tobytes()
    cutoffs = np.array([1, 10, 100, np.iinfo(np.int64).max])
    for order in (grades, ideal):
        ours = uncompiled.gain_at(order, offsets, gain, discount, cutoffs)
        assert ours.tobytes() == kernels.gain_at(order, offsets, gain, discount, cutoffs).tobytes()
    none = np.zeros(50, dtype=np.int64)
    ours = uncompiled.average_precisions(grades, offsets, none, cutoffs)
    assert ours.tobytes() == kernels.average_precisions(grades, offsets, none, cutoffs).tobytes()


def test_the_compiler_is_loaded_when_there_is_much_to_measure():
    code = """
import sys
import numpy as np
from qdrank.measures import measure, ranking
y = np.arange(12) % 3
measure(["ap", "ndcg@2/exp"], y, -y, [0, 5, 12])
before = "numba" in sys.modules
ranking._UNCOMPILED_DOCUMENTS = 20
measure(["ap"], y, -y, [0, 5, 12])
print(before, "numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
