"""The documentation says what is there: its picture, its list of rooms, its links, the targets it names."""

import importlib.util
import pydoc
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from tests.pages.browser import browser, installed
from tests.test_house import ROOMS


@pytest.fixture(scope="module")
def drawing(project: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("rulegraph", project / "docs" / "rulegraph.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages(project: Path) -> list[Path]:
    return [*project.glob("*.md"), *(project / "docs").rglob("*.md"), *(project / "config").glob("*.md")]


def test_the_picture_is_that_of_the_workflow(drawing: ModuleType) -> None:
    picture = drawing.mermaid(drawing.rulegraph())
    assert "    train_local --> score_geng\n" in picture
    assert drawing.PAGE.read_text() == drawing.page_with(picture), "out of step: run `make picture`"
    assert drawing.RULES.read_text() == drawing.emitted(), "out of step: run `make picture`"


def test_the_rooms_are_those_that_are_checked(project: Path) -> None:
    text = (project / "docs" / "architecture.md").read_text().partition("## The rooms")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE)
    assert [tuple(re.findall(r"`(\w+)`", row)) for row in rows] == ROOMS


def test_links_lead_to_files(project: Path) -> None:
    for page in pages(project):
        for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.relative_to(project)} links to {link}"


def test_every_page_is_reached_from_the_readme(project: Path) -> None:
    start = (project / "README.md").resolve()
    found, new = {start}, [start]
    while new:
        page = new.pop()
        links = (page.parent / link for link in re.findall(r"\]\((?!https?:)([^)#\s]+\.md)", page.read_text()))
        fresh = {link.resolve() for link in links if link.exists()} - found
        found, new = found | fresh, [*new, *fresh]
    assert {page.resolve() for page in pages(project)} - found == set()


def test_the_search_of_the_site_asks_for_nothing_outside(project: Path) -> None:
    """Without a script of this name, the plugin would fetch one from elsewhere."""
    site = yaml.safe_load((project / "mkdocs.yml").read_text())
    assert {"search", "offline"} <= {name for name in site["plugins"] if isinstance(name, str)}
    (script,) = site["extra"]["polyfills"]
    assert "iframe-worker" in script
    assert (project / "docs" / script).is_file()


@pytest.mark.skipif(installed() is None, reason="no Chromium here (on Debian: apt-get install chromium)")
def test_a_page_that_is_opened_as_a_file_gets_a_worker(project: Path, tmp_path: Path) -> None:
    shutil.copy(project / "docs/iframe-worker.js", tmp_path)
    (tmp_path / "worker.js").write_text("addEventListener('message', (event) => postMessage(event.data + 1))")
    (tmp_path / "page.html").write_text(
        "<!DOCTYPE html><body><script src=iframe-worker.js></script><script>"
        "const worker = new Worker('worker.js'); worker.addEventListener('message', (event) => { window.got = event.data });"
        "worker.postMessage(41)</script></body>"
    )
    with browser() as shown:
        shown.open(tmp_path / "page.html", width=400)
        shown.wait("window.got === 42")
        assert shown.problems == []


def test_methods_named_on_the_python_page_exist(project: Path) -> None:
    page = (project / "docs" / "api.md").read_text()
    classes = {target.rpartition(".")[2]: target for target in re.findall(r"^::: (\S+)$", page, re.MULTILINE)}
    named = set(re.findall(r"`([A-Z]\w+)\.(\w+)", page))
    assert named
    for name, method in named:
        assert hasattr(pydoc.locate(classes[name]), method), f"{name}.{method}"
