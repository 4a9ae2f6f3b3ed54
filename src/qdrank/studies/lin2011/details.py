"""Tables beyond the paper's: seeds and settings, clusters that fell back, the controls, the inferred choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.studies.lin2011.methods import PAPER, label
from qdrank.studies.making import Inputs, Shown


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:  # noqa: ARG001
    """All these tables, by id."""
    return {
        "lin-seeds": seeds_table(inputs.table("seeds", "measures"), inputs.tables("choices", "choices")),
        "lin-clusters": clusters_table(inputs.table("clusters", "table")),
        "lin-controls": controls_table(inputs.table("controls", "table")),
        "lin-readings": readings_table(inputs.table("variants", "table")),
    }


def seeds_table(seeds: pa.Table, choices: Sequence[pa.Table]) -> pa.Table:
    """Test MAP of every method and seed, and the settings that validation chose in each fold."""
    means = seeds.group_by(["method", "seed"], use_threads=False).aggregate([("ap", "mean")]).to_pylist()
    chosen: dict[tuple[str, str], list[str]] = {}
    for row in (row for table in choices for row in table.to_pylist() if row["chosen"]):
        seed, _, setting = row["setting"].partition(" ")
        key = (row["method"], seed.removeprefix("seed=")) if seed.startswith("seed=") else (row["method"], "0")
        chosen.setdefault(key, []).append(setting if seed.startswith("seed=") else row["setting"])
    rows = []
    for row in means:
        settings = "; ".join(chosen.get((row["method"], str(row["seed"])), []))
        seed = row["seed"] or None
        rows.append({"method": label(row["method"]), "seed": seed, "MAP": row["ap_mean"], "settings by fold": settings})
    return pa.Table.from_pylist(rows)


def clusters_table(clusters: pa.Table) -> pa.Table:
    """Means over folds and seeds: clusters, how many were empty and how many fell back to the global model, their sizes."""
    keys = ["scheme", "clusters"]
    names = ("empty", "fallback", "queries_mean", "queries_least", "queries_most")
    wanted = [(name, "mean") for name in names] + [("largest_gap", "max")]
    means = clusters.group_by(keys, use_threads=False).aggregate(wanted).sort_by([(key, "ascending") for key in keys])
    labels = ["empty", "without pairs: global model", "queries, mean", "least", "most"]
    columns = {"scheme": means.column("scheme"), "clusters": means.column("clusters")}
    columns |= {text: means.column(f"{name}_mean") for text, name in zip(labels, names, strict=True)}
    return pa.table(columns | {"largest certified gap (1e-6)": np.asarray(means.column("largest_gap_max")) * 1e6})


def controls_table(controls: pa.Table) -> pa.Table:
    """How well the perturbed models match the local ones: means over folds and seeds by number of clusters."""
    names = ("size", "wanted", "reached", "test_local", "test_perturbed", "test_random")
    means = controls.group_by("m", use_threads=False).aggregate([(name, "mean") for name in names])
    means = means.sort_by([("m", "ascending")])
    labels = [
        "size of the perturbation",
        "mean AP of local models, validation",
        "of perturbed models, validation",
        "of local models, test",
        "of perturbed models, test",
        "of models of random clusters, test",
    ]
    columns = {"clusters": means.column("m")}
    return pa.table(columns | {text: means.column(f"{name}_mean") for text, name in zip(labels, names, strict=True)})


def readings_table(variants: pa.Table) -> pa.Table:
    """MAP of each method with one inferred choice read differently, and its difference from the study's readings."""
    means = _variant_means(variants.to_pylist())
    rows = []
    for (choice, value, method), (vali, test) in means.items():
        base = means["", "", method]
        row: dict[str, Any] = {"method": label(method), "choice": choice or "as the study", "read as": value}
        row |= {"validation MAP": vali, "difference (validation)": vali - base[0]}
        rows.append(row | {"test MAP": test, "difference (test)": test - base[1]})
    order = [label(method) for method in PAPER]
    rows.sort(key=lambda row: order.index(row["method"]))
    kinds = [pa.string()] * 3 + [pa.float64()] * 4
    names = [
        "method",
        "choice",
        "read as",
        "validation MAP",
        "difference (validation)",
        "test MAP",
        "difference (test)",
    ]
    return pa.Table.from_pylist(rows, pa.schema(list(zip(names, kinds, strict=True))))


def _variant_means(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Mean over folds and seeds of validation MAP, and test MAP over all queries and seeds."""
    rows_of: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        rows_of.setdefault((row["choice"], row["value"], row["method"]), []).append(row)
    return {
        key: (
            float(np.mean([row["validation"] for row in folds])),
            sum(row["test_sum"] for row in folds) / sum(row["queries"] for row in folds),
        )
        for key, folds in rows_of.items()
    }
