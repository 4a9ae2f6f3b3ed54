"""The same methods in two configurations, on the same queries: the first minus the second.

    python bench/two_findings.py runs/dense-neighbours/results/findings/geng2008.parquet runs/sources/results/findings/geng2008.parquet \\
      knn-online knn-offline1 knn-offline2

Intervals hold one by one at 95 %, by source where the second file knows sources; divide ``--level`` by the number of methods
to correct for them. Queries that only one file has are counted and left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from qdrank.evaluation.estimates import over_refits
from qdrank.evaluation.values import difference
from qdrank.store import read


def values_of(path: Path, label: str) -> pd.DataFrame:
    """Values by method, named after the file."""
    frame = read(path, "findings").to_pandas().astype({"value": float})
    return frame[frame["method"] != ""].assign(of=label)


def row(dataset: str, method: str, measure: str, both: pd.DataFrame, level: float) -> str:
    """A row of the table: the difference of one method on one data set."""
    asked = both.groupby("query_id")["of"].transform("nunique") == 2
    left_out = both.loc[~asked, "query_id"].nunique()
    kept = both[asked].assign(method=both["of"]).rename(columns={"value": measure})
    of = difference(kept, "a", "b", measure)
    known = kept[kept["of"] == "b"].drop_duplicates("query_id").set_index("query_id")
    source = known["source"][of.query_id].to_numpy(dtype=str) if "source" in known else None
    one = over_refits(of.value, source if source is not None and all(source) else None)
    ends = [one.interval(level), one.bootstrap(level)]
    low, high = min(pair[0] for pair in ends), max(pair[1] for pair in ends)
    n = f"{len(of.query_id):,}" + (f" ({left_out} left out)" if left_out else "")
    means = " | ".join(f"{kept.loc[kept['of'] == name, measure].mean():.4f}" for name in "ab")
    return f"| {dataset} | {method} | {measure} | {means} | {one.mean:+.4f} [{low:+.4f}, {high:+.4f}] | {n}, {one.n:,} units |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("methods", nargs="+")
    parser.add_argument("--level", type=float, default=0.05)
    args = parser.parse_args()
    both = pd.concat([values_of(args.first, "a"), values_of(args.second, "b")], ignore_index=True)
    print(
        "| data set | method | measure | first | second | first - second | queries |\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    for (dataset, method, measure), rows in both.groupby(["dataset", "method", "measure"], sort=False):
        if method in args.methods and rows["of"].nunique() == 2:
            print(row(dataset, method, measure, rows, args.level))


if __name__ == "__main__":
    main()
