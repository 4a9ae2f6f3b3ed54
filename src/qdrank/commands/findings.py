"""``qdrank findings``: write the verdicts of runs as a table into each study's page, and the page of the ledger."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    parser.add_argument("--ledger", action="store_true", help="write the page of the ledger of declarations alone")


def run(args: argparse.Namespace) -> int:
    """Write the page of the ledger, and the table into every page whose study has claims in the runs."""
    _write_ledger(args.docs.parent)
    if args.ledger:
        return 0
    from qdrank.figures.tables import markdown
    from qdrank.figures.verdicts import findings_table

    verdicts = joined_verdicts(args.claims)
    if not any((args.docs / f"{name}.md").is_file() for name in STUDIES):
        raise InputError("no study has a page here", file=args.docs, fix="give --docs, docs/studies of a checkout")
    for name in STUDIES:
        page, table = args.docs / f"{name}.md", findings_table(verdicts, name)
        if page.is_file() and len(table):
            text, before = f"{made_by(verdicts, name)}\n\n{markdown(table)}", page.read_text(encoding="utf-8")
            write_text(page, with_table(before, text, page))
            print(page)
            for file in no_longer(before, text):
                print(f"  {file} made part of the former table; its claims.parquet was not given")
    return 0


def _write_ledger(docs: Path) -> None:
    """The page ``ledger.md`` beside ``ledger.yaml``, where there is one."""
    import yaml

    from qdrank.evaluation.ledger import ledger_page

    if (source := docs / "ledger.yaml").is_file():
        write_text(docs / "ledger.md", ledger_page(yaml.safe_load(source.read_text(encoding="utf-8"))))
        print(docs / "ledger.md")


def joined_verdicts(files: Sequence[Path]) -> pa.Table:
    """Verdicts of several runs in one table.

    Where an earlier run judged the same claim on the same data set with another configuration, the data set's name is
    followed by the configuration.
    """
    from qdrank.evaluation.deciding import verdicts_table
    from qdrank.store import read

    rows: list[dict[str, Any]] = []
    judged: dict[tuple[str, str, str], str] = {}
    for file in files:
        for row in read(file, "verdicts").to_pylist():
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
    made = sorted({(row["configuration"], row["commit"] or "unknown") for row in rows})
    files = ", ".join(f"`{file}` at commit {commit}" for file, commit in made)
    return f"Made by {files}. {expected_errors(verdicts_table(rows))}"


def no_longer(before: str, table: str) -> list[str]:
    """Configurations that made the table of a page ``before``, and not the new one."""
    former = before.partition(BEGIN)[2].strip().partition("\n\n")[0]
    named = [set(re.findall(r"[\w.-]+\.yaml", text)) for text in (former, table.partition("\n\n")[0])]
    return sorted(named[0] - named[1])


def with_table(text: str, table: str, page: Path) -> str:
    """The page with ``table`` between the two marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise InputError("the page has no place for the table", file=page, fix=f"add the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{table}\n{END}{after}"
