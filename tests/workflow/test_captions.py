"""Captions of the report: every table and figure has one, and its own."""

import html
import json
import re
from pathlib import Path

import pytest
from docutils.core import publish_parts

from qdrank.studies import STUDIES
from qdrank.workflow.captions import CAPTIONS
from qdrank.workflow.provenance import code_modules
from tests.workflow.project import Project, copy_project
from tests.workflow.test_module import using

#: By data set, of jobs that make several and of jobs that make one; Snakemake reports files that it did not make, too.
SHOWN = {
    "tiny": (
        *(f"tables/{id_}.html" for id_ in ("geng-methods", "geng-folds", "geng-tests", "geng-qc", "data-summary")),
        *(f"figures/{id_}.svg" for id_ in ("geng-fig7", "geng-differences", "geng-controls")),
    ),
    "tiny-runs": ("tables/data-summary.html",),
}
TITLES = {"tiny": "A tiny simulated set", "tiny-runs": "Tiny simulated runs"}

CALL = re.compile(r'call="([^"]+)"')


@pytest.mark.parametrize("name", STUDIES)
def test_whatever_a_study_shows_has_a_caption(name: str) -> None:
    study = STUDIES[name]
    for output in (*study.figures, *study.tables, study.observations):
        assert set(output.captions) == set(output.shows)


def test_captions_are_restructured_text() -> None:
    strict = {"halt_level": 2, "report_level": 5}
    for id_, text in CAPTIONS.items():
        assert publish_parts(text, writer="html", settings_overrides=strict)["body"], id_


def test_an_edited_caption_reruns_nothing(project: Path) -> None:
    """No job runs the modules that hold them."""
    homes = {"qdrank.workflow.captions", *(f"qdrank.studies.{name}" for name in STUDIES)}
    named = {"studies": [name for study in STUDIES for name in (study, STUDIES[study].short)]}
    calls = {call for path in (project / "workflow/rules").glob("*.smk") for call in CALL.findall(path.read_text())}
    calls |= {step.call for study in STUDIES for step in STUDIES[study].steps}
    assert len(calls) > 40
    assert [call for call in calls if homes & code_modules({"call": call, **named})] == []
    assert homes & code_modules({"make": "qdrank.studies.geng2008:STUDY"})


@pytest.mark.parametrize("layout", ["checkout", "module", "wheel"])
def test_each_file_in_a_report_has_its_own_caption(layout, project, tmp_path, request):
    config, environment = ["--configfile", str(project / "tests/configs/tiny.yaml")], {}
    if layout == "wheel":
        installed = request.getfixturevalue("installed")
        config += ["--snakefile", str(installed / "qdrank/_project/Snakefile")]
        used, environment = Project(tmp_path), {"PYTHONPATH": str(installed)}
    else:
        used = copy_project(project, tmp_path / "copy")
        if layout == "module":
            used, config = using(tmp_path / "outer", project, f'"{used.folder / "Snakefile"}"'), []
    titles = {f"results/{name}/{shown}": TITLES[name] for name in SHOWN for shown in SHOWN[name]}
    for path in titles:
        (used.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (used.folder / path).write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    used.snakemake(*config, "--report", "report.html", "--", *titles, **environment)
    page = (used.folder / "report.html").read_text()
    (listed,) = re.findall(r'^ *var results = (\{".*\})', page, re.MULTILINE)
    said = {
        path: html.unescape(re.sub("<.*?>", "", one["caption"])).strip() for path, one in json.loads(listed).items()
    }
    assert said == {path: f"{title}. {CAPTIONS[Path(path).stem]}" for path, title in titles.items()}
