"""The notebook of the documentation: its cells run on the tiny study, and its page is in step with it."""

import json
import runpy
from pathlib import Path

import pytest

from tests.workflow.project import Project


@pytest.fixture(scope="module")
def tool(project: Path):
    return runpy.run_path(str(project / "docs" / "notebooks" / "execute.py"))


@pytest.fixture(scope="module")
def notebook(tool):
    return json.loads(tool["NOTEBOOK"].read_text(encoding="utf-8"))


def test_the_page_is_that_of_the_notebook(tool, notebook):
    assert tool["PAGE"].read_text(encoding="utf-8") == tool["page"](notebook)


def test_the_cells_run_on_the_tiny_study(tool, notebook, finished: Project):
    import sklearn

    with sklearn.config_context():
        again = tool["executed"](notebook, finished.folder)
        sklearn.set_config(enable_metadata_routing=False)
    shown = [[len(cell.get("outputs", [])) for cell in made["cells"]] for made in (again, notebook)]
    assert shown[0] == shown[1]
