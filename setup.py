"""Put the workflow into the wheel: all else is in pyproject.toml.

In a checkout the folders below have one place, at its top; in the wheel the same files are in ``qdrank/_project``. An
editable install needs none of it: there the library finds them in the checkout.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

TOP = Path(__file__).resolve().parent
PACKAGED = ("Snakefile", "config", "envs", "resources/expected", "scripts", "workflow")


def packaged_files() -> list[Path]:
    """Files of the workflow, relative to the checkout."""
    whole = [path for name in PACKAGED for path in ((TOP / name).rglob("*") if (TOP / name).is_dir() else [TOP / name])]
    return sorted(path.relative_to(TOP) for path in whole if path.is_file() and path.suffix != ".pyc")


class BuildWithWorkflow(build_py):
    """The package with the workflow inside it."""

    def run(self) -> None:
        """Copy the library, then the workflow."""
        super().run()
        if not self.editable_mode:
            for path in packaged_files():
                target = self._target(path)
                self.mkpath(str(target.parent))
                self.copy_file(str(TOP / path), str(target))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Files that the build makes."""
        return [*super().get_outputs(include_bytecode), *(str(self._target(path)) for path in packaged_files())]

    def get_source_files(self) -> list[str]:
        """Files that a source distribution needs."""
        return [*super().get_source_files(), *map(str, packaged_files())]

    def _target(self, path: Path) -> Path:
        return Path(self.build_lib, "qdrank", "_project", path)


setup(cmdclass={"build_py": BuildWithWorkflow})
