"""``python -m tests.golden [tiny] [first] [--write]``: runs the studies in build/golden, and compares them with what is kept, or keeps them.

With NPY_DISABLE_CPU_FEATURES=X86_V4, and build/golden deleted, a processor with AVX-512 stands for one without.
"""

import json
import sys
from pathlib import Path

from tests.golden.compare import differences, to_keep
from tests.golden.record import CONFIGS, PROJECT, Record, record, snakemake

SHOWN = 20


def main(*words: str) -> int:
    """Exit code: 1 where something differs."""
    differ = False
    for name in [word for word in words if word in CONFIGS] or CONFIGS:
        folder = PROJECT / "build" / "golden" / name
        print(f"{name}: {CONFIGS[name].relative_to(PROJECT)} in {folder.relative_to(PROJECT)} ...", flush=True)
        snakemake(folder, "--cores", "all", "--configfile", str(CONFIGS[name]))
        found = record(name, folder)
        if "--write" in words:
            kept = kept_record(name) if kept_file(name).exists() else None
            text = json.dumps(to_keep(found, kept), indent=1, ensure_ascii=False)
            kept_file(name).write_text(text + "\n", encoding="utf-8")
            continue
        lines = differences(kept_record(name), found)
        differ |= bool(lines)
        print(f"{name}: {shown(lines)}")
        if not found["exact"].keys() & kept_record(name)["exact"].keys():
            print(f"{name}: choices and digests are not kept for {', '.join(found['exact'])}, and were not compared")
    return int(differ)


def kept_file(name: str) -> Path:
    """Where the record of a study is kept."""
    return Path(__file__).parent / f"{name}.json"


def kept_record(name: str) -> Record:
    """The record that is kept of a study."""
    kept: Record = json.loads(kept_file(name).read_text(encoding="utf-8"))
    return kept


def shown(lines: list[str]) -> str:
    """How many differences there are, and the first of them."""
    return "\n  ".join([f"{len(lines)} differences", *lines[:SHOWN]]) if lines else "as it was"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
