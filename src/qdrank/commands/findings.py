"""``qdrank findings``: decide the claims of all studies again, and write a page for each and README's table."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdrank.errors import InputError
from qdrank.registry import refuse_unknown
from qdrank.store.atomic import write_text

if TYPE_CHECKING:
    import pyarrow as pa

#: A place in a page: of a study, all of its claims or those of some patterns; without one, the main claim of every study.
_PLACE = re.compile(
    r"(<!-- `qdrank findings` writes (?:(\w+)(?:: (.+?))? )?from here -->\n).*?(<!-- to here -->\n)", re.DOTALL
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    words = "results/findings/STUDY.parquet of finished runs (default: docs/findings/STUDY/CONFIGURATION.parquet, all of them)"
    parser.add_argument("findings", type=Path, nargs="*", help=words)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a page is not what would be written"
    )
    words = "folder with ledger.yaml; verdicts/STUDY.md and the marked places of studies/*.md are written there, and README.md beside it"
    parser.add_argument("--docs", type=Path, default=Path("docs"), help=words)


def run(args: argparse.Namespace) -> int:
    """Write, or with ``--check`` compare, the pages of every study that has findings."""
    import yaml

    from qdrank.evaluation.deciding import with_averages

    given = [*map(_decided, args.findings)]
    if not (source := args.docs / "ledger.yaml").is_file():
        raise InputError("no such file", file=source, fix="give --docs, the folder docs of a checkout")
    studies = yaml.safe_load(source.read_text(encoding="utf-8"))["studies"]
    verdicts = joined_verdicts(given or map(_decided, _kept(args.docs / "findings", studies)))
    _refuse_other_runs(verdicts, studies, args.docs)
    verdicts = with_averages(verdicts)
    judged = sorted(set(verdicts.column("study").to_pylist()))
    texts = {_page_of(name, args.docs): page(verdicts, name, studies[name]["title"]) for name in judged}
    # Findings that were named may be those of one study: the rows of the others stay.
    summed_up = summary(verdicts, studies) if not given or {*judged} == {*studies} else None
    texts |= dict(_filled(verdicts, summed_up, judged, args.docs))
    if args.check:
        return _compared(texts)
    for path, text in texts.items():
        write_text(path, text)
        print(path)
    _draw(verdicts, judged, args.docs)
    return 0


def _kept(folder: Path, studies: Mapping[str, Any]) -> list[Path]:
    """Findings of every study that has all of its own, in the order in which the ledger names configurations: the first counts."""
    files: list[Path] = []
    for study, of in studies.items():
        named = [folder / study / Path(file).with_suffix(".parquet").name for file in of["grids"]]
        lacking = [path.name for path in named if not path.is_file()]
        files += [] if lacking else named
        if 0 < len(lacking) < len(named):
            print(f"qdrank: {study}: its page waits for {', '.join(lacking)} in {folder / study}", file=sys.stderr)
    if not files:
        raise InputError("no findings", file=folder, fix="make them with `make findings`, or name files")
    return files


def _decided(file: Path) -> pa.Table:
    """Verdicts on single data sets, from a file of findings."""
    from qdrank.evaluation.findings import decided_again
    from qdrank.store import read_about
    from qdrank.studies import STUDIES

    name = read_about(file, "findings")["study"]
    refuse_unknown("study", name, STUDIES)
    return decided_again(file, STUDIES[name].claims, STUDIES[name].across)


def _compared(texts: Mapping[Path, str]) -> int:
    """1 if a page is not as it would be written."""
    other = [path for path, text in texts.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in other:
        print(f"{path}: differs from what the findings say; write it with `qdrank findings`", file=sys.stderr)
    return 1 if other else 0


def _draw(verdicts: pa.Table, judged: Iterable[str], docs: Path) -> None:
    """The forest plot of each study whose main claim has an average."""
    from qdrank.figures.averages import forest_of_sets, has_average
    from qdrank.figures.style import save_figure
    from qdrank.studies import STUDIES

    for name in judged:
        if has_average(verdicts, name, main := STUDIES[name].main):
            picture = _page_of(name, docs).with_suffix(".svg")
            save_figure(forest_of_sets(verdicts, name, main, {}), {"svg": picture})


def summary(verdicts: pa.Table, studies: Mapping[str, Any]) -> str:
    """README's table: of each study the main claim and its average over independent sets; and how many verdicts may be wrong."""
    from qdrank.evaluation.deciding import SETS
    from qdrank.figures.verdicts import averaged, expected_errors
    from qdrank.studies import STUDIES

    lines = ["| study | claim | average, interval, sets | verdict |", "| --- | --- | --- | --- |"]
    rows = {(row["study"], row["claim"], row["analysis"]): row for row in verdicts.to_pylist()}
    judged = {study for study, *_ in rows}
    for name, study in studies.items():
        row = rows.get((name, STUDIES[name].main, SETS))
        none = "too few independent sets for an average" if name in judged else "not all of its runs are made yet"
        said = f"{row['text']} | {averaged(row)} | {row['verdict']}" if row else f"| {none} |"
        lines += [f"| [{study['title']}](docs/studies/{name}.md) | {said} |"]
    return "\n".join([*lines, "", expected_errors(verdicts), ""])


def _filled(
    verdicts: pa.Table, summed_up: str | None, judged: Collection[str], docs: Path
) -> Iterator[tuple[Path, str]]:
    """README, if ``summed_up``, and the pages of studies, with other tables in their places; those of studies without verdicts stay."""
    from qdrank.figures.tables import markdown
    from qdrank.figures.verdicts import claims_table

    def table(place: re.Match[str]) -> str:
        begin, study, patterns, end = place.groups()
        if study is None:
            return place[0] if summed_up is None else begin + summed_up + end
        if study not in judged:
            return place[0]
        return begin + markdown(claims_table(verdicts, study, (patterns or "*").split(", "))) + end

    for path in (docs.parent / "README.md", *sorted((docs / "studies").glob("*.md"))):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            if not _PLACE.search(text):
                mark = "<!-- `qdrank findings` writes from here -->"
                fix = f"put it between the lines {mark} and <!-- to here -->; of a study: writes STUDY from here"
                raise InputError("no place for the table of findings", file=path, fix=fix)
            yield path, _PLACE.sub(table, text)


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
        f"Every claim of [the study](../studies/{study}.md) on every data set: yes, no, or ? where the data cannot tell, and "
        "the effect. Where there is an average over sets, it decides; * is about the simulated worlds that were run, and no "
        "others. [Verdicts](../verdicts.md) says how they come about. Written by `qdrank findings`; do not edit.\n\n"
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
        fix = f"give findings of {_named(needed)}; `make findings` makes them"
        raise InputError("\n".join([problem, *would]), file=docs / "ledger.yaml", fix=fix)


def _named(files: Collection[str]) -> str:
    return ", ".join(sorted(files)) or "no configuration"


def joined_verdicts(tables: Iterable[pa.Table]) -> pa.Table:
    """Verdicts of several runs on single data sets, in one table: averages are made of all of them together.

    Where an earlier run judged the same claim on the same data set with another configuration, the data set's name is
    followed by the configuration.
    """
    from qdrank.evaluation.deciding import verdicts_table

    rows: list[dict[str, Any]] = []
    judged: dict[tuple[str, str, str], str] = {}
    for table in tables:
        for row in table.to_pylist():
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
