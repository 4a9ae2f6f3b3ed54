"""``qdrank findings``: the table of what was found, from the claims of a run, in the page of each study."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qdrank.errors import InputError
from qdrank.store.atomic import write_text
from qdrank.studies import STUDIES

if TYPE_CHECKING:
    import pyarrow as pa

BEGIN = "<!-- findings: written by `qdrank findings`; do not edit -->"
END = "<!-- end of findings -->"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "claims", type=Path, nargs="*", default=[Path("results/claims.parquet")], help="of one or more finished runs"
    )
    parser.add_argument("--docs", type=Path, default=Path("docs/studies"), help="folder of the studies' pages")


def run(args: argparse.Namespace) -> int:
    """Write the table into every page whose study has claims in the runs."""
    from qdrank.figures.tables import markdown
    from qdrank.figures.verdicts import findings_table

    verdicts = joined_verdicts(args.claims)
    for name in STUDIES:
        page, table = args.docs / f"{name}.md", findings_table(verdicts, name)
        if page.is_file() and len(table):
            write_text(page, with_table(page.read_text(encoding="utf-8"), markdown(table), page))
            print(page)
    return 0


def joined_verdicts(files: Sequence[Path]) -> pa.Table:
    """Verdicts of several runs; a claim may be judged on a data set by one of them only."""
    import pyarrow as pa

    from qdrank.store import read

    tables = {file: read(file, "verdicts") for file in files}
    judged: dict[tuple[str, str, str], Path] = {}
    for file, table in tables.items():
        for row in table.select(["study", "claim", "dataset"]).to_pylist():
            first = judged.setdefault((row["study"], row["claim"], row["dataset"]), file)
            if first != file:
                problem = f"{row['study']} was judged on {row['dataset']} in {first} too"
                raise InputError(problem, file=file, fix="give one of the two files")
    return pa.concat_tables(list(tables.values()))


def with_table(text: str, table: str, page: Path) -> str:
    """The page with ``table`` between the two marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise InputError("the page has no place for the table", file=page, fix=f"add the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{table}\n{END}{after}"
