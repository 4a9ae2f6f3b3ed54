"""A fault and the place for it: a module, a function, and an expression as `ast.unparse` writes it."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.faults.kinds import expressions, functions

LIST = Path(__file__).with_name("faults.yaml")


@dataclass(frozen=True)
class Fault:
    """One fault; ``nth`` counts the expressions of its function that read like ``old``."""

    name: str
    kind: str
    module: str
    function: str
    old: str
    new: str
    nth: int = 1

    @property
    def at(self) -> str:
        """Its function, and where that is."""
        return f"{self.module.removeprefix('qdrank.')}:{self.function}"

    @property
    def room(self) -> str:
        """Its room."""
        return self.module.split(".")[1]

    def path(self, source: Path) -> Path:
        """Its file below the folder ``source``."""
        path = source / self.module.replace(".", "/")
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.exists():
                return file
        raise LookupError(f"no module {self.module}")

    def plant(self, source: Path) -> None:
        """Plant it in the sources below the folder ``source``; `LookupError` where it has no place."""
        path = self.path(source)
        path.write_text(self.planted(path.read_text(encoding="utf-8")), encoding="utf-8")

    def planted(self, text: str) -> str:
        """The text of the module with the fault in it, otherwise as it was, line by line."""
        function = dict(functions(ast.parse(text))).get(self.function)
        alike = [one for one, _ in expressions(function) if ast.unparse(one) == self.old] if function else []
        if len(alike) < self.nth:
            raise LookupError(f"{self.module}:{self.function} has no ({self.old})")
        node, lines = alike[self.nth - 1], text.encode().splitlines(keepends=True)
        start, end = (sum(map(len, lines[: n - 1])) for n in (node.lineno, node.end_lineno or 0))
        whole, wrapped = b"".join(lines), f"({self.new})".encode()
        return (whole[: start + node.col_offset] + wrapped + whole[end + (node.end_col_offset or 0) :]).decode()


def read_list() -> tuple[list[Fault], list[dict[str, Any]]]:
    """The faults to plant, and those that were drawn and turned down, with reasons."""
    content = yaml.safe_load(LIST.read_text(encoding="utf-8")) if LIST.exists() else {}
    return [Fault(**one) for one in content.get("faults", [])], content.get("rejected", [])
