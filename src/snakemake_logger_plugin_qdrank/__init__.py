"""Progress on a terminal, for Snakemake's ``--logger qdrank``: a bar, the time left, and the jobs that run now.

Snakemake finds loggers by the name of a top-level package, so this is not in ``qdrank``.
"""

from __future__ import annotations

import time
from logging import ERROR, LogRecord
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_qdrank.progress import Progress

#: Snakemake's words for a script that failed: five lines, before a line that names the job and its log.
_OF_A_JOB = "RuleException:\nCalledProcessError in file"


class LogHandler(LogHandlerBase):
    """Draws the state of a run over itself; errors and warnings stand above it, all else is in Snakemake's log file."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Make the panel; it is drawn from the first job on."""
        self.progress = Progress()
        self.console = Console(stderr=True, highlight=False)
        self.live = Live(get_renderable=self._drawn, console=self.console, refresh_per_second=2, transient=True)

    def emit(self, record: LogRecord) -> None:
        """Take note of an event."""
        try:
            self._noted(getattr(record, "event", None), record)
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Take the panel away, and leave a line about the run."""
        if self.live.is_started:
            self.live.stop()
            self.console.print(self.progress.lines(time.monotonic(), self.console.width, 1)[0])
        super().close()

    def _noted(self, event: str | None, record: LogRecord) -> None:
        now, said = time.monotonic(), vars(record)
        if event == LogEvent.RUN_INFO:
            self.progress.begin(int(said["stats"].get("total", 0)), now)
            if not self.common_settings.dryrun:
                self.live.start()
        elif event == LogEvent.JOB_INFO:
            self.progress.known(said["jobid"], said["rule_name"], dict(said.get("wildcards") or {}))
        elif event == LogEvent.JOB_STARTED:
            self.progress.started(_ids(said.get("jobs", said.get("job_ids"))), now)
        elif event == LogEvent.JOB_FINISHED:
            self.progress.finished(said["job_id"])
        elif event in (LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR):
            self.progress.failed(said.get("jobid"))
            log = ", ".join(map(str, said.get("log") or []))
            self.console.print(f"[bold red]failed[/] {said.get('rule_name', 'a group of jobs')}: see {log}")
        elif (record.levelno >= ERROR or event == LogEvent.ERROR) and not record.getMessage().startswith(_OF_A_JOB):
            self.console.print(Text(record.getMessage(), style="red"))

    def _drawn(self) -> Text:
        lines = self.progress.lines(time.monotonic(), self.console.width, self.console.height - 1)
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")


def _ids(jobs: Any) -> list[int]:
    return [jobs] if isinstance(jobs, int) else list(jobs or [])
