"""What a run comes to, as text that JSON can keep.

Names are those of data sets, folds, methods, tables and claims, so that results can be compared after files were redesigned. Only the
jobs and the digests of files are about paths.
"""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, TypedDict

import pandas as pd

import qdrank
from qdrank.store import read
from qdrank.store.manifest import digests
from qdrank.store.schemas import VERDICT_FIGURES
from qdrank.studies import timed_outputs

PROJECT = Path(__file__).resolve().parents[2]
CONFIGS = {"tiny": PROJECT / "tests/configs/tiny.yaml", "first": PROJECT / "config/first.yaml"}
SHARDS = (1, 3)
MOST_ROWS = 100
_VERDICT = ["verdict", "measure", "margin", "n", "fits", *VERDICT_FIGURES]
#: These, and findings, name the commit or the path of the configuration.
_OF_THE_PLACE = {"claims.parquet", "claims.html", "config.yaml"}


class Record(TypedDict):
    """What a run comes to."""

    tables: dict[str, list[str]]
    """Tables, numbers behind figures, and verdicts: how many rows and missing values; columns; then the rows, tabs between cells."""
    jobs: dict[str, dict[str, list[str]]]
    """Inputs of each job, by its outputs; together those that it has with the same numbers of shards."""
    exact: dict[str, dict[str, str]]
    """By type of processor: choices of settings, digests of scores and measures, digests of files."""


def record(name: str, folder: Path) -> Record:
    """The record of the study ``name``, which has been run in ``folder``."""
    results = folder / "results"
    machine = json.loads((results / "manifest.json").read_text(encoding="utf-8"))["machine"]
    exact = {processor_type(machine): choices(results) | contents(results) | files(results)}
    return {"tables": tables(results), "jobs": jobs(CONFIGS[name]), "exact": exact}


def processor_type(machine: dict[str, Any]) -> str:
    """What of a machine decides how results are rounded, in a few words."""
    kernels = {one["kernel"] for one in machine["blas"]}
    return " ".join([machine["architecture"], *machine["vector_instructions"], *sorted(kernels)])


def tables(results: Path) -> dict[str, list[str]]:
    """Every table and figure of a run, and its verdicts."""
    claims = qdrank.results(results).claims()
    names = claims["study"] + ", " + claims["dataset"] + ", " + claims["claim"]
    made = {"verdicts": table(pd.concat([names.rename("claim"), claims[_VERDICT]], axis=1))}
    for kind in ("table", "figure"):
        for path in sorted(results.glob(f"*/{kind}s/*.parquet")):
            rows = table(read(path, kind).to_pandas())
            # Not times, nor what the verdicts say, nor figures that show a table, or many points.
            by_size = path.stem in timed_outputs() or path.stem.endswith("-claims")
            by_size |= kind == "figure" and (len(rows) > MOST_ROWS or f"table {path.stem} of {path.parts[-3]}" in made)
            made[f"{kind} {path.stem} of {path.parts[-3]}"] = rows[:2] if by_size else rows
    return made


def table(frame: pd.DataFrame) -> list[str]:
    """A frame as lines: its size, its columns, its rows."""
    size = f"{len(frame)} rows, {frame.isna().to_numpy().sum()} missing"
    return [size, "\t".join(frame.columns), *("\t".join(map(_text, row)) for row in frame.itertuples(index=False))]


def _text(cell: object) -> str:
    return "" if cell is None or cell != cell else re.sub(r"\s+", " ", str(cell))


def choices(results: Path) -> dict[str, str]:
    """The settings that were chosen, with their values, and how many were tried."""
    made = {}
    for key, tried in qdrank.results(results).choices().groupby(["dataset", "fold", "method"]):
        chosen = tried[tried["chosen"]]
        settings = (f"{setting} {value:.4f}" for setting, value in zip(chosen["setting"], chosen["value"], strict=True))
        made[f"choice of {' '.join(key)}"] = f"{'; '.join(settings)} of {len(tried)}"
    return made


def contents(results: Path) -> dict[str, str]:
    """Digests of the scores of every method, and of its measures in all fits, whatever files hold them."""
    run, made = qdrank.results(results), {}
    for method in run.methods:
        for key, rows in run.scores(method).groupby(["dataset", "fold"]):
            made[f"scores of {' '.join(key)} {method}"] = _digest(rows[["query_id", "doc_id", "score"]])
    for dataset in run.datasets:
        for key, rows in run.measures(dataset, fits=True).groupby(["dataset", "fold", "method"]):
            made[f"measures of {' '.join(key)}"] = _digest(rows.drop(columns=["dataset", "fold", "method"]))
    return made


def _digest(rows: pd.DataFrame) -> str:
    """Digest of rows in any order, numbers to six digits."""
    cells = [
        [f"{cell + 0.0:.6g}" if isinstance(cell, float) else str(cell) for cell in row]
        for row in rows[sorted(rows.columns)].itertuples(index=False)
    ]
    return hashlib.sha256(json.dumps(sorted(cells)).encode()).hexdigest()[:12]


def files(results: Path) -> dict[str, str]:
    """Digests of files, one for all forms of a table or figure."""
    forms = defaultdict(list)
    for name, digest in digests(results, timed_outputs()).items():
        if name not in _OF_THE_PLACE and not name.startswith("findings/"):
            forms[name.rpartition(".")[0]].append(f"{name} {digest}")
    return {f"file {name}": hashlib.sha256("\n".join(of).encode()).hexdigest()[:12] for name, of in forms.items()}


def jobs(config: Path) -> dict[str, dict[str, list[str]]]:
    """Inputs of each job by its outputs, as dry runs in an empty folder have them; together those with the same numbers of shards."""
    planned, made = {}, defaultdict(dict)
    for shards in SHARDS:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "shards.yaml").write_text(f"training: {{shards: {shards}}}\n")
            configs = ("--configfile", str(config), f"{folder}/shards.yaml")
            planned[shards] = jobs_of(snakemake(Path(folder), "--dry-run", "--cores", "1", *configs))
    for outputs, inputs in sorted(job for one in planned.values() for job in one.items()):
        together = [str(shards) for shards, one in planned.items() if one.get(outputs) == inputs]
        made[f"{' and '.join(together)} shards"][outputs] = inputs
    return made


def jobs_of(printed: str) -> dict[str, list[str]]:
    """Inputs of each job by its outputs, from what a dry run printed."""
    blocks = re.split(r"^(?:local)?(?:rule|checkpoint) \w+:$", printed, flags=re.MULTILINE)[1:]
    return {" ".join(_listed(block, "output")): _listed(block, "input") for block in blocks if "    output: " in block}


def _listed(block: str, what: str) -> list[str]:
    found = re.search(rf"^    {what}: (.*)$", block, re.MULTILINE)
    return sorted(path.removeprefix("results/") for path in found[1].split(", ")) if found else []


def snakemake(folder: Path, *arguments: str) -> str:
    """Run the project's workflow in ``folder``; what it printed."""
    command = [sys.executable, "-m", "snakemake", "--directory", str(folder), *arguments]
    ran = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-6000:]
    return ran.stdout
