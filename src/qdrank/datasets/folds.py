"""Which parts of a data set are for training, validation and test in each fold.

LETOR keeps its data in five parts that rotate: fold i trains on parts i, i+1, i+2, validates on i+3 and tests on
i+4 (wrapping around). Other data come with one fixed split into train, vali and test: one fold. Parts that are drawn may
keep queries of one source (an article, a page, an author) together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.registry import refuse_unknown

ROLES = ("train", "vali", "test")
MIN_PARTS = 3


def fold_names(parts: Iterable[str]) -> list[str]:
    """``fold1`` to ``foldK`` for K rotating parts (S1 to SK), ``fold1`` alone for a fixed split."""
    return [f"fold{i + 1}" for i in range(len(_rotating(set(parts))))] or ["fold1"]


def roles(parts: Iterable[str], fold: str) -> dict[str, list[str]]:
    """Parts by role in a fold; training parts in LETOR's order, in which they are concatenated.

    Examples
    --------
    >>> roles(["S1", "S2", "S3", "S4", "S5"], "fold4")
    {'train': ['S4', 'S5', 'S1'], 'vali': ['S2'], 'test': ['S3']}
    """
    names = set(parts)
    known = fold_names(names)
    refuse_unknown("fold", fold, known)
    circle = _rotating(names)
    if not circle:
        return {role: [role] if role in names else [] for role in ROLES}
    start = known.index(fold)
    turned = circle[start:] + circle[:start]
    return {"train": turned[:-2], "vali": [turned[-2]], "test": [turned[-1]]}


def _rotating(parts: set[str]) -> list[str]:
    """Rotating parts in order; none for a fixed split."""
    if {"train", "test"} <= parts <= set(ROLES):
        return []
    matches = [re.fullmatch(r"([A-Za-z]+)([1-9][0-9]*)", part) for part in parts]
    numbers = {int(match[2]): match[0] for match in matches if match}
    alike = len({match[1] for match in matches if match}) == 1 and len(numbers) == len(parts)
    if not alike or len(parts) < MIN_PARTS or set(numbers) != set(range(1, len(parts) + 1)):
        raise InputError(
            "the parts make no folds",
            found=", ".join(sorted(parts)),
            fix="call them train, vali (if any) and test, or S1, S2, S3 and so on (three or more, they rotate)",
        )
    return [numbers[i] for i in sorted(numbers)]


def assign_parts(
    query_id: Sequence[str] | NDArray[np.object_],
    *,
    seed: int,
    n_parts: int = 5,
    source: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Part S1 to S``n_parts`` of every query, by a seeded permutation; sizes differ by one at most.

    The queries are sorted first, so that their order in a file does not matter. With the ``source`` of every query, those
    of one source stay together: the largest source first, each goes to the part with the fewest queries so far.
    """
    names = sorted(set(query_id))
    if n_parts < MIN_PARTS:
        problem = f"{len(names)} queries cannot be put into {n_parts} parts"
        raise InputError(problem, fix=f"ask for {MIN_PARTS} parts or more: train, vali and test")
    if len(names) < n_parts:
        raise InputError(
            f"{len(names)} judged {'query' if len(names) == 1 else 'queries'} cannot be put into {n_parts} parts",
            fix=f"give at least {2 * n_parts} judged queries: every part is the test of a fold, and a test needs two",
        )
    order = np.random.default_rng(seed).permutation(len(names)).tolist()
    if source is None:
        return {names[query]: f"S{place % n_parts + 1}" for place, query in enumerate(order)}
    return _parts_by_source([names[query] for query in order], source, n_parts)


def _parts_by_source(names: Sequence[str], source: Mapping[str, str], n_parts: int) -> dict[str, str]:
    together: dict[str, list[str]] = {}
    for name in names:
        together.setdefault(source[name], []).append(name)
    if len(together) < n_parts:
        fix = "give queries of more sources, or leave `folds: {by: source}` out"
        raise InputError(f"queries of {len(together)} sources cannot be put into {n_parts} parts", fix=fix)
    parts: list[list[str]] = [[] for _ in range(n_parts)]
    for of_source in sorted(together.values(), key=len, reverse=True):  # stable: equal sizes in the order drawn
        min(parts, key=len).extend(of_source)
    return {name: f"S{i + 1}" for i, part in enumerate(parts) for name in part}
