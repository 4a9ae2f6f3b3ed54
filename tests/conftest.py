"""What every test may ask for."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest

from tests.workflow.project import Project, copy_project

# One thread per job is the house's rule; set before NumPy is first imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# How fast input is generated depends on the machine: its tables of Unicode took 92 s beside other work.
for name, examples in (("daily", 50), ("full", 400)):
    hypothesis.settings.register_profile(
        name, max_examples=examples, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
hypothesis.settings.load_profile("daily")

PROJECT = Path(__file__).resolve().parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest test first, so that no worker is left alone with it at the end."""
    items.sort(key=lambda item: item.path.name != "test_kills.py")


@pytest.fixture(scope="session")
def project() -> Path:
    return PROJECT


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with copies of the data sets that QDRANK_MIRROR names."""
    place = os.environ.get("QDRANK_MIRROR")
    if not place or not Path(place).is_dir():
        pytest.skip("no data mirror here: set QDRANK_MIRROR to a folder with the data sets")
    return Path(place).resolve()


@pytest.fixture(scope="session")
def installed(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel of the project holds: the package as it is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    copy_project(project, folder)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(project / name, folder / name)
    code = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    shutil.unpack_archive(wheel, folder / "site", "zip")
    return folder / "site"


@pytest.fixture(scope="session")
def finished(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny study, run to its end on two cores, once for all workers; tests must leave it as they find it."""
    base = tmp_path_factory.getbasetemp()
    common = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = common / "finished", common / "finished.done"
    with (common / "finished.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the other workers wait here until the first has run it
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            copy_project(project, folder).tiny()
            done.touch()
    return Project(folder)


@pytest.fixture
def study(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished study, to be spoiled."""
    shutil.copytree(finished.folder, tmp_path / "study", symlinks=True)
    return Project(tmp_path / "study")
