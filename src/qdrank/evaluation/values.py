"""Values of a measure by query and fit: of one ranker, or differences of two.

Frames have a row for each method, or other group, query and fit; the column ``fit`` may lack where everything is fitted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.evaluation.pairs import Pairs
from qdrank.layout import FloatArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Values:
    """Values of queries, with each query's id and fold, so that anyone can analyse them again.

    Attributes
    ----------
    value : (n_queries, n_fits), from (n_queries,) where there is one fit
    query_id : (n_queries,) or one for all; "" where a value belongs to no single query
    fold : (n_queries,) or one for all; the fold in which the query was a test query, "" likewise
    """

    value: FloatArray
    query_id: NDArray[Any]
    fold: NDArray[Any]

    def __init__(self, value: ArrayLike, query_id: ArrayLike = "", fold: ArrayLike = "") -> None:
        values = np.asarray(value, dtype=np.float64)
        if values.ndim not in (1, 2):
            raise InputError(f"values are by query, or by query and fit, not of shape {values.shape}")
        named = {"value": values if values.ndim == 2 else values[:, None]}
        for name, texts in (("query_id", query_id), ("fold", fold)):
            try:
                named[name] = np.broadcast_to(np.asarray(texts, dtype=object), len(values))
            except ValueError:
                raise InputError("values need as many query ids and folds as queries") from None
        vars(self).update(named)

    @classmethod
    def of(cls, frame: pd.Series | pd.DataFrame) -> Values:
        """From values by ``query_id`` and ``fold``, with a column for each fit if there are several."""
        return cls(frame.to_numpy(), *(frame.index.get_level_values(name) for name in ("query_id", "fold")))


def cube(values: pd.DataFrame, by: Sequence[str], measure: str) -> tuple[pd.DataFrame, pd.Index[str], FloatArray]:
    """Groups in order of appearance, query ids, ascending, and values, (n_queries, n_fits, n_groups).

    A group that is fitted once has the same values in every fit. Raises `InputError` if two groups have other queries, or
    different numbers of fits above one.
    """
    groups = values[list(by)].drop_duplicates(ignore_index=True)
    number = values.groupby(list(by), sort=False, observed=True).ngroup()
    named = values[["query_id", measure]].assign(group=number, fit=values.get("fit", 0))
    wide = named.pivot(index="query_id", columns=["group", "fit"], values=measure).sort_index(axis=1)
    each: list[FloatArray] = [np.asarray(wide[group], dtype=np.float64) for group in range(len(groups))]
    fits = max((one.shape[1] for one in each), default=1)
    for group, one in zip(groups.itertuples(index=False), each, strict=True):
        if np.isnan(one).any():
            raise InputError(f"{', '.join(map(str, group))}: not measured on the same queries as the others")
        if one.shape[1] not in (1, fits):
            raise InputError(f"{', '.join(map(str, group))}: {one.shape[1]} fits, others have {fits}")
    return groups, wide.index, np.stack([np.broadcast_to(one, (len(wide), fits)) for one in each], axis=2)


def pairs(values: pd.DataFrame, a: str, b: str, measure: str) -> Pairs:
    """Values of two methods on the same queries, with their differences in every fit."""
    groups, ids, of = cube(values[values["method"].isin([a, b])], ["method"], measure)
    first, second = (of[:, :, groups["method"].tolist().index(name)] for name in (a, b))
    return Pairs(ids.to_numpy(object), first, second)


def difference(values: pd.DataFrame, a: str, b: str, measure: str) -> Values:
    """Method ``a`` minus method ``b`` on every query, in every fit."""
    apart, fold = pairs(values, a, b, measure), values.drop_duplicates("query_id").set_index("query_id")["fold"]
    return Values(apart.by_fit, apart.query, fold[apart.query])
