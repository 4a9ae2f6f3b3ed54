"""What every part of the configuration is made of: the base class, and the types that sections share.

Light, like all that the Snakefile imports: a study's section stands in the study's folder and needs only this.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from qdrank.errors import InputError
from qdrank.measures.names import parse as parse_measure
from qdrank.registry import did_you_mean

DatasetName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=64)]
PositiveInt = Annotated[int, Field(ge=1)]
PositiveFloat = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Scale = Literal["auto", "given", "zscore", "minmax"]


def known(kind: str, names: Collection[str]) -> Callable[[str], str]:
    """A check that a value is one of ``names``."""

    def check(name: str) -> str:
        if name not in names:
            raise ValueError(f"unknown {kind}; {did_you_mean(name, list(names))}")
        return name

    return check


def _known_measure(name: str) -> str:
    try:
        return parse_measure(name).name
    except InputError as error:
        raise ValueError(str(error)) from None


MeasureName = Annotated[str, AfterValidator(_known_measure)]


def key(default: Any, description: str, **bounds: Any) -> Any:
    """A key of a section with its default (`...`: required), what the reference says of it, and bounds as of `pydantic.Field`."""
    return Field(default, description=description, **bounds)


class Section(BaseModel):
    """Base of every part of the configuration: unknown keys forbidden, values never changed after the check."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)
    RENAMED: ClassVar[Mapping[str, str]] = {}
    """Former names of keys, and the present ones."""
    CONSTANT: ClassVar[Mapping[str, str]] = {}
    """Former keys, and the value that they always have now."""

    @model_validator(mode="before")
    @classmethod
    def _present_names(cls, values: Any) -> Any:
        for name in values if isinstance(values, Mapping) else ():
            if name in cls.RENAMED:
                raise ValueError(f"the key {name} is called {cls.RENAMED[name]} now")
            if name in cls.CONSTANT:
                raise ValueError(f"the key {name} is gone; it is always {cls.CONSTANT[name]}")
        return values


class StudySection(Section):
    """Base of the sections of studies."""

    datasets: list[DatasetName] | None = key(None, "Data sets to study so; null: all.")
