"""What a job requests: memory, time and threads that grow with its input and with every retry."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from typing import Any

#: Threads that draw or read large text: all jobs of the data set wait for it.
TEXT_THREADS = 4
_LARGE_TEXT_MB = 300
#: Bytes from which on the footer of a table is read: a study has thousands of small ones.
_LARGE_TABLE = 2**20


def input_mb(files: Iterable[str]) -> float:
    """Size of files in MB."""
    # Not Snakemake's input.size_mb: that starts a separate event loop for every job, which adds up in a large study.
    return sum(os.path.getsize(file) for file in files) / 2**20


def values_mb(files: Iterable[str]) -> float:
    """Size in MB of the values in files: of large tables before they were compressed, which says what they take in memory."""
    return sum(_uncompressed(file) for file in files) / 2**20


def _uncompressed(file: str) -> int:
    size = os.path.getsize(file)
    if size < _LARGE_TABLE or not file.endswith(".parquet"):
        return size
    from pyarrow import ArrowInvalid
    from pyarrow.parquet import read_metadata

    try:
        table = read_metadata(file)
    except ArrowInvalid:  # the job that reads it says what is wrong with it
        return size
    return sum(table.row_group(i).total_byte_size for i in range(table.num_row_groups))


def memory(base: float, per_mb: float) -> Callable[..., int]:
    """Memory in MB that grows with the size of the values in the input and with every retry."""

    def mem_mb(wildcards: Any, input: Iterable[str], attempt: int) -> int:
        return int(attempt * (base + per_mb * max(values_mb(input), 1)))

    return mem_mb


def minutes(base: float, per_input_mb: float = 0) -> Callable[..., int]:
    """Time limit in minutes that grows with the size of the input and with every retry."""

    def runtime(wildcards: Any, input: Iterable[str], attempt: int) -> int:
        grown = per_input_mb * input_mb(input) if per_input_mb else 0
        return math.ceil(attempt * (base + grown))

    return runtime


def reading_threads(wildcards: Any, input: Iterable[str]) -> int:
    """Threads that read text: several where one takes more than a few seconds."""
    # Snakemake needs a number even for files that are not fetched yet; those are small.
    there = [file for file in input if os.path.exists(file)]
    return TEXT_THREADS if input_mb(there) > _LARGE_TEXT_MB else 1
