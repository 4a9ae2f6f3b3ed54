"""Options of a study are its section of the configuration, without pydantic."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from qdrank.store.schemas import SHAPES, Shape
from qdrank.studies.study import Keys


class Options(Keys):
    @property
    def doubled(self) -> int:
        return 2 * self.k


def test_keys_are_given_by_name_and_cannot_be_changed() -> None:
    options = Options(k=3, lam=0.1)
    assert (options.k, options.doubled) == (3, 6)
    assert options == Options(k=3, lam=0.1) != Options(k=3, lam=0.2)
    with pytest.raises(AttributeError, match="k is given by the configuration"):
        options.k = 4


def test_a_key_that_the_rule_did_not_give_is_named() -> None:
    with pytest.raises(AttributeError, match="not given the key k"):
        _ = Options(lam=0.1).k


def test_a_copy_has_other_values() -> None:
    options = Options(k=3, lam=0.1)
    assert options.model_copy(update={"k": 4}) == Options(k=4, lam=0.1)
    assert options.k == 3


@pytest.mark.parametrize(
    "module",
    [
        *(f"{study}.methods" for study in ("geng2008", "zha2006", "lin2011")),
        "hoi2008.rankers",
        *(f"{study}.options" for study in ("beyond", "hybrid")),
    ],
)
def test_options_load_no_pydantic(module: str) -> None:
    code = f"import qdrank.studies.{module}, sys; print('pydantic' in sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "False"


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
