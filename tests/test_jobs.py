import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.cli import main
from qdrank.errors import InputError
from qdrank.jobs import SAID_LAST, blas_kernel, in_order, job, prepare_environment, processor_flags, seconds
from qdrank.workflow.start import expect_mistakes, last_words


def test_a_job_logs(tmp_path: Path) -> None:
    with job(tmp_path / "logs" / "a.log") as log:
        log.info("3 of 7")
    text = (tmp_path / "logs" / "a.log").read_text()
    assert "3 of 7" in text
    assert text.endswith("done\n")


def test_a_users_mistake_is_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), job(tmp_path / "a.log"):
        raise InputError("a bad row", file="x.txt", line=3, found="1 quid:2", fix="write qid")
    told = capsys.readouterr().err
    assert "x.txt, line 3: a bad row" in told
    assert "Traceback" not in told
    assert "fix:   write qid" in (tmp_path / "a.log").read_text()


def test_a_fault_of_ours_keeps_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), job(tmp_path / "a.log"):
        raise ZeroDivisionError
    assert "Traceback" in (tmp_path / "a.log").read_text()


def test_jobs_find_the_library_and_use_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["/a", "/lib"]))
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    prepare_environment(Path("/lib"))
    assert os.environ["PYTHONPATH"] == os.pathsep.join(["/lib", "/a"])
    assert os.environ["OMP_NUM_THREADS"] == "1"
    assert os.environ["OMP_WAIT_POLICY"] == "passive"


def test_found_text_is_shown_safely() -> None:
    words = str(InputError("junk", found=b"\x00\xff" + b"x" * 500))
    assert len(words) < 200
    assert words.isprintable() or "\n" in words
    assert "\x00" not in words


def test_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("qdrank ")
    assert main(["digest", str(tmp_path / "nowhere")]) == 2
    assert "no such folder" in capsys.readouterr().err
    (tmp_path / "a.txt").write_text("x")
    assert main(["digest", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  a.txt\n"
    assert main(["datasets"]) == 0
    assert "mq2008" in capsys.readouterr().out


def test_one_blas_kernel_for_each_architecture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("model name\t: A\nflags\t\t: fpu avx2 fma\n")
    assert processor_flags(tmp_path / "cpuinfo") == {"fpu", "avx2", "fma"}
    assert processor_flags(tmp_path / "none") == set()
    assert blas_kernel("x86_64", {"avx2", "fma", "avx512f"}) == blas_kernel("x86_64", {"avx2", "fma"}) == "Haswell"
    assert blas_kernel("x86_64", {"sse2"}) is None
    assert blas_kernel("aarch64", set()) == "ARMV8"
    assert blas_kernel("riscv64", set()) is None


def test_a_kernel_that_the_user_names_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_CORETYPE", "NEOVERSEN1")
    prepare_environment(Path("/lib"))
    assert os.environ["OPENBLAS_CORETYPE"] == "NEOVERSEN1"


def test_what_failed_jobs_said_is_said_once_at_the_end_of_the_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    monkeypatch.setenv(SAID_LAST, "0")  # so that what `expect_mistakes` sets is undone
    expect_mistakes()
    assert last_words() == ""
    for name, words in (("one", "a is wrong"), ("two", "b is wrong"), ("three", "a is wrong")):
        with pytest.raises(SystemExit), job(f"logs/{name}.log"):
            raise InputError(words, fix="rm results/a")
    assert "is wrong" not in capsys.readouterr().err
    once = "\nqdrank: a is wrong\n  fix:   rm results/a\n  log:   logs/one.log, and 1 more that say the same\n"
    assert last_words() == once + "\nqdrank: b is wrong\n  fix:   rm results/a\n  log:   logs/two.log\n"
    assert f"rm {tmp_path.name}/results/a\n  log:   {tmp_path.name}/logs/two.log\n" in last_words(tmp_path.parent)
    expect_mistakes()
    assert last_words() == ""


def test_where_no_run_says_it_last_a_job_says_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SAID_LAST, raising=False)
    with pytest.raises(SystemExit), job("logs/one.log"):
        raise InputError("a is wrong")
    assert capsys.readouterr().err == "\nqdrank: a is wrong\n\n"


def test_the_shortest_of_several_runs_counts() -> None:
    steps = iter([200_000, 0, 100_000])
    run = []

    def step() -> None:
        run.append(sum(range(next(steps))))

    assert 0 <= seconds(step) < 0.001
    assert len(run) == 3
    assert seconds(lambda: None, repeats=1) >= 0


#: What an item does: a number of results, and whether an error follows them; the second flag is an error of the source before the item.
ITEMS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([False] * 5 + [True]), st.sampled_from([False] * 8 + [True]))
)


def source(items: list[tuple[int, bool, bool]]) -> Iterator[tuple[int, int, bool]]:
    for i, (n, fails, missing) in enumerate(items):
        if missing:
            raise LookupError(i)
        yield i, n, fails


def work(item: tuple[int, int, bool]) -> Iterator[tuple[int, int]]:
    i, n, fails = item
    yield from ((i, j) for j in range(n))
    if fails:
        raise ValueError(i)


def outcome(items: list[tuple[int, bool, bool]], helpers: int, ahead: int = 0) -> tuple[list[tuple[int, int]], str]:
    found = []
    try:
        found.extend(in_order(work, source(items), helpers, ahead))
    except (LookupError, ValueError) as error:
        return found, repr(error)
    return found, ""


@given(ITEMS, st.integers(1, 4), st.integers(0, 3))
def test_results_and_errors_as_in_a_plain_loop(items, helpers, ahead) -> None:
    plain: list[tuple[int, int]] = []
    told = ""
    try:
        for item in source(items):
            plain.extend(work(item))
    except (LookupError, ValueError) as error:
        told = repr(error)
    assert outcome(items, 0) == outcome(items, helpers, ahead) == (plain, told)


@pytest.mark.parametrize(("helpers", "ahead"), [(1, 0), (3, 0), (2, 4)])
def test_no_more_items_are_taken_than_allowed(helpers: int, ahead: int) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        while True:
            taken += 1
            yield taken

    results = in_order(lambda item: [item], items(), helpers, ahead)
    assert next(results) == 1
    assert taken == helpers + ahead + 1


def test_threads_end_with_the_reader() -> None:
    before = threading.active_count()
    results = in_order(lambda item: [item], range(100), 2)
    next(results)
    results.close()
    assert threading.active_count() == before
