"""Every planted mistake and the last lines of its message: ``python -m tests.mistakes``."""

import sys
import tempfile
import traceback
from pathlib import Path

from tests.mistakes import MISTAKES
from tests.mistakes.planted import left, message


def main(wanted: str = "") -> None:
    """Print the mistakes whose names hold ``wanted``."""
    for number, mistake in enumerate(MISTAKES, 1):
        if wanted not in mistake.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                said = message(mistake, Path(folder))
            except Exception:
                said = traceback.format_exc()
            lacking = [words for words in mistake.says.split(" | ") if words not in said]
            rest = left(mistake, Path(folder))
        print(f"{number}. {mistake.name}")
        print("\n".join(f"    {line}" for line in said.strip().splitlines()[-6:]))
        if lacking or rest:
            print(f"  WEAK: lacks {lacking}; left {rest}")


if __name__ == "__main__":
    main(*sys.argv[1:])
