"""Which test catches which fault: ``python -m tests.faults RESULTS.json [NAMES]``.

Each fault is planted in a copy of the last commit and the tests are run, near ones first, until one fails. Results go to the
file after each fault, so that a run that was stopped goes on there; a new file starts anew. At the end the tests that
failed are run without a fault: one that fails there too catches nothing. The table has the results beside those of the
files in this folder, and the exit code is 1 if one of these has a catch that the new file lacks. ``--until=others`` leaves
out the tests that run whole studies, ``--until=runs`` those that run more than the one that tests share; ``--commit=NAME``
takes another commit than the last.
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
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults.order import STAGES, stages, stale
from tests.faults.planted import LIST, Fault, read_list

PROJECT = Path(__file__).parents[2]
CPU = 150  # seconds for a stage of light tests; a fault may make a loop endless
WALL = 1800  # seconds for any stage
OPTIONS = ["-v", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0"]
LATE = "time is up"
LEFT_OUT = "fail without a fault"
Results = dict[str, Any]


class Copy:
    """A commit in a folder of its own, with one fault or none, and with the kernels compiled so far."""

    def __init__(self, folder: Path, commit: str, fault: Fault | None = None, clean: Copy | None = None) -> None:
        self.folder, self.aside = folder / "project", folder / "aside"
        self.folder.mkdir(parents=True)
        self.aside.mkdir()
        archive = subprocess.run(["git", "archive", commit], cwd=PROJECT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "x"], cwd=self.folder, input=archive, check=True)
        here = {"PYTHONPATH": self.folder / "src", "XDG_CACHE_HOME": self.aside}
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        self.environment |= {k: str(v) for k, v in here.items()}
        self.environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        kernels = self._kernels().name
        if fault:
            fault.plant(self.folder / "src")
        known = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "qdrank" / kernels
        if known.exists():
            old = stale(clean.folder, fault.module) if clean and fault else set()
            shutil.copytree(known, self._kernels(), ignore=lambda _, names: old & set(names))

    def _kernels(self) -> Path:
        """Where the package of the copy keeps its kernels; nothing else must be imported for the answer."""
        code = "import os, qdrank; print(os.environ['NUMBA_CACHE_DIR'])"
        options: dict[str, Any] = {"capture_output": True, "text": True, "check": True}
        ran = subprocess.run([sys.executable, "-c", code], cwd=self.folder, env=self.environment, **options)
        return Path(ran.stdout.strip())

    def failing(self, tests: list[str], *options: str, cpu: int = resource.RLIM_INFINITY) -> list[tuple[str, str]]:
        """Tests that fail here, and how: the test fails, the process dies, or its time is up."""
        command = [sys.executable, "-m", "pytest", *OPTIONS, *options, f"--basetemp={self.aside / 'tmp'}", *tests]
        limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (cpu, resource.RLIM_INFINITY))
        with (self.aside / "printed").open("w+") as out:
            there: dict[str, Any] = {
                "cwd": self.folder,
                "env": self.environment,
                "stdout": out,
                "stderr": subprocess.STDOUT,
            }
            try:
                code = subprocess.run(command, **there, timeout=WALL, check=False, preexec_fn=limit).returncode
            except subprocess.TimeoutExpired:
                code = -24
            out.seek(0)
            text = out.read()
        if code >= 0:
            assert code in (0, 1, 2, 3, 5), text[-3000:]
            return [(test, "fails") for test in re.findall(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", text, re.MULTILINE)]
        running = re.findall(r"^(tests/\S+::.*?)(?: (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL).*| )?$", text, re.MULTILINE)
        return [((running or tests)[-1], LATE if code == -24 else f"dies ({code})")]


def attempt(copy: Copy, tests_of: dict[str, list[str]], known: Results, left_out: list[str]) -> Results:
    """Run the stages that were not passed before; what is known then."""
    known = {"passed": [], "seconds": 0} | known
    for stage, tests in tests_of.items():
        if stage not in known["passed"]:
            begun = resource.getrusage(resource.RUSAGE_CHILDREN)
            limit = {} if "runs" in stage else {"cpu": CPU}
            options = ["-x", *(f"--deselect={one}" for one in left_out)]
            failed = copy.failing(tests, *options, **limit) if tests else []
            if failed and failed[0][1] == LATE:  # a slow stage, or a test that never ends: alone it has time enough
                known |= {"cut short": stage}
                failed = copy.failing([failed[0][0]], **limit)
            done = resource.getrusage(resource.RUSAGE_CHILDREN)
            known["seconds"] += round(done.ru_utime + done.ru_stime - begun.ru_utime - begun.ru_stime)
            if failed:
                return known | dict(zip(("caught", "how"), failed[0], strict=True))
            known["passed"].append(stage)
    return known


def confirm(found: Results, clean: Copy) -> bool:
    """Run the tests that caught something without a fault; whether none of them fails there too."""
    new = {name: one["caught"] for name, one in found.items() if "caught" in one and "confirmed" not in one}
    bad = {test for test, _ in clean.failing(sorted(set(new.values())))} if new else set()
    for name, test in new.items():
        found[name] |= {"confirmed": True}
        if test in bad:
            found[name] = {key: found[name][key] for key in ("passed", "seconds")}
    found[LEFT_OUT] = sorted({*found.get(LEFT_OUT, []), *bad})
    return not bad


def table(faults: list[Fault], columns: dict[str, Results]) -> Iterator[str]:
    """A row for each fault: what it is, and by column what caught it and how long it took."""
    yield " | ".join(["", "kind", "function", *(f"{name} | CPU s" for name in columns)])
    yield " | ".join(["---"] * (3 + 2 * len(columns)))
    for fault in faults:
        cells = []
        for one in (found.get(fault.name, {}) for found in columns.values()):
            how = f" ({one['how']})" if one.get("how", "fails") != "fails" else ""
            caught = one.get("caught", "").removeprefix("tests/") or one.get("lost") or (one and "MISSED") or ""
            cells += [f"{caught}{how}".replace("|", "\\|"), str(one.get("seconds", ""))]
        yield " | ".join([fault.name, fault.kind, fault.at, *cells])


def write(file: Path, found: Results) -> None:
    """Keep what is known."""
    file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main(file: str, *words: str) -> int:
    """Try the faults with these names, or all, and print the table."""
    faults, results = read_list()[0], Path(file)
    found: Results = json.loads(results.read_text()) if results.exists() else {}
    names = [word for word in words if not word.startswith("--")] or [fault.name for fault in faults]
    options = {"--until": STAGES[-1], "--commit": "HEAD"} | dict(word.split("=") for word in words if "=" in word)
    wanted = STAGES[: STAGES.index(options["--until"]) + 1]
    with tempfile.TemporaryDirectory() as place:
        clean, settled = Copy(Path(place) / "clean", options["--commit"]), False
        while not settled:
            for fault in faults:
                known, folder = found.get(fault.name, {}), Path(place) / fault.name
                if fault.name in names and "caught" not in known and not set(wanted) <= set(known.get("passed", ())):
                    try:
                        copy = Copy(folder, options["--commit"], fault, clean)
                        todo = {
                            stage: tests
                            for stage, tests in stages(clean.folder, fault.module).items()
                            if stage in wanted
                        }
                        found[fault.name] = attempt(copy, todo, known, found.get(LEFT_OUT, []))
                    except LookupError as error:
                        found[fault.name] = {"lost": str(error)}
                    shutil.rmtree(folder)
                    print(fault.name, found[fault.name], flush=True)
                    write(results, found)
            settled = confirm(found, clean)
            write(results, found)
    columns = {path.stem: json.loads(path.read_text()) for path in sorted(LIST.parent.glob("*.json"))}
    print("\n".join(f"| {row} |" for row in table(faults, columns | {results.stem: found})))
    caught = {fault.name for fault in faults for one in columns.values() if "caught" in one.get(fault.name, {})}
    return int(any("caught" not in found.get(name, {}) for name in caught))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
