"""Captions of the report: every table and figure has one, and its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from docutils.core import publish_parts

from qdrank.studies import STUDIES
from qdrank.workflow.captions import CAPTIONS
from qdrank.workflow.provenance import code_modules


@pytest.mark.parametrize("name", STUDIES)
def test_whatever_a_study_shows_has_a_caption(name: str) -> None:
    study = STUDIES[name]
    for output in (*study.figures, *study.tables, study.observations):
        assert set(output.captions) == set(output.shows)


def test_captions_are_restructured_text() -> None:
    strict = {"halt_level": 2, "report_level": 5}
    for id_, text in CAPTIONS.items():
        assert publish_parts(text, writer_name="html", settings_overrides=strict)["body"], id_


def test_an_edited_caption_reruns_nothing(project: Path) -> None:
    """No job runs the modules that hold them."""
    homes = {"qdrank.workflow.captions", *(f"qdrank.studies.{name}" for name in STUDIES)}
    named = {"studies": [name for study in STUDIES for name in (study, STUDIES[study].short)]}
    scripts = sorted((project / "scripts").rglob("*.py"))
    assert [script.name for script in scripts if homes & code_modules(script, named)] == []
    assert homes & code_modules(scripts[0], {"make": "qdrank.studies.geng2008:STUDY"})
