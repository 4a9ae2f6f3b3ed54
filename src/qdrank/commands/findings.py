"""``qdrank findings``: the table of what was found, from the claims of a run, in the page of each study."""

from __future__ import annotations

import argparse
from pathlib import Path

from qdrank.errors import InputError
from qdrank.store.atomic import write_text
from qdrank.studies import STUDIES

BEGIN = "<!-- findings: written by `qdrank findings`; do not edit -->"
END = "<!-- end of findings -->"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "claims", type=Path, nargs="?", default=Path("results/claims.parquet"), help="of a finished run"
    )
    parser.add_argument("--docs", type=Path, default=Path("docs/studies"), help="folder of the studies' pages")


def run(args: argparse.Namespace) -> int:
    """Write the table into every page whose study has claims in the run."""
    from qdrank.figures.tables import markdown
    from qdrank.figures.verdicts import findings
    from qdrank.store import read

    verdicts = read(args.claims, "verdicts")
    for name in STUDIES:
        page, table = args.docs / f"{name}.md", findings(verdicts, name)
        if page.is_file() and len(table):
            write_text(page, with_table(page.read_text(encoding="utf-8"), markdown(table), page))
            print(page)
    return 0


def with_table(text: str, table: str, page: Path) -> str:
    """The page with ``table`` between the two marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise InputError("the page has no place for the table", file=page, fix=f"add the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{table}\n{END}{after}"
