"""``qdrank findings``: write the verdicts of runs as a page for each study."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdrank.errors import InputError
from qdrank.store.atomic import write_text

if TYPE_CHECKING:
    import pyarrow as pa


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "claims", type=Path, nargs="*", default=[Path("results/claims.parquet")], help="of one or more finished runs"
    )
    parser.add_argument(
        "--docs", type=Path, default=Path("docs"), help="folder with ledger.yaml; verdicts/STUDY.md is written there"
    )


def run(args: argparse.Namespace) -> int:
    """Write the verdicts of every study that the runs judge."""
    import yaml

    from qdrank.evaluation.deciding import with_averages
    from qdrank.figures.averages import forest_of_sets
    from qdrank.figures.style import save_figure
    from qdrank.studies import STUDIES

    verdicts = joined_verdicts(args.claims)
    if not (source := args.docs / "ledger.yaml").is_file():
        raise InputError("no such file", file=source, fix="give --docs, the folder docs of a checkout")
    studies = yaml.safe_load(source.read_text(encoding="utf-8"))["studies"]
    _refuse_other_runs(verdicts, studies, args.docs)
    verdicts = with_averages(verdicts)
    pages = {
        name: page(verdicts, name, studies[name]["title"]) for name in sorted(set(verdicts.column("study").to_pylist()))
    }
    for name, text in pages.items():
        path = _page_of(name, args.docs)
        write_text(path, text)
        print(path)
        if _picture(name) in text:
            save_figure(forest_of_sets(verdicts, name, STUDIES[name].main, {}), {"svg": path.with_suffix(".svg")})
    return 0


def _page_of(study: str, docs: Path) -> Path:
    return docs / "verdicts" / f"{study}.md"


def page(verdicts: pa.Table, study: str, title: str) -> str:
    """The page with the verdicts of one study."""
    from qdrank.figures.averages import has_average
    from qdrank.figures.tables import markdown
    from qdrank.figures.verdicts import findings_table
    from qdrank.studies import STUDIES

    drawn = f"{_picture(study)}\n\n" if has_average(verdicts, study, STUDIES[study].main) else ""
    return (
        f"# Verdicts: {title}\n\n"
        f"Every claim of [the study](../studies/{study}.md) on every data set: yes, no, or ? where the data cannot tell, then "
        "the effect; where there is an average over sets, it decides; * is about the simulated worlds that were run, and no others. [Verdicts](../verdicts.md) says how they "
        "come about. Written by `qdrank findings`; do not edit.\n\n"
        f"{made_by(verdicts, study)}\n\n{drawn}{markdown(findings_table(verdicts, study))}"
    )


def _picture(study: str) -> str:
    """The forest plot of the study's main claim, in its page."""
    return f"![The main claim on each independent set, their average, and what a new set would show]({study}.svg)"


def _refuse_other_runs(verdicts: pa.Table, studies: Mapping[str, Any], docs: Path) -> None:
    """Raise unless each study was judged by the configurations that the ledger names for it: by all of them and no other."""
    would, needed = [], set[str]()
    rows = verdicts.select(["study", "configuration"]).to_pylist()
    for study in sorted({row["study"] for row in rows}):
        given = {row["configuration"] for row in rows if row["study"] == study}
        behind = set(studies[study]["grids"]) if study in studies else set()
        if given != {Path(file).name for file in behind}:
            would.append(f"  {_page_of(study, docs)}: verdicts of {_named(behind)} by those of {_named(given)}")
            needed |= behind
    if would:
        problem = "nothing written: these runs are not those behind the pages. They would replace, in"
        fix = f"give claims.parquet of runs of {_named(needed)}; `make findings` makes them"
        raise InputError("\n".join([problem, *would]), file=docs / "ledger.yaml", fix=fix)


def _named(files: Collection[str]) -> str:
    return ", ".join(sorted(files)) or "no configuration"


def joined_verdicts(files: Sequence[Path]) -> pa.Table:
    """Verdicts of several runs on single data sets, in one table: averages are made of all of them together.

    Where an earlier run judged the same claim on the same data set with another configuration, the data set's name is
    followed by the configuration.
    """
    import pyarrow.compute as pc

    from qdrank.evaluation.deciding import SETS, verdicts_table
    from qdrank.store import read

    rows: list[dict[str, Any]] = []
    judged: dict[tuple[str, str, str], str] = {}
    for file in files:
        table = read(file, "verdicts")
        for row in table.filter(pc.not_equal(table.column("analysis"), SETS)).to_pylist():
            first = judged.setdefault((row["study"], row["claim"], row["dataset"]), row["configuration"])
            if first != row["configuration"]:
                row["dataset"] += f" ({row['configuration']})"
            rows.append(row)
    _refuse_twice(rows)
    return verdicts_table(rows)


def _refuse_twice(rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise if two runs have the same configuration: one table cannot show both."""
    seen: set[tuple[str, ...]] = set()
    for row in rows:
        key = tuple(row[name] for name in ("study", "claim", "dataset"))
        if key in seen:
            problem = (
                f"{row['study']} was decided on {row['dataset']} twice by {row['configuration'] or 'one configuration'}"
            )
            raise InputError(problem, fix="give one of the two files")
        seen.add(key)


def made_by(verdicts: pa.Table, study: str) -> str:
    """The commits and configurations that made a study's verdicts, and how many may be wrong by chance, in sentences."""
    from qdrank.evaluation.deciding import verdicts_table
    from qdrank.figures.verdicts import expected_errors

    rows = [row for row in verdicts.to_pylist() if row["study"] == study]
    made = sorted({(row["configuration"], row["commit"] or "unknown") for row in rows if row["configuration"]})
    files = ", ".join(f"`{file}` at commit {commit}" for file, commit in made)
    return f"Made by {files}. {expected_errors(verdicts_table(rows))}"
