"""Commands of the documentation, and those of them that no test of its own runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = ("snakemake", "qdrank", "make", "python", "pytest", "source")
#: Commands that something else runs: pattern to that file and the words in it that do so, which a test looks for.
ELSEWHERE = {
    r"make (lint|test|docs)": (".ci/run", r"^make {}$"),
    r"make (golden)": (".ci/run", r"^make {} STUDY=first$"),
    r"make test-cluster": (".ci/run", r"^    make {}$"),
    r"snakemake --lint": ("Makefile", r"^\tPATH=.*/snakemake {}$"),
    r"python docs/notebooks/execute\.py FOLDER": ("tests/test_notebook.py", r'"docs" / "notebooks" / "execute.py"'),
    r"qdrank run .*": ("tests/workflow/test_module.py", r'"qdrank\.cli", "run", "mine'),
    r"qdrank init .*": ("tests/workflow/test_module.py", r'"qdrank\.cli", "init", "mine"'),
    r"qdrank fuse .* --models .*": ("tests/commands/test_advise.py", r"fuse_by_models\(new\["),
    r"qdrank rank .* --queries .*": ("tests/commands/test_features.py", r'"--queries", "new.txt", "--past"'),
    r"qdrank retrieve .*": ("tests/commands/test_features.py", r'main\(\["retrieve", '),
    r"python -m tests\.mistakes": ("tests/mistakes/test_mistakes.py", r'"mistake", MISTAKES'),
    # What the rest of `make test` is.
    r"pytest (tests/\S+)": ("pyproject.toml", r'^testpaths = \["tests"\]$'),
}
#: Why a command is run by nothing here.
NOT_RUN = {
    r"make golden-write": "takes minutes, and rewrites what `make golden` compares with",
    r"make lock": "resolves the requirements anew from the package index, and rewrites the lock file",
    r"pip install snakemake-executor-plugin-\.\.\.": "a name that the reader completes",
    r"snakemake --workflow-profile workflow/profiles/(lsf|pbs|htcondor)": (
        "there is no such scheduler here; tests/workflow/test_profiles.py runs their scripts"
    ),
    r"pip install '?qdrank(\[[\w,]+\])?'?": "installs from the package index; tests/test_package.py builds the wheel",
}


def pages(project: Path) -> list[Path]:
    """Pages whose commands are run."""
    found = [project / "README.md", project / "CONTRIBUTING.md", *sorted(project.glob("docs/**/*.md"))]
    return [*found, project / "config/README.md"]


def documented(project: Path) -> list[str]:
    """Commands of the documentation, each once: those in blocks, then those in sentences."""
    texts = [page.read_text() for page in pages(project)]
    found = [command for of in (in_blocks, in_sentences) for text in texts for command in of(text)]
    return list(dict.fromkeys(found))


def in_blocks(text: str) -> Iterator[str]:
    """Commands indented by four, or in a block of shell."""
    fence: str | None = None
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fence = None if fence is not None else line.strip()[3:]
            continue
        shell = fence in ("sh", "bash", "console")
        match = re.match(rf"(?:    )?((?:{'|'.join(PROGRAMS)}) .*)", line.lstrip() if shell else line)
        if match and (shell or (fence is None and line.startswith("    "))):
            yield re.split(r"\s+# ", match[1])[0].strip()


def in_sentences(text: str) -> Iterator[str]:
    """Commands of make, pip and Snakemake, and scripts; `qdrank rank` in a sentence is a name."""
    outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for command in re.findall(r"`((?:snakemake|make|python|pip) [^`]+)`", outside):
        yield " ".join(command.split())


def runs_elsewhere(command: str) -> tuple[str, str] | None:
    """File that runs a command, and the pattern of its words there."""
    for pattern, (file, words) in ELSEWHERE.items():
        match = re.fullmatch(pattern, command)
        if match:
            return file, words.format(re.escape(command.partition(" ")[2]))
    return None


def to_run(project: Path, *programs: str) -> list[str]:
    """Commands of some programs that tests have to run."""
    return [
        command
        for command in documented(project)
        if command.split()[0] in programs
        and not runs_elsewhere(command)
        and not any(re.fullmatch(pattern, command) for pattern in NOT_RUN)
    ]
