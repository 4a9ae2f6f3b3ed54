"""Settings of simulated data that a configuration changes: what fits is taken, what does not is named with an example."""

import pytest

from qdrank.datasets.simulated.known import AffineCopies
from qdrank.datasets.simulated.settings import WebSimulation
from qdrank.errors import InputError


def test_what_fits_is_changed_and_all_else_stays():
    changed = AffineCopies().changed({"features": 7, "noise": 1, "documents": [2, 3]})
    assert (changed.features, changed.noise, changed.documents, changed.shift) == (7, 1, (2, 3), 2.0)
    assert AffineCopies().changed({}) == AffineCopies()


@pytest.mark.parametrize(
    ("changes", "problem", "fix"),
    [
        ({"sights": 7}, "unknown setting 'sights'", "sites"),
        ({"sites": 7.5}, "sites: Input should be a valid integer", "for instance sites: 300"),
        ({"sites": True}, "sites: Input should be a valid integer", "for instance sites: 300"),
        ({"noise": "1"}, "noise: Input should be a valid number", "for instance noise: 1.1"),
        ({"one_rule": 1}, "one_rule: Input should be a valid boolean", "for instance one_rule: false"),
        ({"seed": -1}, "seed: Input should be greater than or equal to 0", "for instance seed: 0"),
        ({"seed": 1.0}, "seed: Input should be a valid integer", "for instance seed: 0"),
        ({"seed": None}, "seed: Input should be a valid integer", "for instance seed: 0"),
    ],
)
def test_what_does_not_fit_is_named_with_an_example(changes, problem, fix):
    with pytest.raises(InputError, match=rf"{problem}[\s\S]*{fix}"):
        WebSimulation().changed(changes)


@pytest.mark.parametrize("documents", [[1], [1, 2.0], 9, [0, 2]])
def test_a_range_is_two_whole_numbers_that_rise(documents):
    with pytest.raises(InputError, match=r"documents: [\s\S]*for instance documents: \[15, 30\]"):
        AffineCopies().changed({"documents": documents})
