"""Text of any size in the shape of a web search engine's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.datasets.simulated.tables import write_simulated
from qdrank.datasets.simulated.web import TOGETHER, web_settings, write_web
from qdrank.errors import InputError
from qdrank.store import read

SMALL = {"train": TOGETHER + 20, "vali": 5, "test": 6, "documents": 20, "features": 9}


def files(folder: Path) -> dict[str, Path]:
    return {name: folder / f"{name}.parquet" for name in ("judged", "columns", "topics")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("web")
    write_simulated(files(folder), like="web", seed=3, **SMALL)
    return folder


def test_the_data_have_the_size_asked_for(made: Path) -> None:
    judged = load_judged(made / "judged.parquet")
    assert {part: int((judged.part == part).sum()) for part in ("train", "vali", "test")} == {
        "train": 120,
        "vali": 5,
        "test": 6,
    }
    assert judged.X.shape[1] == 9
    assert 16 < np.diff(judged.offsets).mean() < 24
    assert np.isfinite(judged.X).all()
    assert reference_column(made / "columns.parquet") == 0
    assert read(made / "topics.parquet", "topics").num_rows == 131
    assert sorted(path.name for path in made.iterdir()) == ["columns.parquet", "judged.parquet", "topics.parquet"]


def test_all_grades_occur_and_the_features_tell_of_them(made: Path) -> None:
    judged = load_judged(made / "judged.parquet")
    assert set(np.unique(judged.y)) == {0, 1, 2, 3, 4}
    assert 0.35 < (judged.y == 0).mean() < 0.65
    assert np.corrcoef(judged.X[:, 0], judged.y)[0, 1] > 0.1
    spread = judged.X.std(axis=0)
    assert spread.max() > 30 * spread.min()
    assert 0.6 < (judged.X[:, 4] == 0).mean() < 0.8


def test_the_seed_decides(made: Path, tmp_path: Path) -> None:
    again, other = tmp_path / "again", tmp_path / "other"
    for folder, seed in ((again, 3), (other, 4)):
        folder.mkdir()
        write_simulated(files(folder), like="web", seed=seed, **SMALL)
    assert (again / "judged.parquet").read_bytes() == (made / "judged.parquet").read_bytes()
    assert (other / "judged.parquet").read_bytes() != (made / "judged.parquet").read_bytes()


def test_the_text_is_letor(tmp_path: Path) -> None:
    paths = write_web(tmp_path, web_settings(SMALL), 1)
    first = paths["vali"].read_text().splitlines()[0].split()
    assert first[1] == "qid:120"
    assert [token.partition(":")[0] for token in first[2:11]] == [str(i) for i in range(1, 10)]
    assert first[-3:] == ["#docid", "=", "D120-0"]


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="did you mean documents"):
        web_settings({"document": 3})
    with pytest.raises(InputError, match="train must be at least 1"):
        web_settings({"train": 0})


def test_threads_change_no_byte(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANK_THREADS", "3")
    write_simulated(files(tmp_path), like="web", seed=3, **SMALL)
    for name, path in files(tmp_path).items():
        assert path.read_bytes() == files(made)[name].read_bytes()
