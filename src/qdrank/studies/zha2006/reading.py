"""Rows of the study's own tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from qdrank.figures.numbers import where
from qdrank.layout import FloatArray
from qdrank.studies.zha2006.options import Cell


def measured(cells: pd.DataFrame) -> pd.DataFrame:
    """Test rows of the table of cells, further fits under the name of their kind, ``method``, with their number, ``fit``."""
    rows = where(cells, role="test")
    kinds = rows["kind"].str.extract(r"^(?P<method>.*?)(?:, fit (?P<fit>\d+))?$").fillna({"fit": "0"})
    return rows.join(kinds.astype({"fit": int}), validate="one_to_one")


def in_cell(rows: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    """Rows with these penalties on alpha and beta."""
    return where(rows, lam_alpha=cell[0], lam_beta=cell[1])


def deviation(alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """How far maps are from the identity: ``|alpha^0.1 - 1| + |beta / 10|`` (Zha 2006, table 7)."""
    return np.asarray(np.abs(alpha**0.1 - 1) + np.abs(beta / 10))
