"""What the site needs beside the pages in docs/: pages that lie elsewhere in the project, and links that fit a site.

On a Git server, pages link to files of the project. On the site, links to pages go to the pages, and links to source files become
plain names.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

PROJECT = Path(__file__).resolve().parents[1]
#: Pages that lie elsewhere, by their name on the site.
ELSEWHERE = {
    "index.md": "README.md",
    "extending.md": "CONTRIBUTING.md",
    "configurations.md": "config/README.md",
    "changes.md": "CHANGELOG.md",
    "security.md": "SECURITY.md",
}
#: Sections of pages that mkdocs.yml does not name; others are listed with the pages about changes.
SECTIONS = {"scaling.md": "Running at scale"}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """List pages that mkdocs.yml does not name, such as those of new studies."""
    listed = str(config.nav)
    pages = [str(path.relative_to(PROJECT / "docs")) for path in sorted((PROJECT / "docs").rglob("*.md"))]
    new = [name for name in pages if f"'{name}'" not in listed]
    for name in new:
        section = "Studies" if name.startswith(("studies/", "verdicts/")) else SECTIONS.get(name, "Changing it")
        next(part for part in config.nav if section in part)[section].append(name)
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that lie elsewhere, and the pictures they show."""
    for name, path in ELSEWHERE.items():
        files.append(File.generated(config, name, content=(PROJECT / path).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn the links of a page into links of the site."""
    name = page.file.src_uri
    here = (PROJECT / ELSEWHERE.get(name, f"docs/{name}")).parent

    def turned(match: re.Match[str]) -> str:
        picture, text, target, part = match.groups()
        place = os.path.relpath((here / target).resolve(), PROJECT)
        known = {path: name for name, path in ELSEWHERE.items()}
        if place in known or place.startswith("docs/"):
            to = known.get(place, place.removeprefix("docs/"))
            return f"{picture}[{text}]({os.path.relpath(to, Path(name).parent)}{part or ''})"
        return text if text.startswith("`") else f"`{place}`"

    return _LINK.sub(turned, markdown)
