"""All methods of a data set, best first, and what the lead of the best is worth; and the first stages of all text sets.

The best is chosen on the queries that test it, so the lead over every other of k methods is decided at the level alpha / (k - 1).
Then the method that is truly best is shown to be behind with probability alpha at most, whichever was chosen: that takes one of
k - 1 others to be shown above it. So with confidence 1 - alpha it is the first, or one that is not shown to be behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import Claim, Declaration
from qdrank.evaluation.values import observe
from qdrank.figures.method_tables import differences
from qdrank.figures.numbers import bca_ends, chosen, numbers
from qdrank.figures.tables import write_table
from qdrank.measures import NDCG_IN_WORDS
from qdrank.rankers import REFERENCE
from qdrank.store import read

_FROM_FIRST = "MAP from the first stage"
#: The difference in MAP that counts, as in the claims of the studies.
MARGIN = 0.005
#: Columns of the table of methods: how far the first method is ahead of this one, the verdict on "it is better", and why.
LEAD, BETTER, REASON = "lead of the best", "the best is better", "reason"


def methods_table(
    measures: pa.Table, labels: Mapping[str, str], convention: str, interval: Mapping[str, Any]
) -> pd.DataFrame:
    """One row per method of the artifact ``measures``, by decreasing MAP over all test queries, each mean with its interval.

    The ends of an interval are missing where the queries are too few for one (`table_ends`). The last columns are about the
    lead of the first method over each other; its interval has the corrected level.
    """
    values = measures.to_pandas()
    means = _means(values, convention, interval)
    means.insert(1, "label", means["method"].replace(labels))
    means = means.sort_values(["MAP", "method"], ascending=[False, True])
    leads = _leads(values, means["method"].tolist())
    return means.merge(leads, on="method", how="left", validate="one_to_one")


def _leads(values: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """What is known of the lead of the first method over each other one, decided together as a family of claims."""
    best, *others = methods
    about: Any = {"expected": "", "kind": "superiority", "margin": MARGIN, "measure": "ap", "family": LEAD}
    claims = tuple(Claim(name, f"{best} beats {name}", {LEAD: (best, name)}, **about) for name in others)
    observations = {"": observe(claims, values, {})}
    decided: pd.DataFrame = decide(Declaration("", "", claims), observations, dataset="").to_pandas()
    columns = {"effect": LEAD, "low": f"{LEAD}, low", "high": f"{LEAD}, high", "verdict": BETTER, "reason": REASON}
    return decided.rename(columns={"claim": "method"} | columns)[["method", *columns.values()]]


def _means(values: pd.DataFrame, convention: str, interval: Mapping[str, Any]) -> pd.DataFrame:
    """MAP and NDCG of each method with their intervals."""
    parts = []
    for shown, name in (("MAP", "ap"), (f"NDCG@10/{convention}", f"ndcg@10/{convention}")):
        rows = numbers(values, ["method"], name, interval, ends=bca_ends).set_index(["method", "queries"])
        parts.append(rows.rename(columns={"mean": shown, "low": f"{shown}, low", "high": f"{shown}, high"}))
    return pd.concat(parts, axis=1).reset_index()


def tabulate_methods(
    files: Mapping[str, str],
    out: Mapping[str, str],
    *,
    title: str,
    labels: Mapping[str, str],
    convention: str,
    interval: Mapping[str, Any],
) -> None:
    """Write the table of all methods of a data set."""
    table = methods_table(read(files["measures"], "measures"), labels, convention, interval)
    said = f"NDCG@k/{convention}: {NDCG_IN_WORDS[convention]}. A lead counts from {MARGIN:g}; all leads are tested together."
    write_table(table, out, title=f"{title}: all methods", folded=[REASON], said=said)


def first_stages_table(
    measures: Mapping[str, pd.DataFrame],
    labels: Mapping[str, str],
    convention: str,
    depth: int,
    interval: Mapping[str, Any],
) -> pd.DataFrame:
    """First stages and one learned model on every text set, each with its difference in MAP from the first stage as given.

    Parameters
    ----------
    measures : by title of the data set, values of the methods in ``labels``
    convention : that of NDCG
    depth : documents that every method ranks
    """
    columns = {"difference": _FROM_FIRST, "low": f"{_FROM_FIRST}, low", "high": f"{_FROM_FIRST}, high"}
    parts = []
    for title, of_set in measures.items():
        values = chosen(of_set, labels)
        apart = differences(values, REFERENCE, "ap", interval).drop(REFERENCE).rename(columns=columns)
        means = _means(values, convention, interval).set_index("method").join(apart[[*columns.values()]])
        means = means.rename(index=labels).reset_index()
        parts.append(pd.DataFrame({"data set": title, "candidates": depth, **means}))
    return pd.concat(parts)


def tabulate_first_stages(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    *,
    titles: Sequence[str],
    labels: Mapping[str, str],
    convention: str,
    depth: int,
    interval: Mapping[str, Any],
) -> None:
    """Write the table of the first stages; ``titles`` are those of the data sets, in order."""
    measures = dict(zip(titles, (read(path, "measures").to_pandas() for path in files["measures"]), strict=True))
    table = first_stages_table(measures, labels, convention, depth, interval)
    write_table(table, out, title=f"First stages of all text sets, {depth} documents per query")
