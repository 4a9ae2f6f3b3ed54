from pathlib import Path

import pytest

from qdrank.cli import main
from qdrank.errors import InputError
from qdrank.store.manifest import manifest_text
from qdrank.workflow.recorded import (
    SHORT,
    command,
    record_configuration,
    recorded_files,
    recorded_options,
    recorded_text,
    refuse_other_configuration,
    started_in,
    where_to_look,
    words_from,
)


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    Path("Snakefile").touch()
    return Path("results")


def test_results_that_do_not_say_belong_to_anybody(results: Path) -> None:
    assert recorded_options(results) is None
    refuse_other_configuration(results, ["mine.yaml"])
    (results / "config.yaml").write_text("seed: 1\n")
    assert recorded_options(results) is None


@pytest.mark.parametrize("files", [[], ["a.yaml"], ["a.yaml", "b c.yaml"]])
def test_results_belong_to_their_configuration(results: Path, files: list[str]) -> None:
    (results / "config.yaml").write_text(recorded_text(files, "seed: 1\n"))
    refuse_other_configuration(results, files)
    for other in (["other.yaml"], [*files, "other.yaml"]):
        with pytest.raises(InputError, match="runs/other"):
            refuse_other_configuration(results, other)


def test_a_short_study_may_become_the_whole_one_and_not_the_reverse(results: Path) -> None:
    elsewhere = "/site-packages/qdrank/_project/config/first.yaml"
    (results / "config.yaml").write_text(recorded_text([elsewhere, "mine.yaml"], "seed: 1\n"))
    refuse_other_configuration(results, [str(SHORT), "mine.yaml"])
    refuse_other_configuration(results, ["mine.yaml"])
    with pytest.raises(InputError, match="belongs to another run"):
        refuse_other_configuration(results, ["other.yaml"])
    (results / "config.yaml").write_text(recorded_text(["mine.yaml"], "seed: 1\n"))
    with pytest.raises(InputError, match="belongs to another run"):
        refuse_other_configuration(results, [str(SHORT), "mine.yaml"])


def test_a_record_is_written_once_and_again_when_the_settings_changed(results: Path) -> None:
    record_configuration(results, ["a.yaml"], "seed: 1\n")
    assert recorded_files(results) == [Path("a.yaml")]
    before = (results / "config.yaml").stat().st_mtime_ns
    record_configuration(results, ["a.yaml"], "seed: 1\n")
    assert (results / "config.yaml").stat().st_mtime_ns == before
    record_configuration(results, ["a.yaml"], "seed: 2\n")
    assert (results / "config.yaml").read_text().endswith("seed: 2\n")


def test_commands_are_complete(results: Path) -> None:
    assert command(results, "geng") == "snakemake --cores all geng"
    (results / "config.yaml").write_text(recorded_text([], "seed: 1\n"))
    assert command(results, "geng") == "snakemake --cores all geng"
    (results / "config.yaml").write_text(recorded_text(["b c.yaml"], "seed: 1\n"))
    assert command(results, "geng") == "snakemake --cores all geng --configfile 'b c.yaml'"


def test_without_a_snakefile_commands_are_those_of_the_package(results: Path) -> None:
    Path("Snakefile").unlink()
    (results / "config.yaml").write_text(recorded_text(["mine.yaml"], "seed: 1\n"))
    (results / "index.html").touch()
    assert command(results, "geng") == "qdrank run mine.yaml --target geng"
    assert "snakemake" not in where_to_look(results, ["mine.yaml"])
    with pytest.raises(InputError, match=r"qdrank run other\.yaml --directory runs/other"):
        refuse_other_configuration(results, ["other.yaml"])


