import json
from dataclasses import dataclass, field
from math import inf
from typing import Any, ClassVar

import numpy as np
import pytest

from qdrank.learners.parameters import fitted_names
from qdrank.rankers.stored import from_state_table, state_table
from qdrank.store import read, write


@dataclass(kw_only=True, eq=False)
class Box:
    NAME: ClassVar[str] = "box"

    inside: Any
    fitted_: Any = field(init=False, default=None)


def test_parameters_private_fields_and_fields_that_are_made_again_are_not_stored():
    @dataclass(kw_only=True, eq=False)
    class Other(Box):
        _cache: Any = field(init=False, default=None)
        again_: Any = field(init=False, default=None, metadata={"stored": False})

    assert fitted_names(Other(inside=1)) == ["fitted_"]


def back(value: Any, path) -> Any:
    """The value after it has been stored and read."""
    box = Box(inside=value)
    box.fitted_ = value
    write(path, "rankers", state_table(box))
    again = from_state_table(read(path, "rankers"), {"box": Box}.__getitem__)
    assert type(again.inside) is type(again.fitted_)
    return again.fitted_


@pytest.mark.parametrize(
    "array",
    [
        np.array([0.1, -inf, np.nan, 1e300]),
        np.arange(6, dtype=np.float32).reshape(2, 3) / 7,
        np.arange(24, dtype=np.int64).reshape(2, 3, 4),
        np.array([2**40, -(2**53)]),
        np.array([[1, -1], [2**31 - 1, -(2**31)]], dtype=np.int32),
        np.array([True, False]),
        np.zeros((0, 5)),
        np.zeros(0, dtype=np.int32),
        np.array(["a", "", "ä"], dtype=object),
        np.zeros(0, dtype=object),
    ],
    ids=str,
)
def test_arrays_keep_their_shape_their_type_and_their_bits(array, tmp_path):
    again = back(array, tmp_path / "box.parquet")
    assert (again.shape, again.dtype) == (array.shape, array.dtype)
    np.testing.assert_array_equal(again, array)


def test_values_may_be_nested(tmp_path):
    value = {"text": "tree\nleaf", "none": None, "far": inf, "pair": (1, Box(inside=np.float64(0.1))), "on": True}
    again = back(value, tmp_path / "box.parquet")
    assert (again["text"], again["none"], again["far"], again["on"]) == ("tree\nleaf", None, inf, True)
    assert again["pair"][0] == 1
    assert again["pair"][1].inside == 0.1


def test_whole_numbers_take_half_the_room():
    small, large = (state_table(Box(inside=np.full(10, n))) for n in (1, 2**40))
    assert sum(map(len, small.column("wholes").to_pylist())) == 10
    assert sum(map(len, large.column("wholes").to_pylist())) == 0


def test_what_is_not_an_array_is_one_text_of_json():
    table = state_table(Box(inside=3))
    assert table.num_rows == 1
    assert json.loads(table.column("text")[0].as_py())["params"] == {"inside": 3}
