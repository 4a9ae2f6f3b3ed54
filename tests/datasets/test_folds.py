from collections import Counter

import pytest

from qdrank.datasets.folds import assign_parts, fold_names, roles
from qdrank.errors import InputError

FIVE = ["S1", "S2", "S3", "S4", "S5"]

# As the publisher's package has them.
ROTATION = {
    "fold1": ("S1 S2 S3", "S4", "S5"),
    "fold2": ("S2 S3 S4", "S5", "S1"),
    "fold3": ("S3 S4 S5", "S1", "S2"),
    "fold4": ("S4 S5 S1", "S2", "S3"),
    "fold5": ("S5 S1 S2", "S3", "S4"),
}


@pytest.mark.parametrize("fold", ROTATION)
@pytest.mark.parametrize("parts", [FIVE, FIVE[::-1], FIVE * 2])
def test_rotation(fold, parts):
    train, vali, test = (names.split() for names in ROTATION[fold])
    assert roles(parts, fold) == {"train": train, "vali": vali, "test": test}


def test_names_of_folds():
    assert fold_names(FIVE) == list(ROTATION)
    assert fold_names(["train", "vali", "test"]) == ["fold1"]
    assert fold_names([f"A{i}" for i in range(1, 11)]) == [f"fold{i}" for i in range(1, 11)]


def test_ten_parts_turn_in_order_of_number():
    assert roles([f"S{i}" for i in range(1, 11)], "fold9")["train"] == ["S9", "S10", *(f"S{i}" for i in range(1, 7))]


def test_fixed_split():
    assert roles(["test", "vali", "train"], "fold1") == {"train": ["train"], "vali": ["vali"], "test": ["test"]}
    assert roles(["train", "test"], "fold1") == {"train": ["train"], "vali": [], "test": ["test"]}


@pytest.mark.parametrize(
    "parts", [[], ["train"], ["train", "dev", "test"], ["S1", "S2"], ["S1", "S2", "S4"], ["S1", "A2", "S3"], ["S0"]]
)
def test_parts_that_make_no_folds(parts):
    with pytest.raises(InputError, match="make no folds"):
        fold_names(parts)


def test_unknown_fold():
    with pytest.raises(InputError, match="did you mean fold"):
        roles(FIVE, "fold6")


def test_every_query_gets_a_part_and_sizes_are_even():
    parts = assign_parts([f"q{i}" for i in range(103)], seed=1)
    assert len(parts) == 103
    assert sorted(Counter(parts.values()).values()) == [20, 20, 21, 21, 21]


def test_parts_depend_on_the_seed_and_not_on_the_order():
    queries = [f"q{i}" for i in range(50)]
    assert assign_parts(queries, seed=1) == assign_parts(queries[::-1] + queries, seed=1)
    assert assign_parts(queries, seed=1) != assign_parts(queries, seed=2)
    # Drawn once and written down: another NumPy must not move the folds.
    assert [assign_parts(queries, seed=0)[f"q{i}"] for i in range(8)] == FIRST_EIGHT


FIRST_EIGHT = ["S3", "S1", "S5", "S2", "S2", "S1", "S5", "S3"]


@pytest.mark.parametrize(("n", "n_parts"), [(4, 5), (10, 2)])
def test_too_few_queries_or_parts(n, n_parts):
    with pytest.raises(InputError, match="cannot be put"):
        assign_parts([str(i) for i in range(n)], seed=0, n_parts=n_parts)
