"""A full disk, a folder that may not be written, a byte that changed: told in words, and nothing is spoiled."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qdrank.cli import main
from tests.workflow.project import Project, copy_project, result_digests

LIMITED = """
import resource, sys
import pyarrow as pa
from qdrank.jobs import job
from qdrank.store import write
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
with job(sys.argv[2]):
    write(sys.argv[1], "columns", pa.table({
        "number": pa.array(range(50_000), pa.int32()),
        "name": [f"feature {i}" for i in range(50_000)],
        "reference": [False] * 50_000,
    }))
"""


@contextmanager
def mounted(folder: Path, *arguments: str) -> Iterator[None]:
    """A file system of its own on ``folder``; skips where that is not allowed."""
    ran = subprocess.run(["mount", *arguments, folder], capture_output=True, text=True, check=False)
    if ran.returncode:
        pytest.skip(f"mount is needed, as root: {ran.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=False)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", folder], check=True)


@pytest.fixture
def needs_mount() -> None:
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("a disk of its own needs root and mount")


@pytest.mark.full
@pytest.mark.usefixtures("needs_mount")
def test_a_full_disk_is_told_and_when_there_is_room_the_run_goes_on(finished, project, tmp_path):
    expected = result_digests(finished.folder / "results")
    room = (finished.folder / "results/tiny/judged.parquet").stat().st_size + 60_000
    copy = copy_project(project, tmp_path)
    results = copy.folder / "results"
    results.mkdir()
    with mounted(results, "-t", "tmpfs", "-o", f"size={room}", "tmpfs"):
        printed = copy.tiny("single_features", check=False)
        assert "the disk is full" in printed
        assert "run the same command again" in printed
        assert "Traceback" not in printed
        assert not list(results.rglob("*.partial*"))
        assert result_digests(results).items() <= expected.items()

        remount(results, "size=100m")
        copy.tiny("single_features")
        made = result_digests(results)
        assert {"tiny/figures/single-features.svg", "tiny/tables/single-features.csv"} <= made.keys()
        assert made.items() <= expected.items()


@pytest.mark.full
@pytest.mark.usefixtures("needs_mount")
def test_a_folder_that_may_not_be_written_is_told_and_kept(study: Project) -> None:
    results = study.folder / "results"
    for name in ("overview.html", "manifest.json"):
        (results / name).unlink()
    before = result_digests(results)
    with mounted(results, "--bind", str(results)):
        remount(results, "ro,bind")
        printed = study.tiny(check=False)
        assert re.search(r"[Rr]ead-only", printed)
        assert result_digests(results) == before
    study.tiny()
    assert (results / "overview.html").exists()


def test_a_file_that_grows_too_large_is_told_and_leaves_nothing(tmp_path: Path, project: Path) -> None:
    """As on a full disk, but without root."""
    command = [sys.executable, "-c", LIMITED, tmp_path / "out/columns.parquet", tmp_path / "log.txt"]
    variables = os.environ | {"PYTHONPATH": str(project / "src")}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert ran.returncode == 1
    assert "run the same command again" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not list((tmp_path / "out").iterdir())


def flipped(path: Path, place: int) -> bytes:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    return bytes(content)


def test_the_manifest_tells_of_any_file_that_changed(finished, tmp_path, capsys):
    """One of each kind of file, also of those that no job reads again."""
    results = tmp_path / "results"
    shutil.copytree(finished.folder / "results", results)
    assert main(["digest", "--check", str(results)]) == 0
    kinds = {
        path.suffix: path for path in sorted(results.rglob("*")) if path.is_file() and path.name != "manifest.json"
    }
    assert {".csv", ".html", ".parquet", ".pdf", ".svg"} <= kinds.keys()
    for path in kinds.values():
        content = path.read_bytes()
        path.write_bytes(flipped(path, len(content) // 2))
        assert main(["digest", "--check", str(results)]) != 0
        told = capsys.readouterr()
        assert str(path.relative_to(results)) in told.out + told.err
        path.write_bytes(content)


def test_only_the_store_opens_parquet_files(project: Path) -> None:
    """Who opens one by other means reads without the check; runs of other tools have nothing to check."""
    files = [*(project / "src").rglob("*.py"), *(project / "scripts").glob("*.py")]
    outside = [path for path in files if "store" not in path.parts and path.parts[-2:] != ("runs", "named_columns.py")]
    direct = re.compile(r"ParquetFile\(|read_parquet|read_table|pyarrow\.dataset")
    assert not [path for path in outside if direct.search(path.read_text())]
