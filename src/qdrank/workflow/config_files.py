"""Configuration as files: checking what a user wrote, and generating what is derived from the models."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from qdrank.datasets.sources import UniqueKeyLoader
from qdrank.errors import InputError
from qdrank.registry import did_you_mean
from qdrank.workflow.config import Settings, WholeSettings
from qdrank.workflow.own_data import OWN_KINDS

Source = tuple[str, Mapping[str, Any]]
_YAML_FIX = "indent with blanks, not tabs, and close every bracket and quote; config/config.yaml has every key"
#: Steps of a fault's path that are no keys: kinds of data, and which of several types a value has.
_FORMS = (*OWN_KINDS, "plain", "section", "constrained-int", "str", "int", "float")
#: A message about a key begins with its path.
_KEY = re.compile(r"(\w[\w-]*(?:\.[\w-]+)+): ")


def resolve(values: Mapping[str, Any], sources: Sequence[Source] = ()) -> Settings:
    """Check merged configuration values; ``sources`` are (file, its values), later ones overriding earlier ones.

    Raises
    ------
    InputError
        With one line per fault: file, key path, what is allowed, and the nearest valid key.
    """
    try:
        return WholeSettings.model_validate(values)
    except ValidationError as error:
        faults = [_fault(fault, sources) for fault in error.errors(include_url=False)]
        raise InputError("the configuration has faults\n" + "\n".join(f"  {fault}" for fault in faults)) from None


def merged(sources: Sequence[Source]) -> dict[str, Any]:
    """What the workflow sees: the defaults with each file on top."""
    return layered([("defaults", deepcopy(_defaults())), *sources])


@cache
def _defaults() -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load(default_yaml())
    return values


def layered(sources: Sequence[Source]) -> dict[str, Any]:
    """Each source on top of those before it: sections merged key by key, lists replaced."""
    whole: dict[str, Any] = {}
    for _, values in sources:
        whole = _merged(whole, values)
    return whole


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    both = (key for key in above if isinstance(below.get(key), Mapping) and isinstance(above[key], Mapping))
    return {**below, **above, **{key: _merged(below[key], above[key]) for key in both}}


def load_sources(files: Sequence[str | Path]) -> list[Source]:
    """Contents of configuration files, in order."""
    return [(str(file), load_yaml(file)) for file in files]


def load_yaml(file: str | Path) -> dict[str, Any]:
    """Mapping in a YAML file; anything else in it is an error that names the place."""
    try:
        values = yaml.load(Path(file).read_text(encoding="utf-8"), Loader=UniqueKeyLoader)  # noqa: S506 (a safe loader)
    except FileNotFoundError:
        # `--configfile mine.yaml all` takes the target for a second file.
        fix = "correct the path; on the command line, targets come before --configfile"
        raise InputError("no such configuration file", file=file, fix=fix) from None
    except yaml.MarkedYAMLError as error:
        line = None if error.problem_mark is None else error.problem_mark.line + 1
        twice = isinstance(error, yaml.constructor.ConstructorError)
        problem, fix = str(error.problem), "keep one of the two" if twice else _YAML_FIX
        raise InputError(problem if twice else f"not YAML: {problem}", file=file, line=line, fix=fix) from None
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"not YAML: {error}", file=file, fix="save the file as UTF-8 text") from None
    if not isinstance(values, dict):
        raise InputError("a configuration is a mapping of keys to values", file=file, fix="see config/config.yaml")
    return values


def _fault(fault: Any, sources: Sequence[Source]) -> str:
    path = [str(step) for step in fault["loc"] if step not in _FORMS]
    where = f"{_origin(path, sources)}: {'.'.join(path)}"
    if fault["type"] == "extra_forbidden":
        return f"{where}: unknown key; {_meant(path, _keys_beside(fault['loc']))}"
    if fault["type"] == "missing":
        return f"{where}: required, but missing"
    if fault["type"] == "union_tag_not_found":
        return f"{where}.kind: required, but missing; the kinds are {', '.join(OWN_KINDS)}"
    if fault["type"] == "union_tag_invalid":
        kind = str(fault["ctx"]["tag"])
        return f"{where}.kind: unknown kind {kind!r}; {did_you_mean(kind.lower(), OWN_KINDS)}"
    if fault["type"] == "dict_type":
        return f"{where}: must have keys, as in {path[-1]}: {{key: value}} (found {fault['input']!r:.80})"
    return f"{where}: {fault['msg'].removeprefix('Value error, ')} (found {fault['input']!r:.80})"


def _meant(path: Sequence[str], beside: Sequence[str]) -> str:
    """The key that was meant: one beside it, the same one in another section, or all that are allowed."""
    meant = did_you_mean(path[-1], beside)
    sections = WholeSettings().model_dump()
    there = [name for name, section in sections.items() if isinstance(section, dict) and path[-1] in section]
    if meant.startswith("allowed") and there:
        return "did you mean " + " or ".join(f"{name}.{path[-1]}" for name in there) + "?"
    return meant


@contextmanager
def located(sources: Sequence[Source]) -> Iterator[None]:
    """Name the file in every `InputError` from within that is about a key of the configuration."""
    try:
        yield
    except InputError as error:
        key = _KEY.match(error.problem)
        if error.file is not None or key is None:
            raise
        file = _origin(key[1].split("."), sources)
        raise InputError(error.problem, file=file, found=error.found, fix=error.fix) from None


def _origin(path: Sequence[str], sources: Sequence[Source]) -> str:
    """The last source that sets ``path``, or the section it belongs to; another workflow may give values of no source."""
    for length in range(len(path), 0, -1):
        for name, values in reversed(sources):
            if _holds(values, path[:length]):
                return name
    return "the module's config"


def _holds(values: Any, path: Sequence[str]) -> bool:
    for step in path:
        if isinstance(values, list) and step.isdigit() and int(step) < len(values):
            values = values[int(step)]
        elif isinstance(values, Mapping) and step in values:
            values = values[step]
        else:
            return False
    return True


def _keys_beside(loc: Sequence[int | str]) -> list[str]:
    """Valid keys of the section of the last step of ``loc``."""
    schema = _schema()
    node: dict[str, Any] = schema
    for step in loc[:-1]:
        node = _below(node, str(step), schema)
    return sorted(node.get("properties", {}))


@cache
def _schema() -> dict[str, Any]:
    return WholeSettings.model_json_schema()


def _below(node: dict[str, Any], step: str, schema: dict[str, Any]) -> dict[str, Any]:
    options = node.get("oneOf", [])
    if options:
        section = next(option["$ref"] for option in options if "$ref" in option)
        return _deref({"$ref": node.get("discriminator", {}).get("mapping", {}).get(step, section)}, schema)
    inner = node.get("properties", {}).get(step) or _any_key(node)
    return _deref(inner, schema)


def _any_key(node: dict[str, Any]) -> dict[str, Any]:
    """Schema of the values of a mapping whose keys are the user's."""
    schema: dict[str, Any] = next(iter(node.get("patternProperties", {}).values()), {})
    return schema


