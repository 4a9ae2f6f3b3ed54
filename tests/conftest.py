"""What every test may ask for."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.workflow.project import Project, copy_project

# One thread per job is the house's rule; set before NumPy is first imported.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

PROJECT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def project() -> Path:
    return PROJECT


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The local data mirror: QDRANK_MIRROR, or shared/data beside the project."""
    place = os.environ.get("QDRANK_MIRROR")
    folder = Path(place) if place else PROJECT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no data mirror here: set QDRANK_MIRROR to a folder with the data sets")
    return folder.resolve()


@pytest.fixture(scope="session")
def finished(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The tiny study, run to its end on two cores; tests must leave it as they find it."""
    copy = copy_project(project, tmp_path_factory.mktemp("study"))
    copy.tiny()
    return copy


@pytest.fixture
def study(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished study, to be spoiled."""
    shutil.copytree(finished.folder, tmp_path / "study", symlinks=True)
    return Project(tmp_path / "study")
