from importlib import import_module
from pathlib import Path

from qdrank.store.schemas import SHAPES, Shape


def study_shapes(project: Path) -> list[Shape]:
    files = sorted((project / "src" / "qdrank" / "studies").glob("*/*.py"))
    own = [path for path in files if "_SHAPE = Shape(" in path.read_text()]
    modules = [import_module(f"qdrank.studies.{path.parent.name}.{path.stem}") for path in own]
    return [value for module in modules for value in vars(module).values() if isinstance(value, Shape)]


def test_a_kind_of_artifact_has_one_shape(project: Path) -> None:
    shapes = [*SHAPES.values(), *study_shapes(project)]
    assert len({shape.name for shape in shapes}) == len(shapes) > len(SHAPES)
    for shape in shapes:
        assert shape.nullable <= set(shape.columns), shape.name
