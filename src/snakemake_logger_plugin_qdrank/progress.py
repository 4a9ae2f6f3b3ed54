"""The state of a run as lines of text that fit into a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

#: Jobs that must be done before the time left is estimated, and share of all jobs.
ENOUGH, SHARE = 5, 0.05


@dataclass
class Progress:
    """What is done, what runs since when, what failed; times in seconds of any clock."""

    total: int = 0
    done: int = 0
    lost: int = 0
    began: float = 0.0
    names: dict[int, str] = field(default_factory=dict)
    running: dict[int, float] = field(default_factory=dict)

    def begin(self, total: int, now: float) -> None:
        """A run of ``total`` jobs begins."""
        self.total, self.began = total, now

    def known(self, job: int, rule: str, wildcards: Mapping[str, str]) -> None:
        """What a job is called."""
        self.names[job] = " ".join([rule, *map(str, wildcards.values())])

    def started(self, jobs: Iterable[int], now: float) -> None:
        """Jobs run from now on."""
        self.running |= dict.fromkeys(jobs, now)

    def finished(self, job: int) -> None:
        """A job is done."""
        self.running.pop(job, None)
        self.done += 1

    def failed(self, job: int | None) -> None:
        """A job failed; it may be tried again."""
        if job is not None:
            self.running.pop(job, None)
        self.lost += 1

    def left(self, now: float) -> float | None:
        """Seconds that the rest takes at the pace so far; None while too little is done to tell."""
        if self.done < max(ENOUGH, SHARE * self.total):
            return None
        return (now - self.began) / self.done * (self.total - self.done)

    def lines(self, now: float, width: int, height: int) -> list[str]:
        """The bar with the time left, then the jobs that run now, the longest first, in at most ``height`` lines."""
        share = self.done / self.total if self.total else 0.0
        left = self.left(now)
        tail = f" {self.done} of {self.total} jobs, {_clock(now - self.began)}"
        tail += f", about {_clock(left)} left" if left is not None and self.done < self.total else ""
        tail += f", {self.lost} failed" if self.lost else ""
        cells = max(5, min(40, width - len(tail) - 2))
        full = round(share * cells)
        head = f"{'█' * full}{'░' * (cells - full)}{tail}"
        oldest = sorted(self.running, key=lambda job: (self.running[job], job))
        room = height - 1
        shown = oldest if len(oldest) <= room else oldest[: max(0, room - 1)]
        rows = [f"{_clock(now - self.running[job]):>8}  {self.names.get(job, f'job {job}')}" for job in shown]
        if len(shown) < len(oldest) and room > 0:
            rows.append(f"{'':>8}  and {len(oldest) - len(shown)} more")
        return [line[:width] for line in [head, *rows]]


def _clock(seconds: float) -> str:
    """A time as people read it: 45 s, 3:20 min, 2:05 h."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02} h"
