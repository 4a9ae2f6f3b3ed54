"""What a job costs before its first useful line, by script: Python, what Snakemake puts before a script, and the script's imports.

    python bench/bench_startup.py
    python bench/bench_startup.py score_reference learn_method

CPU seconds of a process of its own, the least of a few; and which of the large libraries it has loaded by then. A function may
load more where it needs it: matplotlib to draw, numba to train, LightGBM for trees.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
REPEATS = 3
LARGE = ("snakemake", "numpy", "pyarrow", "numba", "scipy", "matplotlib", "lightgbm", "pydantic", "yaml")
# What Snakemake 9 writes before a script; reading its object back needs the last one.
PREAMBLE = "import pickle\nfrom snakemake.logging import logger\nfrom snakemake.iocontainers import Snakemake\n"
REPORT = f"\nimport sys\nprint(*(name for name in {LARGE} if name in sys.modules))"


def imports_of(script: Path) -> str:
    """The imports of a script, as source."""
    nodes = [node for node in ast.parse(script.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(map(ast.unparse, nodes))


def cost(code: str) -> tuple[float, str]:
    """CPU seconds of a Python process that runs ``code``, the least of `REPEATS`, and what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "src")}
    least, printed = float("inf"), ""
    for _ in range(REPEATS):
        with subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            assert process.stdout
            printed = process.stdout.read().strip()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, code
        least = min(least, used.ru_utime + used.ru_stime)
    return least, printed


def main() -> None:
    """Print one row for each script, the most expensive first."""
    wanted = sys.argv[1:]
    scripts = [path for path in sorted((PROJECT / "scripts").rglob("*.py")) if not wanted or path.stem in wanted]
    base, _ = cost(PREAMBLE + REPORT)
    rows = sorted(((*cost(PREAMBLE + imports_of(script) + REPORT), script.stem) for script in scripts), reverse=True)
    print(f"CPU s  loaded (Python and Snakemake alone: {base:.2f})")
    for seconds, libraries, name in rows:
        print(f"{seconds:5.2f}  {name:20} {libraries}")


if __name__ == "__main__":
    main()
