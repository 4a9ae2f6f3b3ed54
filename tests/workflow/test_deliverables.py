"""What a user deletes is made again, whichever form of it was deleted."""

from __future__ import annotations

import pytest

from tests.workflow.project import Project

DELETED = {
    "tiny/tables/data-summary.csv": "summarise_data",
    "tiny/tables/single-features.tex": "tabulate_features",
    "tiny/tables/single-features-folds.md": "tabulate_features",
    "tiny/figures/single-features.pdf": "draw_features",
    "tiny/tables/learners.tex": "tabulate_learners",
    "tiny/tables/learners-tests.parquet": "tabulate_learners",
    "tiny/fold1/models/ranksvm.parquet": "learn_method",
    "tiny/fold1/models/local.parquet": "gather_local",
    "tiny/tables/geng-table1.tex": "tabulate_geng_table1",
    "tiny/figures/geng-fig7.pdf": "draw_geng_fig7",
    "claims-overview.md": "judge_claims",
    "index.html": "write_index",
}


@pytest.mark.parametrize(("file", "rule"), DELETED.items())
def test_a_deleted_deliverable_is_made_again(study: Project, file: str, rule: str) -> None:
    (study.folder / "results" / file).unlink()
    assert rule in study.planned()
