"""Values of a measure by query and fit: of one ranker, or differences of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
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
