"""A fault is planted where its function has moved to, and nowhere else."""

import pytest

from tests.faults.order import distances
from tests.faults.planted import Fault

TEXT = '''"""Words é."""
def other(x):
    return x < 1  # as it was

class Rows:
    def kept(self, x):
        """Of the list."""
        if x < 0: raise ValueError(f"{x < 1}")
        return [é for é in x
                if (x < 1) or x < 1]
'''


def test_one_expression_of_one_function_is_changed() -> None:
    fault = Fault("01", "off by one", "m", "Rows.kept", "x < 1", "x <= 1", nth=2)
    assert fault.planted("# moved\n" + TEXT) == "# moved\n" + TEXT.replace("or x < 1", "or (x <= 1)")


@pytest.mark.parametrize(
    ("function", "old", "nth"), [("kept", "x < 1", 1), ("Rows.kept", "x > 1", 1), ("other", "x < 1", 2)]
)
def test_a_fault_without_a_place_is_refused(function: str, old: str, nth: int) -> None:
    with pytest.raises(LookupError, match=function):
        Fault("01", "off by one", "m", function, old, "x <= 1", nth).planted(TEXT)


def test_near_is_what_imports_directly() -> None:
    assert distances({"a": set(), "b": {"a"}, "c": {"b", "a"}, "d": {"b"}, "e": set()}, "a") == {
        "a": 0,
        "b": 1,
        "c": 1,
        "d": 2,
    }
