"""What jobs ask for: what profiles for clusters have in common with the default one, and memory and time that grow."""

import os
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from qdrank import __version__
from qdrank.workflow import resources
from qdrank.workflow.resources import TEXT_THREADS, input_mb, memory, minutes, reading_threads, values_mb

CLUSTERS = ("slurm", "cluster-generic")


def profile(project: Path, name: str) -> dict[str, object]:
    return yaml.safe_load((project / "workflow/profiles" / name / "profile.yaml").read_text())


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_profile_repeats_the_default_one(project: Path, name: str) -> None:
    """A run reads one workflow profile: what the default one sets would be lost."""
    assert profile(project, "default").items() <= profile(project, name).items()


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_profile_tries_again(project: Path, name: str) -> None:
    settings = profile(project, name)
    assert settings["retries"] == 2
    assert settings["latency-wait"] >= 30
    assert {"mem_mb", "runtime"} <= settings["default-resources"].keys()


def test_the_scripts_of_a_profile_can_be_run(project: Path) -> None:
    commands = [
        str(profile(project, "cluster-generic")[f"cluster-generic-{what}-cmd"]) for what in ("status", "submit")
    ]
    scripts = re.findall(r"workflow/profiles/\S+\.sh", " ".join(commands))
    assert scripts
    assert all(os.access(project / script, os.X_OK) for script in scripts)


def test_the_container_is_installed_as_make_does(project: Path) -> None:
    """The lines of the Dockerfile that install are those of the Makefile; the recipe for Apptainer is made from its image."""
    made, image = ((project / name).read_text() for name in ("Makefile", "Dockerfile"))
    setup = made.partition("$(READY):")[2]
    lines = [line.partition("pip install ")[2] for line in setup.splitlines() if "/pip install" in line]
    assert lines
    assert lines == [line.partition("pip install ")[2] for line in image.splitlines() if line.startswith("RUN pip")]
    tag = re.search(r"docker build --tag (\S+)", image)
    assert tag
    assert f"From: {tag[1]}\n" in (project / "envs/qdrank.def").read_text()
    assert tag[1].endswith(f":{__version__}")
    assert 'container: "qdrank.sif"\n' in (project / "workflow/Snakefile").read_text()


def test_every_rule_asks_for_more_when_tried_again(project: Path) -> None:
    """A constant would fail every retry as it failed the first try."""
    for file in sorted((project / "workflow/rules").glob("*.smk")):
        asked = re.findall(r"^\s+(?:mem_mb|runtime)=(.*)$", file.read_text(), re.MULTILINE)
        assert all(re.match(r"(?:memory|minutes)\(", value) for value in asked), f"{file.name}: {asked}"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    sizes = {"small": 1, "large": 50}
    for name, mb in sizes.items():
        with (tmp_path / name).open("wb") as file:
            file.truncate(mb * 2**20)
    return {name: str(tmp_path / name) for name in sizes}


def test_sizes_are_added(files: dict[str, str]) -> None:
    assert input_mb(files.values()) == 51
    assert input_mb([]) == 0


def test_memory_follows_the_values_of_a_table_and_not_how_well_they_compress(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(1), 2**20
    drawn = {"noise": rng.integers(0, 2**62, n), "numbers": rng.integers(0, 2**18, n)}
    for name, values in drawn.items():
        pq.write_table(pa.table({"a": values}), tmp_path / f"{name}.parquet", use_dictionary=False, compression="zstd")
    noise, numbers = (str(tmp_path / f"{name}.parquet") for name in drawn)
    assert input_mb([numbers]) < 0.5 * input_mb([noise])
    assert memory(0, 1)(None, input=[noise], attempt=1) == memory(0, 1)(None, input=[numbers], attempt=1) == 8


def test_a_broken_table_and_small_tables_count_as_they_are(tmp_path: Path) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"no table" * 2**18)
    assert values_mb([str(broken)]) == 2
    small = tmp_path / "small.parquet"
    pq.write_table(pa.table({"a": np.zeros(10**6)}), small)
    assert values_mb([str(small)]) == small.stat().st_size / 2**20


@pytest.mark.parametrize("ask", [memory, minutes])
def test_memory_and_time_grow_with_the_input_and_with_every_retry(ask: object, files: dict[str, str]) -> None:
    asked = [ask(100, 2)(None, input=[files[name]], attempt=n) for name in files for n in (1, 2)]
    assert asked == [102, 204, 200, 400]


def test_a_small_input_has_room_and_a_limit_without_input_is_whole() -> None:
    assert memory(100, 30)(None, input=[], attempt=1) == 130
    assert minutes(0.5)(None, input=["not there"], attempt=1) == 1


def test_large_text_is_read_by_several_threads(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert reading_threads(None, input=[files["large"], "not fetched yet"]) == 1
    monkeypatch.setattr(resources, "_LARGE_TEXT_MB", 49)
    assert reading_threads(None, input=[files["large"]]) == TEXT_THREADS
