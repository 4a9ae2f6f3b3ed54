"""What a user deletes is made again, whichever form of it was deleted."""

import re

import pytest

from tests.workflow.project import Project

# Each group is deleted at once: no rule of it reads what another one of it makes.
DELETED = {
    "leaves": {
        "tiny/tables/data-summary.csv": "summarise_data",
        "tiny/tables/single-features.tex": "tabulate_features",
        "tiny/figures/single-features.pdf": "draw_features",
        "tiny/tables/learners.tex": "tabulate_learners",
        "tiny/tables/geng-table1.tex": "tabulate_geng_table1",
        "tiny/figures/geng-fig7.pdf": "draw_geng_fig7",
    },
    "other forms": {
        "tiny/tables/single-features-folds.md": "tabulate_features",
        "tiny/tables/learners-tests.parquet": "tabulate_learners",
        "claims-overview.md": "decide_claims",
    },
    "a method's models": {"tiny/fold1/models/ranksvm.parquet": "learn_method"},
    "gathered models": {"tiny/fold1/models/local.parquet": "score_geng"},
    "the first page": {"index.html": "write_index"},
}


def test_the_first_page_links_to_what_is_there(finished: Project) -> None:
    """After plain Snakemake, which does not write the report."""
    results = finished.folder / "results"
    links = set(re.findall(r'href="([^"#]+)"', (results / "index.html").read_text()))
    assert len(links) > 10
    assert [link for link in links if not (results / link).exists()] == []


@pytest.mark.parametrize(
    "files",
    [pytest.param(files, id=name, marks=[pytest.mark.full] * (name != "leaves")) for name, files in DELETED.items()],
)
def test_a_deleted_deliverable_is_made_again(study: Project, files: dict[str, str]) -> None:
    for file in files:
        (study.folder / "results" / file).unlink()
    planned = study.planned()
    assert set(files.values()) <= planned
    # What follows from them, in every group at most the first page and the manifest, if nothing but leaves was deleted.
    if "models" not in "".join(files):
        assert planned - set(files.values()) <= {"write_index", "write_manifest"}
