"""Commands of the documentation."""

import re
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = ("snakemake", "qdrank", "make", "python", "pytest", "source")


def pages(project: Path) -> list[Path]:
    """Pages with commands."""
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
