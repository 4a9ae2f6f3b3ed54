"""Which test catches which fault: ``python -m tests.faults RESULTS.json [NAMES]``.

Each fault is planted in a copy of the project and the tests are run, near ones first, until one fails. A test that fails
without the fault, too, is left out. Results go to the file after each stage, so that a run that was stopped goes on there;
a new file starts anew. At the end a table has the results beside those of the files in this folder, and the exit code is 1
if one of these has a catch that the new file lacks. ``--light`` leaves out the tests that run whole studies.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.faults.order import STAGES, stages, stale
from tests.faults.planted import LIST, Fault, read_list

PROJECT = Path(__file__).parents[2]
CPU = 150  # seconds for a stage of light tests; a fault may make a loop endless
WALL = 1500  # seconds for any stage
OPTIONS = ["-x", "-v", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0"]


class Copy:
    """A copy of the project in a folder of its own, with one fault or none, and with the kernels compiled so far."""

    def __init__(self, folder: Path, fault: Fault | None = None) -> None:
        self.folder = folder
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.run(listed, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.split("\0")[
            :-1
        ]:
            if (PROJECT / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(PROJECT / name, folder / name, follow_symlinks=False)
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        own = {"PYTHONPATH": str(folder / "src"), "PATH": path, "XDG_CACHE_HOME": str(folder / "build/cache")}
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")} | own
        kernels = Path(self._python("import os, qdrank; print(os.environ['NUMBA_CACHE_DIR'])"))
        if fault:
            fault.plant(folder / "src")
        known = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "qdrank" / kernels.name
        if known.exists():
            there = Path(self._python("import os, qdrank; print(os.environ['NUMBA_CACHE_DIR'])"))
            old = stale(folder, fault.module) if fault else set()
            shutil.copytree(known, there, ignore=lambda _, names: old & set(names))

    def _python(self, code: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout.strip()

    def failing(self, tests: list[str], *options: str, cpu: int | None = None) -> tuple[str | None, str]:
        """The first test that fails here, and how: it fails, the process dies, or its time is up."""
        command = [
            sys.executable,
            "-m",
            "pytest",
            *OPTIONS,
            *options,
            f"--basetemp={self.folder / 'build/tmp'}",
            *tests,
        ]
        limit = None if cpu is None else lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
        with (self.folder / "build/printed").open("w+") as printed:
            try:
                code = subprocess.run(
                    command,
                    cwd=self.folder,
                    env=self.environment,
                    stdout=printed,
                    stderr=subprocess.STDOUT,
                    timeout=WALL,
                    check=False,
                    preexec_fn=limit,
                ).returncode
            except subprocess.TimeoutExpired:
                code = -24
            printed.seek(0)
            text = printed.read()
        if code in (0, 5):
            return None, ""
        if failed := re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", text, re.MULTILINE):
            return failed[1], "fails"
        running = re.findall(r"^(tests/\S+::.*?)(?: (?:PASSED|SKIPPED|XFAIL).*)?$", text, re.MULTILINE)
        return (running or ["collection"])[-1], "time is up" if code in (-24, -9) else f"dies ({code})"


def tried(fault: Fault, known: dict[str, Any], wanted: tuple[str, ...], clean: Copy, folder: Path) -> dict[str, Any]:
    """Run the stages that were not passed before; what is known now."""
    known = {"passed": [], "seconds": 0} | known
    try:
        copy = Copy(folder, fault)
    except LookupError as error:
        return known | {"lost": str(error)}
    left_out: list[str] = []
    todo = [(stage, files) for stage, files in stages(folder, fault.module).items() if stage in wanted]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for stage, files in todo:
        while stage not in known["passed"]:
            cpu = None if "runs" in stage else CPU
            test, how = copy.failing(files, *(f"--deselect={one}" for one in left_out), cpu=cpu)
            if test is None:
                known["passed"] = [*known["passed"], stage]
            elif how == "time is up" and "runs" in stage:
                break
            elif clean.failing([test], cpu=cpu)[0] is None:
                now = resource.getrusage(resource.RUSAGE_CHILDREN)
                seconds = now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime
                return known | {"caught": test, "how": how, "stage": stage, "seconds": round(seconds)}
            else:
                left_out.append(test)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime
    return known | {"seconds": known["seconds"] + round(seconds)} | ({"left out": left_out} if left_out else {})


def table(faults: list[Fault], columns: dict[str, dict[str, Any]]) -> str:
    """A row for each fault: what it is, and by column what caught it."""

    def cell(one: dict[str, Any]) -> str:
        caught = one.get("caught", "").removeprefix("tests/") or one.get("lost") or ("MISSED" if one else "")
        return f"{caught} ({one['how']})" if one.get("how", "fails") != "fails" else caught

    head = ["", "kind", "function", *(f"{name} | s" for name in columns)]
    rows = [
        [one.name, one.kind, f"{one.module.removeprefix('qdrank.')}:{one.function}"]
        + [
            f"{cell(found.get(one.name, {}))} | {found.get(one.name, {}).get('seconds', '')}"
            for found in columns.values()
        ]
        for one in faults
    ]
    width = " | ".join(["---"] * (3 + 2 * len(columns)))
    return "\n".join(f"| {line} |" for line in [" | ".join(head), width, *map(" | ".join, rows)])


def main(file: str, *words: str) -> int:
    """Try the faults with these names, or all, and print the table."""
    faults, results = read_list()[0], Path(file)
    found = json.loads(results.read_text()) if results.exists() else {}
    names = [word for word in words if not word.startswith("--")]
    wanted = STAGES[:3] if "--light" in words else STAGES
    with tempfile.TemporaryDirectory() as place:
        clean = None
        for fault in faults:
            known = found.get(fault.name, {})
            if (names and fault.name not in names) or "caught" in known or set(wanted) <= set(known.get("passed", ())):
                continue
            clean = clean or Copy(Path(place) / "clean")
            found[fault.name] = tried(fault, known, wanted, clean, Path(place) / fault.name)
            shutil.rmtree(Path(place) / fault.name, ignore_errors=True)
            results.write_text(json.dumps(dict(sorted(found.items())), indent=0) + "\n")
            print(fault.name, found[fault.name], flush=True)
    columns = {path.stem: json.loads(path.read_text()) for path in sorted(LIST.parent.glob("*.json"))} | {
        results.stem: found
    }
    print(table(faults, columns))
    return int(
        any(
            "caught" in one and "caught" not in found.get(name, {}) for c in columns.values() for name, one in c.items()
        )
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
