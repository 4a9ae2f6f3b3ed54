"""`--output` of every command: files, links, pipes, devices, and places that take nothing."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from qdrank.cli import main
from qdrank.store import atomic_path

RUN = "".join(f"q1 Q0 d{i} {i} {1 / i} mine\n" for i in range(1, 4))


@pytest.fixture
def fused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What `qdrank fuse` of a.run and b.run in the present folder writes."""
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text(RUN)
    Path("b.run").write_text(RUN.replace("mine", "other"))
    assert fuse("-") == 0
    return capsys.readouterr().out


def fuse(output: str) -> int:
    return main(["fuse", "a.run", "b.run", "--output", output])


def test_a_pipe_gets_the_text_and_stays_a_pipe(fused: str) -> None:
    os.mkfifo("pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_text()), daemon=True)
    reader.start()
    assert fuse("pipe") == 0
    reader.join(5)
    assert read == [fused]
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_followed(fused: str, there: bool) -> None:
    Path("sub").mkdir()
    if there:
        Path("sub/real.run").write_text("old")
    Path("link.run").symlink_to("sub/real.run")
    assert fuse("link.run") == 0
    assert Path("link.run").is_symlink()
    assert Path("sub/real.run").read_text() == fused
    assert os.listdir("sub") == ["real.run"]


@pytest.mark.usefixtures("fused")
def test_a_device_stays_a_device_and_a_full_one_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Devices of the test's own: as root a wrong program would replace those of the machine."""
    for name, minor, code in (("null", 3, 0), ("full", 7, 2)):
        try:
            os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        except PermissionError:
            pytest.skip("making a device needs root")
        assert fuse(name) == code
        assert stat.S_ISCHR(os.stat(name).st_mode)
    assert capsys.readouterr().err.endswith("qdrank: full: no space left on device\n")


def test_standard_output_that_takes_no_more_is_told() -> None:
    words = [sys.executable, "-m", "qdrank.cli", "datasets"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "qdrank: the output: no space left on device\n")


@pytest.mark.usefixtures("fused")
def test_a_file_that_grows_too_large_is_told_and_leaves_nothing() -> None:
    code = "import resource as r, sys; r.setrlimit(r.RLIMIT_FSIZE, (50, 50)); from qdrank.cli import main; sys.exit(main())"
    words = [sys.executable, "-c", code, "fuse", "a.run", "b.run", "--output", "c.run"]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "qdrank: c.run: file too large\n")
    assert sorted(os.listdir()) == ["a.run", "b.run"]


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize(("output", "said"), [("sub", "is a folder"), ("a.run/x", "no such folder")])
def test_what_cannot_be_a_file_is_told_before_any_work(output, said, capsys):
    Path("sub").mkdir()
    assert main(["fuse", "no.run", "b.run", "--output", output]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("fused")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_one_may_not_write_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("sub").mkdir(mode=0o555)
    assert fuse("sub/c.run") == 2
    assert "may not be written" in capsys.readouterr().err


def test_a_folder_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as error, atomic_path(tmp_path):
        pass
    assert error.value.filename == str(tmp_path)
