"""The picture in architecture.md and the rules in geng2008-rules.txt: those that make one study, from the workflow itself.

``make picture`` writes both anew; a test finds them when they are out of step. The graph is that of Snakemake's ``--rulegraph``
for Geng 2008 on the tiny configuration, without arrows that a longer way already implies, as a Mermaid block: no drawing
program is needed, and the pages of most Git servers show it as a picture.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from qdrank.cli import main
from qdrank.studies import STUDIES

STUDY = "geng2008"
PROJECT = Path(__file__).resolve().parents[1]
PAGE = PROJECT / "docs" / "architecture.md"
BEGIN = "<!-- picture: written by `make picture`; do not edit -->"
RULES = PROJECT / "docs" / "geng2008-rules.txt"
END = "<!-- end of picture -->"


def rulegraph() -> str:
    """Snakemake's graph of the rules that make the study, without the other studies."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--snakefile", PROJECT / "Snakefile", "--directory", folder]
        options += ["--configfile", PROJECT / "tests" / "configs" / "tiny.yaml"]
        options += ["--config", f"studies=[{STUDIES[STUDY].short}]", "training={shards: 1}"]
        command = [sys.executable, "-m", "snakemake", STUDY, "--rulegraph", "mermaid-js", *map(str, options)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if ran.returncode:
        raise SystemExit(ran.stderr)
    return ran.stdout


def edges(graph: str) -> set[tuple[str, str]]:
    """Pairs of rules of which the second reads what the first makes."""
    names = dict(re.findall(r"^\s*(id\d+)\[(\w+)\]$", graph, re.MULTILINE))
    return {(names[a], names[b]) for a, b in re.findall(r"^\s*(id\d+) --> (id\d+)$", graph, re.MULTILINE)}


def reduced(pairs: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs without those that a longer way implies, sorted: Snakemake's own order differs from run to run."""
    after: dict[str, set[str]] = {}
    for a, b in pairs:
        after.setdefault(a, set()).add(b)

    def reachable(start: str) -> set[str]:
        direct = after.get(start, set())
        return direct.union(*map(reachable, direct))

    return sorted((a, b) for a, b in pairs if not any(b in reachable(c) for c in after[a]))


def mermaid(graph: str) -> str:
    """The graph as a Mermaid block of Markdown."""
    lines = [f"    {a} --> {b}" for a, b in reduced(edges(graph))]
    return "\n".join(["```mermaid", "flowchart TB", *lines, "```"])


def page_with(picture: str) -> str:
    """architecture.md with ``picture`` between its two marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n\n{picture}\n\n{END}{rest.partition(END)[2]}"


def emitted() -> str:
    """The rules that the workflow makes of the study, as a rule file would have them."""
    printed = StringIO()
    with redirect_stdout(printed):
        main(["rules", STUDY, "--configfile", str(PROJECT / "tests" / "configs" / "tiny.yaml")])
    return f"# What `qdrank rules {STUDY} --configfile tests/configs/tiny.yaml` prints.\n\n{printed.getvalue()}"


if __name__ == "__main__":
    RULES.write_text(emitted(), encoding="utf-8")
    PAGE.write_text(page_with(mermaid(rulegraph())), encoding="utf-8")
