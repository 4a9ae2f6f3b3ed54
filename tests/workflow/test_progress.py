from io import StringIO
from logging import ERROR, makeLogRecord

import pytest
from rich.console import Console
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_qdrank import LogHandler
from snakemake_logger_plugin_qdrank.progress import Progress


def made(running: int, done: int = 40, total: int = 160) -> Progress:
    state = Progress()
    state.begin(total, 100.0)
    for job in range(done):
        state.started([job], 101.0)
        state.finished(job)
    for job in range(1000, 1000 + running):
        state.known(job, "train_local", {"dataset": "mq2008", "fold": "fold1", "shard": str(job)})
    state.started(range(1000, 1000 + running), 150.0)
    return state


@pytest.mark.parametrize("running", [0, 1, 29, 30, 500])
def test_the_panel_fits_into_the_terminal(running: int) -> None:
    lines = made(running).lines(220.0, 100, 29)
    assert len(lines) <= 29
    assert all(len(line) <= 100 for line in lines)
    if running > 28:
        assert lines[-1].strip() == f"and {running - 27} more"


def test_the_panel_says_what_is_done_and_left() -> None:
    bar, first = made(1).lines(220.0, 100, 29)
    assert bar.endswith(" 40 of 160 jobs, 2:00 min, about 6:00 min left")
    assert bar.startswith("█" * 10 + "░" * 30)
    assert first == "1:10 min  train_local mq2008 fold1 1000"


def test_nothing_is_estimated_from_next_to_nothing() -> None:
    assert made(0, done=4).left(220.0) is None
    assert made(0, done=5, total=1000).left(220.0) is None


def test_a_failed_job_runs_no_longer() -> None:
    state = made(2)
    state.failed(1001)
    bar, *rows = state.lines(220.0, 100, 29)
    assert bar.endswith("1 failed")
    assert len(rows) == 1


def test_a_failed_job_is_one_line_and_other_errors_are_shown() -> None:
    handler = LogHandler.__new__(LogHandler)
    handler.progress, handler.console = Progress(), Console(file=StringIO(), width=100)
    script = 'RuleException:\nCalledProcessError in file "a.smk", line 3:\nCommand returned non-zero exit status 1.'
    for said in (
        {"msg": script},
        {"event": LogEvent.JOB_ERROR, "rule_name": "fit", "log": ["logs/fit.log"]},
        {"msg": "x"},
    ):
        record = makeLogRecord({"levelno": ERROR, **said})
        handler._noted(getattr(record, "event", None), record)
    assert handler.console.file.getvalue() == "failed fit: see logs/fit.log\nx\n"


def test_snakemake_finds_the_panel() -> None:
    from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

    registry = LoggerPluginRegistry()
    registry.collect_plugins()
    assert registry.is_installed("qdrank")
