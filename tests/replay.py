"""The first pages, replayed: every command as it is printed, from top to bottom, in a checkout and beside the wheel.

    python -m tests.replay [checkout] [wheel]

A page's titled blocks are the reader's files. A command that takes over two minutes, needs a cluster or data that are not here is
replayed as `INSTEAD` says, and is printed with its reason; all others run for real, and must succeed.
"""

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.workflow.documented import in_blocks
from tests.workflow.project import copy_project

PROJECT = Path(__file__).resolve().parents[1]
#: Pages of each layout, in the order in which a reader goes from one to the next.
PAGES = {
    "checkout": (
        *("docs/tutorial.md", "docs/your-data.md", "README.md", "docs/runs.md", "docs/clusters.md"),
        *("docs/measures.md", "docs/ranking.md"),
    ),
    "wheel": ("docs/your-data.md", "README.md", "docs/runs.md"),
}
#: What a layout does not have; a page says so where it prints such a command.
OF_A_CHECKOUT = r"(make|source|snakemake|python tests)\b"
DRY = r"\g<0> --dry-run"
#: Pattern of a command, what is typed in its place (nothing: ""), why.
INSTEAD = (
    (r"make (test|lint|docs|test-cluster)", "", "`.ci/run` does it"),
    (r"make setup", "qdrank doctor", "the programs of this replay are the environment"),
    (r"make run", "qdrank run config/first.yaml --directory runs/first --dry-run", "over two minutes; `.ci/run` does it"),
    (r"make run CONFIG=(\S+) DIRECTORY=(\S+)", r"qdrank run \1 --directory \2 --dry-run", "over two minutes"),
    (r"qdrank run \S+ --all", DRY, "over two minutes"),
    (r"qdrank init study", "qdrank init study && cd study && snakemake --cores all --dry-run", "over two minutes"),
    (r"snakemake .*config/letor\.yaml.*", "", "data behind a licence page"),
    (r"snakemake --workflow-profile \S+", DRY, "a cluster"),
    (r"snakemake .*--directory runs/(changed|all) .*", DRY, "over two minutes"),
    (r"(qdrank (?:rank|export|fit) .*)results/mq2008(.*)", r"\1results/mine\2", "data that are not here; your-data.md made some"),
    (r"qdrank retrieve .*|qdrank features .*|qdrank .*(results/nfcorpus|--queries).*", "", "data that are not here"),
)  # fmt: skip


def main(layouts: list[str]) -> int:
    """Replay the pages of each layout; the exit code says whether all commands did what they are printed for."""
    failed = 0
    for layout in layouts or list(PAGES):
        with tempfile.TemporaryDirectory(prefix="replay-") as place:
            folder, variables = (checkout if layout == "checkout" else wheel)(Path(place))
            for page in PAGES[layout]:
                failed += replayed(layout, page, folder, variables)
    print(f"{failed} commands failed" if failed else "All commands of the pages run as printed.")
    return 1 if failed else 0


def replayed(layout: str, page: str, folder: Path, variables: dict[str, str]) -> int:
    """Number of the commands of a page that failed, typed one after another."""
    text = (PROJECT / page).read_text(encoding="utf-8")
    for name, content in re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', text, re.DOTALL):
        # Of several files of a name, the commands are about the first: sections show further forms of it.
        if name not in titled(text, before=content):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content, encoding="utf-8")
    failed = 0
    for command in in_blocks(text):
        typed, why = instead(command)
        if layout == "wheel" and re.match(OF_A_CHECKOUT, command):
            typed, why = "", "of a checkout"
        said = f"  {why}: {typed or 'not run'}" if why else ""
        began = time.monotonic()
        done = subprocess.run(
            ["bash", "-c", typed], cwd=folder, env=variables, capture_output=True, text=True, check=False
        )
        print(f"{layout} {page}: {command}{said} [{time.monotonic() - began:.0f} s]", flush=True)
        # The doctor may find something on this machine; the gate's status is its verdict, on runs that are made up here.
        expected = (typed == "qdrank doctor" and "fix:" in done.stdout) or (
            typed.startswith("qdrank gate") and done.stdout.startswith(("FAIL: ", "CANNOT TELL: "))
        )
        if done.returncode and not expected:
            failed += 1
            print(f"FAILED ({done.returncode}):\n{done.stdout[-2000:]}{done.stderr[-3000:]}", flush=True)
    return failed


