"""What a user deletes is made again, whichever form of it was deleted."""

import re
import subprocess
from pathlib import Path

import pyarrow.compute as pc
import pytest

from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.evaluation.run_files import judged_run
from qdrank.store import read
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


MEASURES = ["ap", "ndcg@10/exp", "p@5/letor4"]
TARGETS = ("geng2008", "lin", "zha", "hoi", "beyond", "learners", "geng_fig7", "rankers", "runs", "crate")


@pytest.mark.full
def test_every_target_is_one(study: Project) -> None:
    figure, ranker = (
        study.folder / "results/tiny" / name for name in ("figures/geng-fig7.pdf", "fold1/served/single.parquet")
    )
    for path in (figure, ranker):
        path.unlink()
    study.tiny(*TARGETS)
    assert figure.exists()
    assert ranker.exists()
    check_runs(study.folder / "results/tiny")
    assert '"./"' in (study.folder / "results/ro-crate-metadata.json").read_text()


def check_runs(folder: Path) -> None:
    """Every run, read back, has the measures that the study wrote."""
    table = read(folder / "measures.parquet", "measures")
    served = table.filter(pc.equal(table["fit"], 0)) if "fit" in table.column_names else table
    values = {(row["method"], row["query_id"]): row for row in served.to_pylist()}
    qrels = read_qrels(folder / "fold1/runs/judgments.qrels.gz")
    runs = sorted((folder / "fold1/runs").glob("*.run.gz"))
    assert {path.name.removesuffix(".run.gz") for path in runs} == {method for method, _ in values}
    for path in runs:
        joined = judged_run(read_run(path), qrels)
        queries, measured = joined.query_id, joined.measured(MEASURES)
        for name in MEASURES:
            expected = [values[path.name.removesuffix(".run.gz"), query][name] for query in queries]
            assert measured[name].tolist() == pytest.approx(expected, abs=1e-9), (path.name, name)


@pytest.mark.full
def test_the_report_is_one_small_file_that_needs_no_network(study: Project) -> None:
    study.snakemake("--report", "results/report.html")  # goes on with the configuration of the folder
    page = (study.folder / "results/report.html").read_text()
    assert len(page) < 20_000_000
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']https?://", page)
    assert "Single features" in page


@pytest.mark.parametrize(("words", "retrieves"), [((), True), (("STUDY=lin",), False)])
def test_findings_run_what_is_behind_the_pages(project: Path, words: tuple[str, ...], retrieves: bool) -> None:
    command = ["make", "PYTHON=false", "READY=", "--dry-run", "findings", *words]
    ran = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)
    assert ("qdrank retrieve nfcorpus" in ran.stdout) == retrieves, "runs are for the findings of hybrid alone"
    if words:
        assert "for name in claims nfcorpus; do" in ran.stdout
        assert "--config 'studies=[lin]' -- results/claims-overview.html" in ran.stdout
