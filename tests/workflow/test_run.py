import json
import re
import subprocess
from pathlib import Path

import pyarrow.compute as pc
import pytest
import yaml

from qdrank.cli import main
from qdrank.datasets.judged import load_judged
from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.evaluation.run_files import judged_run
from qdrank.store import read
from qdrank.studies.lin2011.methods import METHODS
from qdrank.workflow.config_files import resolve
from qdrank.workflow.files import CLAIMS, Files
from qdrank.workflow.plan import plan
from qdrank.workflow.run import WorkflowRun
from tests.workflow.project import Project, result_digests


def test_the_manifest_lists_what_is_there(finished: Project) -> None:
    results = finished.folder / "results"
    manifest = json.loads((results / "manifest.json").read_text())
    assert manifest["files"] == result_digests(results)


def test_all_files_that_a_run_keeps_are_known_beforehand(finished: Project) -> None:
    """In a storage the manifest job sees only what it is given; findings, and tables and figures of no study, are given by targets."""
    settings = resolve(yaml.safe_load((finished.folder / "tests/configs/tiny.yaml").read_text()))
    known = set(Files(WorkflowRun(settings, plan(settings), config_files=[], shards=2)).everything())
    kept = {f"results/{name}" for name in result_digests(finished.folder / "results")}
    of_data = (
        r"tiny(-runs)?/((tables|figures)/(data-summary|difficulty|learners|methods|single-features)\S*|map.parquet)"
    )
    others = rf"results/({of_data}|findings/\w+.parquet)"
    unknown = [name for name in sorted(kept - known) if not re.fullmatch(others, name)]
    assert unknown == sorted([*CLAIMS, "results/overview.html"])


def test_no_temporary_files_are_left(finished: Project) -> None:
    assert not [path for path in finished.folder.rglob("*partial*") if ".snakemake" not in path.parts]


@pytest.mark.parametrize(
    ("method", "scores"), [("single", "single"), ("offline1", "knn-offline1"), ("offline2", "knn-offline2")]
)
def test_new_queries_are_scored_as_in_the_study(finished: Project, tmp_path: Path, method: str, scores: str) -> None:
    results = finished.folder / "results/tiny"
    test = load_judged(results / "judged.parquet").of_role("fold1", "test")
    rows = [" ".join(f"{i}:{value!r}" for i, value in enumerate(row, 1)) for row in test.X.tolist()]
    new = "".join(f"0 qid:{query} {row}\n" for query, row in zip(test.query, rows, strict=True))
    (tmp_path / "new.txt").write_text(new)
    files = ["--input", str(tmp_path / "new.txt"), "--output", str(tmp_path / "scores.txt")]
    assert main(["rank", "--models", str(results / "fold1"), "--method", method, *files]) == 0
    expected = read(results / f"fold1/scores/{scores}.parquet", "scores").column("score").to_pylist()
    assert [float(line) for line in (tmp_path / "scores.txt").open()] == expected


@pytest.mark.full
def test_a_figure_is_a_target(study: Project) -> None:
    figure = study.folder / "results/tiny/figures/single-features.pdf"
    before = figure.read_bytes()
    figure.unlink()
    printed = study.tiny("results/tiny/figures/single-features.pdf")
    assert re.search(r"draw_features +1", printed)
    assert "measure_features" not in printed
    assert figure.read_bytes() == before


@pytest.mark.parametrize("artifact", ["judged", pytest.param("fold1/queries", marks=pytest.mark.full)])
def test_a_flipped_byte_is_named_and_never_used(study: Project, artifact: str) -> None:
    path = study.folder / f"results/tiny/{artifact}.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    printed = study.tiny(check=False)
    assert f"results/tiny/{artifact}.parquet: the artifact was changed after it was written" in printed
    assert f"rm results/tiny/{artifact}.parquet" in printed


def test_a_wrong_key_stops_before_anything_runs(study: Project) -> None:
    (study.folder / "mine.yaml").write_text("neighbors: {metric: cosine}\n")
    printed = study.snakemake("--cores", "1", "--configfile", "mine.yaml", check=False)
    assert "mine.yaml: neighbors: unknown key; did you mean neighbours?" in printed
    assert "Building DAG" not in printed
    assert "Traceback" not in printed


def test_a_data_set_that_cannot_be_had_is_an_instruction(study: Project) -> None:
    (study.folder / "mine.yaml").write_text("datasets: [mq2008]\n")
    printed = study.snakemake("--cores", "1", "--configfile", "mine.yaml", check=False)
    assert "read and accept the agreement" in printed
    assert "missing: skip" in printed
    assert "Building DAG" not in printed


@pytest.mark.full
def test_a_data_set_that_cannot_be_had_can_be_left_out(study: Project) -> None:
    tiny = (study.folder / "tests/configs/tiny.yaml").read_text()
    (study.folder / "mine.yaml").write_text(tiny.replace("[tiny, tiny-runs]", "[tiny, mq2008]") + "missing: skip\n")
    (study.folder / "results/config.yaml").unlink()  # the tiny study's summary may go
    study.snakemake("results/overview.html", "--cores", "1", "--configfile", "mine.yaml")
    assert "mq2008" in (study.folder / "results/overview.html").read_text()


@pytest.mark.full
def test_own_feature_files_need_only_a_config_entry(study: Project) -> None:
    rows = [f"{d % 3} qid:q{q} 1:{d / 7:.3f} 2:{q}.5 #docid = d{d}\n" for q in range(20) for d in range(6)]
    (study.folder / "my data.txt").write_text("".join(rows))
    (study.folder / "mine.yaml").write_text(
        "datasets: [mine]\nown:\n  mine: {kind: letor, files: {all: my data.txt}, reference: 1}\n"
    )
    study.snakemake(
        "results/mine/tables/single-features.csv",
        "--cores",
        "2",
        "--directory",
        "runs/mine",
        "--configfile",
        "mine.yaml",
    )
    assert (study.folder / "runs/mine/results/mine/tables/single-features.csv").read_text().count("\n") == 3


@pytest.mark.full
def test_a_broken_row_is_named_and_nothing_is_left(study: Project) -> None:
    (study.folder / "bad.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:nan\n")
    (study.folder / "mine.yaml").write_text(
        "datasets: [mine]\nown:\n  mine: {kind: letor, files: {all: bad.txt}, reference: 1}\n"
    )
    printed = study.snakemake("--cores", "1", "--directory", "runs/mine", "--configfile", "mine.yaml", check=False)
    assert "bad.txt, line 2" in printed
    assert "Traceback (most recent call last)" not in printed
    assert not list((study.folder / "runs/mine/results").glob("mine/**/*.parquet"))


def test_scores_are_those_of_the_first_seed(finished: Project) -> None:
    values = read(finished.folder / "results/tiny/fold1/lin/values.parquet", "values").to_pylist()
    measures = read(finished.folder / "results/tiny/measures.parquet", "measures").to_pylist()
    first = {(row["method"], row["query_id"]): row["ap"] for row in values if row["fit"] < 2 and row["x"] is None}
    own = [row for row in measures if row["method"] in {method.name for method in METHODS}]
    assert {row["method"] for row in own} == {method.name for method in METHODS}
    for row in own:
        assert row["ap"] == pytest.approx(first[row["method"], row["query_id"]], abs=1e-12)


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
        assert "for name in claims seeds nfcorpus; do" in ran.stdout
        assert "--config 'studies=[lin]' -- decide_claims" in ran.stdout