def test_the_check_of_digests_prints_commands_to_copy(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (results / "config.yaml").write_text(recorded_text(["mine.yaml"], "seed: 1\n"))
    (results / "a.csv").write_text("1\n")
    (results / "manifest.json").write_text(manifest_text(results))
    (results / "a.csv").write_text("2\n")
    (results / "new.csv").write_text("3\n")
    assert main(["digest", "results", "--check"]) == 1
    printed = capsys.readouterr().out
    assert "rm -f results/a.csv results/new.csv\n" in printed
    assert "snakemake --cores all results/a.csv --configfile mine.yaml\n" in printed


def test_a_run_ends_with_where_to_look(results: Path) -> None:
    (results / "overview.html").touch()
    text = where_to_look(results, ["my data.yaml"])
    assert "results/overview.html " in text
    assert "claims" not in text  # not made by this run
    assert "--report" not in text  # it would have nothing to show
    (results / "index.html").touch()
    text = where_to_look(results, ["my data.yaml"])
    assert text.endswith("  snakemake --report results/report.html --configfile 'my data.yaml'")
    text = where_to_look(results, ["mine.yaml"], values={"studies": ["lin"], "seed": 2})
    assert text.endswith("""--configfile mine.yaml --config 'studies=["lin"]' seed=2""")


def test_what_a_message_tells_to_do_is_seen_from_where_the_command_was_typed(results: Path, tmp_path: Path) -> None:
    place = tmp_path.name
    said = words_from(
        tmp_path.parent, "rm results/a.parquet\n  folder: resources/downloads/x\n  /else/results/b, my-results/c"
    )
    assert (
        said
        == f"rm {place}/results/a.parquet\n  folder: {place}/resources/downloads/x\n  /else/results/b, my-results/c"
    )


def test_a_run_far_away_is_shown_by_its_absolute_path(results: Path) -> None:
    assert f"  {results.absolute()}/DATASET/" in where_to_look(results, [], "/a/b/c")


def test_a_run_in_a_storage_says_so(results: Path) -> None:
    text = where_to_look(results, [], storage="s3://bucket/")
    assert text.startswith("Where to look: in the storage, s3://bucket/results/;")


def test_what_another_configuration_made_is_not_shown(results: Path) -> None:
    (results / "config.yaml").write_text(recorded_text(["first.yaml"], "seed: 1\n"))
    (results / "index.html").touch()
    text = where_to_look(results, ["mine.yaml"])
    assert "index.html" not in text
    assert "results/DATASET/" in text
    assert "index.html" in where_to_look(results, ["first.yaml"])


def test_paths_are_seen_from_where_the_command_was_typed(results, tmp_path, monkeypatch):
    run = tmp_path / "runs/mine"
    (run / "results").mkdir(parents=True)
    (run / "results/config.yaml").write_text(recorded_text(["../../mine.yaml"], "seed: 1\n"))
    (run / "results/index.html").touch()
    assert (
        command("runs/mine/results", "geng")
        == "snakemake --cores all geng --directory runs/mine --configfile mine.yaml"
    )
    monkeypatch.chdir(run)  # as Snakemake does with --directory
    text = where_to_look(results, ["../../mine.yaml"], tmp_path)
    assert "  runs/mine/results/index.html " in text
    assert text.endswith("  snakemake --report results/report.html --directory runs/mine --configfile mine.yaml")
    with pytest.raises(InputError) as refused:
        refuse_other_configuration("results", ["../../first.yaml", "../../mine.yaml"], tmp_path)
    said = str(refused.value)
    assert "runs/mine/results belongs to another run (--configfile mine.yaml)" in said
    # runs/mine is taken by the other run
    assert "snakemake --cores all --directory runs/mine-2 --configfile first.yaml mine.yaml\n" in said
    assert "mv runs/mine/results runs/mine/results-1" in said


def test_a_run_that_was_stopped_is_not_said_to_have_a_report(results: Path) -> None:
    (results / "config.yaml").write_text(recorded_text(["first.yaml"], "seed: 1\n"))
    with pytest.raises(InputError, match=r"results belongs to another run \(--configfile first") as refused:
        refuse_other_configuration(results, ["mine.yaml"])
    assert "report" not in str(refused.value)


@pytest.mark.parametrize("given", ["runs/mine", "runs/./mine/", "../beside", "absolute"])
def test_the_folder_in_which_a_run_was_started_is_found(given, tmp_path, monkeypatch):
    start = tmp_path / "project"
    directory = tmp_path / "far" if given == "absolute" else Path(given)
    start.mkdir()
    (start / directory).mkdir(parents=True)
    monkeypatch.setenv("PWD", str(start))
    monkeypatch.chdir(start / directory)
    assert Path(started_in(directory)).resolve() == start.resolve()
    assert started_in(None) == "."
    monkeypatch.setenv("PWD", "/nowhere")  # a run that no shell started
    if given.startswith("runs"):
        assert Path(started_in(directory)).resolve() == start.resolve()
    elif given != "absolute":
        assert started_in(directory) == "."