def _deref(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in node:
        return node
    definition: dict[str, Any] = schema["$defs"][node["$ref"].rpartition("/")[2]]
    return definition


# ---- what is generated -------------------------------------------------------------------------------------------


def generated() -> dict[str, str]:
    """Path in the project to text, for every file that is derived from the models."""
    return {"config/config.yaml": default_yaml(), "docs/configuration.md": reference_table()}


def default_yaml() -> str:
    """The default configuration, each key under its explanation."""
    head = (
        "# The default configuration: every key, with its default. Copy what you change into a file of your own and give it\n"
        "# with --configfile; config/README.md explains. Generated from src/qdrank/workflow/config.py by `qdrank config generate`.\n"
    )
    return head + "\n".join(_yaml_lines(WholeSettings(), indent=0)) + "\n"


def _yaml_lines(section: BaseModel, indent: int) -> list[str]:
    pad, lines = " " * indent, []
    for name, info in type(section).model_fields.items():
        value = getattr(section, name)
        lines += [""] * (indent == 0)
        lines += [f"{pad}# {row}" for row in textwrap.wrap(info.description or "", 116 - indent)]
        if isinstance(value, BaseModel):
            lines += [f"{pad}{name}:", *_yaml_lines(value, indent + 2)]
        else:
            lines.append(f"{pad}{name}: {_flow(value)}")
    return lines


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        value = {
            key: item.model_dump(exclude_defaults=True) if isinstance(item, BaseModel) else item
            for key, item in value.items()
        }
    text: str = yaml.safe_dump(value, default_flow_style=True, width=10_000, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")


def reference_table() -> str:
    """Every key as a Markdown table: path, type, default, explanation."""
    head = [
        "# Configuration reference",
        "",
        "Generated from `src/qdrank/workflow/config.py` by `qdrank config generate`; do not edit.",
        "",
        "| key | allowed | default | meaning |",
        "| --- | --- | --- | --- |",
    ]
    return (
        "\n".join(head + _table_rows(WholeSettings.model_json_schema(), WholeSettings.model_json_schema(), "")) + "\n"
    )


def _table_rows(node: dict[str, Any], schema: dict[str, Any], prefix: str) -> list[str]:
    rows = []
    for name, raw in node.get("properties", {}).items():
        inner = _deref(raw, schema)
        if "properties" in inner:
            rows.append(f"| **`{prefix}{name}`** | | | {raw.get('description', inner.get('description', ''))} |")
            rows += _table_rows(inner, schema, f"{prefix}{name}.")
            continue
        default = f"`{json.dumps(raw['default'])}`" if "default" in raw else ""
        rows.append(f"| `{prefix}{name}` | {_allowed(raw, schema)} | {default} | {raw.get('description', '')} |")
        kinds = [_deref(option, schema)["properties"] for option in _any_key(raw).get("oneOf", [])]
        for kind, (key, item) in ((one, entry) for one in kinds for entry in one.items()):
            having = [other for other in kinds if other.get(key) == item]
            if having[0] is kind:
                of = "" if having == kinds else f" ({', '.join(other['kind']['const'] for other in having)})"
                rows += _table_rows({"properties": {key: item}}, schema, f"{prefix}{name}.NAME{of}.")
    return rows


def _allowed(node: dict[str, Any], schema: dict[str, Any]) -> str:
    """What a value may be, as text."""
    node = _deref(node, schema)
    if forms := node.get("anyOf") or node.get("oneOf"):
        return " or ".join(_allowed(option, schema) for option in forms)
    if "enum" in node or "const" in node:
        return ", ".join(f"`{option}`" for option in node.get("enum", [node.get("const")]))
    if node.get("type") == "array":
        return f"list of {_allowed(node['items'], schema)}"
    bounds = [
        f"{sign} {node[key]}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<"))
        if key in node
    ]
    return " ".join([node.get("type", "mapping"), *bounds])
