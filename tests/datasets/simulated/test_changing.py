"""Settings of simulated data that a configuration changes: what fits is taken, what does not is named with an example."""

from dataclasses import dataclass

import pytest

from qdrank.datasets.simulated.settings import changed_settings, checked_seed
from qdrank.errors import InputError


@dataclass(frozen=True)
class Settings:
    queries: int = 100
    noise: float = 0.5
    links: bool = True
    documents: tuple[int, int] = (15, 30)


def test_what_fits_is_changed_and_all_else_stays():
    changed = changed_settings(Settings(), {"queries": 7, "noise": 1, "links": False, "documents": [2, 3]})
    assert (changed.queries, changed.noise, changed.links, list(changed.documents)) == (7, 1, False, [2, 3])
    assert changed_settings(Settings(), {}) == Settings()


@pytest.mark.parametrize(
    ("changes", "problem", "fix"),
    [
        ({"querys": 7}, "unknown setting 'querys'", "queries"),
        ({"queries": 1.5}, "queries must be a whole number", "for instance queries: 100"),
        ({"queries": True}, "queries must be a number", "for instance queries: 100"),
        ({"noise": float("nan")}, "noise must be a number", "for instance noise: 0.5"),
        ({"noise": "much"}, "noise must be a number", "for instance noise: 0.5"),
        ({"links": 1}, "links must be true or false", "for instance links: true"),
        ({"documents": [1]}, "documents must be a list of 2 whole numbers", r"for instance documents: \[15, 30\]"),
        ({"documents": [1, 2.0]}, "documents must be a list of 2 whole numbers", r"for instance documents: \[15, 30\]"),
    ],
)
def test_what_does_not_fit_is_named_with_an_example(changes, problem, fix):
    with pytest.raises(InputError, match=rf"{problem}[\s\S]*{fix}"):
        changed_settings(Settings(), changes)


@pytest.mark.parametrize("seed", [-1, 1.0, True, "2", None])
def test_a_seed_is_a_whole_number(seed):
    assert checked_seed(0) == 0
    with pytest.raises(InputError, match="seed must be a whole number, 0 or more"):
        checked_seed(seed)
