"""What reading LETOR text gives: rows in chunks, and the form of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a file.

    Attributes
    ----------
    X : (n_rows, n_features) float32
    y : (n_rows,) int8
    query_id : names of the n_queries queries, in order
    offsets : (n_queries + 1,) int64; query ``i`` owns the rows ``offsets[i]`` to ``offsets[i + 1] - 1``
    doc_id : (n_rows,) Arrow strings
    continues : whether the first query began in the chunk before
    """

    X: NDArray[np.float32]
    y: NDArray[np.int8]
    query_id: list[str]
    offsets: NDArray[np.int64]
    doc_id: pa.StringArray
    continues: bool


@dataclass(frozen=True)
class Form:
    """Number of features, and whether every row must have them all."""

    width: int
    dense: bool
