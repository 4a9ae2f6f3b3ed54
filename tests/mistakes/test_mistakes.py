"""Every planted mistake ends in words that name the place, the problem and the way out; suggested commands work.

Mistakes that need a run are made elsewhere: killed and interrupted runs in tests/workflow/test_kills.py, full and read-only
disks in test_disk.py, two configurations in one folder in tests/test_recorded.py.
"""

import re
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

from tests.mistakes import MISTAKES
from tests.mistakes.configurations import LETOR, ROWS
from tests.mistakes.planted import Mistake, first_job, left, message


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_message_names_the_place_and_the_way_out(mistake: Mistake, tmp_path: Path) -> None:
    said = message(mistake, tmp_path)
    for words in mistake.says.split(" | "):
        assert words in said
    assert "Traceback" not in said
    assert left(mistake, tmp_path) == []


SPLIT = LETOR.replace("all: rows.txt", "train: rows.txt, test: test.txt")
WHOLE = SPLIT.replace("train: rows.txt", "train: train-part.txt, vali: vali.txt")
TEST = ROWS.replace("qid:", "qid:t")
MIXED = "".join(sorted(ROWS.splitlines(keepends=True)))


@pytest.mark.parametrize(
    ("rows", "config", "pattern", "then"),
    [
        (MIXED.encode(), LETOR, r"each other: (.*)", LETOR.replace("rows", "sorted")),
        (ROWS.encode("utf-16"), LETOR, r"convert it: (.*)", LETOR.replace("rows", "converted")),
        (ROWS.replace("\n", "\r").encode(), LETOR, r"convert it: (.*)", LETOR.replace("rows", "converted")),
        (ROWS.encode(), SPLIT, r"(awk .*) TRAIN", WHOLE),
    ],
    ids=["sort", "UTF-16", "old Mac", "no vali"],
)
def test_a_suggested_command_repairs_the_data(tmp_path, rows, config, pattern, then):
    broken = Mistake("", first_job, "", {"mine.yaml": config, "rows.txt": rows, "test.txt": TEST})
    found = re.search(pattern, message(broken, tmp_path))
    assert found is not None
    command = found[1] + (" rows.txt" if found[1].startswith("awk") else "")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    (tmp_path / "mine.yaml").write_text(then)
    with chdir(tmp_path):
        assert first_job() == "(the data were read)"


@pytest.mark.full
def test_what_a_job_found_is_the_last_that_a_run_says_in_another_folder_too(project: Path, tmp_path: Path) -> None:
    """At its end Snakemake has left the folder of ``--directory``, where the job wrote what it found."""
    (tmp_path / "mine.yaml").write_text(LETOR)
    (tmp_path / "rows.txt").write_text(ROWS.replace("1:1.5", "1:x"))
    words = ["--snakefile", str(project / "Snakefile"), "--cores", "1", "results/mine/judged.parquet"]
    command = [sys.executable, "-m", "snakemake", *words, "--directory", "run", "--configfile", "mine.yaml"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode
    last = ran.stderr.rstrip().splitlines()[-4:]
    assert last[0].endswith("rows.txt, line 2: the feature's value is not a number")
    assert [line.split(":")[0].strip() for line in last[1:]] == ["found", "fix", "log"]
    assert last[-1].endswith(" run/logs/import_features/mine.log")  # as seen from where the command was typed
    assert (ran.stdout + ran.stderr).count("is not a number") == 1
