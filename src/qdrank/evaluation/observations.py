"""Observations for claims: values per query, with the query's id and fold, so that anyone can analyse them again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from qdrank.errors import InputError
from qdrank.evaluation.declared import Claim
from qdrank.evaluation.values import Values, difference
from qdrank.store.schemas import SHAPES

Observations = dict[str, dict[str, Values]]
"""Contrasts by the name of the claim and of the contrast."""


def observe(claims: Iterable[Claim], values: pd.DataFrame, own: Observations) -> Observations:
    """Differences of the methods that claims compare, where both were measured, and a study's ``own`` values for the others."""
    run = set(values["method"])
    compared = {
        claim.name: {
            name: difference(values, *pair, claim.measure) for name, pair in claim.pairs.items() if run.issuperset(pair)
        }
        for claim in claims
    }
    return {name: contrasts for name, contrasts in (compared | own).items() if contrasts}


def check_observations(table: pa.Table) -> Observations:
    """Values of checks of an implementation, from a table of check, fold and value."""
    checks = table.to_pandas().groupby("check", sort=False)
    return {name: {"value": Values(of["value"], "", of["fold"])} for name, of in checks}


def observations_table(observations: Observations) -> pa.Table:
    """The artifact ``observations``: claim, contrast, fold, query_id, fit, value."""
    schema = SHAPES["observations"].schema({})
    parts = [schema.empty_table()]
    for claim, contrasts in observations.items():
        for name, values in contrasts.items():
            n, fits = values.value.shape
            columns: dict[str, Any] = {"claim": [claim] * (n * fits), "contrast": [name] * (n * fits)}
            columns |= {"fold": values.fold.repeat(fits), "query_id": values.query_id.repeat(fits)}
            columns |= {"fit": np.tile(np.arange(fits), n), "value": values.value.ravel()}
            parts.append(pa.table(columns, schema))
    return pa.concat_tables(parts).combine_chunks()


def load_observations(table: pa.Table) -> Observations:
    """Observations from the artifact ``observations``, claims and contrasts in the order of the rows.

    Raises `InputError` if a query lacks a fit: a mean over other fits for every query would mix the two sources of spread.
    """
    contrasts: Observations = {}
    for (claim, name), rows in table.to_pandas().groupby(["claim", "contrast"], sort=False):
        values = Values(rows["value"], rows["query_id"], rows["fold"])
        if rows["fit"].any():
            by_fit = rows.pivot(index=["query_id", "fold"], columns="fit", values="value")
            if by_fit.size != len(rows):
                raise InputError(f"{claim}, {name}: a query has fewer fits than others", fix="give one of every fit")
            values = Values.of(by_fit.loc[[*rows[["query_id", "fold"]].drop_duplicates().itertuples(index=False)]])
        contrasts.setdefault(claim, {})[name] = values
    return contrasts
