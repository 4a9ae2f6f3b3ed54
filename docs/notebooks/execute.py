"""Execute docs/notebooks/afternoon.ipynb again and write docs/afternoon.md from it.

    python docs/notebooks/execute.py FOLDER

FOLDER holds ``results/``, what a run made. Cells run in this process, so no Jupyter is needed; the notebook opens in it all the same.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NOTEBOOK = HERE / "afternoon.ipynb"
PAGE = HERE.parent / "afternoon.md"


def shown(source: str, names: dict[str, Any]) -> str:
    """What a cell prints, and the value of its last line if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102 (the cells of our own notebook)
        code = None if last is None else compile(ast.Expression(last.value), "cell", "eval")
        value = None if code is None else eval(code, names)  # noqa: S307
    return printed.getvalue() + ("" if value is None else f"{value}\n")


def executed(notebook: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The notebook with the outputs of its cells, run one after another in ``folder``."""
    names: dict[str, Any] = {"__name__": "notebook"}
    cells, number = [], 0
    with contextlib.chdir(folder):
        for cell in notebook["cells"]:
            made = {}
            if cell["cell_type"] == "code":
                number += 1
                text = shown("".join(cell["source"]), names)
                output = {"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)}
                made = {"execution_count": number, "outputs": [output] if text else []}
            cells.append(cell | made)
    return notebook | {"cells": cells}


def page(notebook: dict[str, Any]) -> str:
    """The notebook as Markdown: code, and below it what it showed."""
    parts = ["<!-- Made by docs/notebooks/execute.py from notebooks/afternoon.ipynb; do not edit. -->"]
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        parts += ["```text\n" + "".join(output["text"]).rstrip() + "\n```" for output in cell.get("outputs", [])]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "120")
    made = executed(json.loads(NOTEBOOK.read_text(encoding="utf-8")), Path(sys.argv[1]))
    NOTEBOOK.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(made), encoding="utf-8")