def titled(text: str, before: str) -> list[str]:
    """Names of the titled blocks ahead of the one with this content."""
    return re.findall(r'```\w+ title="([^"]+)"', text[: text.index(before)])[:-1]


def instead(command: str) -> tuple[str, str]:
    """What is typed for a command, and why it is not the command itself."""
    for pattern, typed, why in INSTEAD:
        match = re.fullmatch(pattern, command)
        if match:
            return match.expand(typed), why
    return command, ""


def checkout(place: Path) -> tuple[Path, dict[str, str]]:
    """A copy of the project, and the environment in which its commands are typed."""
    folder = place / "checkout"
    copy_project(PROJECT, folder)
    shutil.copytree(PROJECT / "docs", folder / "docs")
    shutil.copy(PROJECT / "README.md", folder)
    given(folder)
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/activate").write_text("command -v qdrank snakemake\n")
    return folder, environment(place, folder / "src")


def wheel(place: Path) -> tuple[Path, dict[str, str]]:
    """An empty folder, beside what the wheel of the project holds."""
    source, folder = place / "source", place / "empty"
    copy_project(PROJECT, source)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, source)
    build = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    shutil.unpack_archive(next((source / "dist").glob("*.whl")), place / "site", "zip")
    shutil.rmtree(source)
    folder.mkdir()
    given(folder)
    return folder, environment(place, place / "site")


def environment(place: Path, library: Path) -> dict[str, str]:
    """Variables with which ``qdrank``, ``snakemake`` and ``python`` are those of this replay, on this ``library``."""
    programs = place / "bin"
    programs.mkdir()
    for name, words in {"qdrank": "-P -m qdrank.cli", "snakemake": "-P -m snakemake", "python": ""}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {words} "$@"\n')
        (programs / name).chmod(0o755)
    kept = {
        name: value for name, value in os.environ.items() if name not in ("QDRANK_MIRROR", "MAKEFLAGS", "MAKELEVEL")
    }
    return kept | {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(library)}


def given(folder: Path) -> None:
    """What the pages take for granted: runs of engines, judgments, a file of scores, one of new queries."""
    pairs = [(f"q{q}", f"d{d}", (q * d + d) % 3) for q in range(12) for d in range(8)]
    (folder / "qrels.txt").write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in pairs))
    (folder / "groups.txt").write_text("".join(f"q{q} {'even' if q % 2 == 0 else 'odd'}\n" for q in range(12)))
    for i, name in enumerate(("a", "b", "bm25", "dense", "new", "old", "rm3")):
        lines = [f"{query} Q0 {doc} 1 {(grade + int(doc[1]) * i) % 5} {name}\n" for query, doc, grade in pairs]
        (folder / f"{name}.run").write_text("".join(lines))
    for name in ("a", "b"):
        (folder / f"{name}.run.gz").write_bytes(gzip.compress((folder / f"{name}.run").read_bytes()))
    (folder / "c.json").write_text(json.dumps({"q1": {"d1": 1.5, "d2": 0.5}}))
    rows = list(letor())
    (folder / "test.txt").write_text("".join(rows))
    (folder / "Fold1").mkdir()
    (folder / "Fold1/test.txt").write_text("".join(rows))
    (folder / "scores.txt").write_text("".join(f"{row}\n" for row in range(len(rows))))
    (folder / "new.txt").write_text("".join(rows))


def letor() -> Iterator[str]:
    """Rows of a feature file."""
    for query in range(4):
        yield from (
            f"{doc % 3} qid:{query} 1:{doc}.5 2:{query + doc} 3:{query}.1 #docid = d{doc}\n" for doc in range(6)
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
