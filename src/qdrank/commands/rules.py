"""``qdrank rules``: the rules that the workflow makes of what studies declare, as a rule file would have them."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from qdrank.errors import InputError
from qdrank.project import PROJECT
from qdrank.registry import did_you_mean
from qdrank.workflow.config_files import load_sources, located, merged, resolve
from qdrank.workflow.plan import plan
from qdrank.workflow.run import ALL_STUDIES, WorkflowRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a rule, or a study for all of its rules (default: all)"
    )
    parser.add_argument("--configfile", nargs="+", type=Path, default=[], metavar="FILE", help="as for snakemake")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    sources = load_sources(args.configfile)
    settings = resolve(merged(sources), sources)
    with located(sources):
        planned = plan(settings, [*(file.parent for file in args.configfile), PROJECT])
    print("\n\n".join(rules(WorkflowRun(settings, planned), args.name)))
    return 0


def rules(run: WorkflowRun, name: str | None = None) -> list[str]:
    """The text of the rule called ``name``, of those of a study, or of all."""
    from qdrank.workflow.emitting import emitted
    from qdrank.workflow.files import Files

    names = {short: study.name for study in ALL_STUDIES for short in (study.short, study.name)}
    made = list(emitted(Files(run), _Gather()))
    if chosen := [rule for rule in made if name in (None, rule.name) or rule.study == names.get(str(name))]:
        return [_text(rule) for rule in chosen]
    problem = "the configuration does not run this study" if name in names else "no such rule or study"
    raise InputError(problem, found=name, fix=did_you_mean(str(name), [*names, *(rule.name for rule in made)]))


class _Gather:
    """Stands for Snakemake's: one shard of every process."""

    def __getattr__(self, process: str) -> Any:
        return lambda path: [path.format(scatteritem="1-of-1")]


def _text(rule: Any) -> str:
    """A rule as a rule file would have it; what functions give is shown for the first data set and fold that it may have."""
    first = {name: re.sub(r"\\(.)", r"\1", pattern.partition("|")[0]) for name, pattern in rule.constraints.items()}
    job = SimpleNamespace(**{"fold": "fold1", "scatteritem": "1-of-1", **first})
    memory, minutes = (
        f"{name}({', '.join(map(str, of))})" for name, of in (("memory", rule.memory), ("minutes", rule.minutes))
    )
    lines = [
        f"rule {rule.name}:",
        f'    """{rule.says}"""',
        *_named("input", rule.input, job),
        *_named("output", rule.output, job),
        *_named("wildcard_constraints", rule.constraints, job),
        *([f"    priority: {rule.priority}"] if rule.priority else []),
        *([f"    threads: {_value(rule.threads, job)}"] if rule.threads != 1 else []),
        "    resources:",
        f"        mem_mb={memory},",
        f"        runtime={minutes},",
        *_named("params", rule.params, job),
        "    script:",
        '        "../../scripts/run_step.py"',
    ]
    return "\n".join(lines)


def _named(part: str, values: Mapping[str, Any], job: Any) -> Iterator[str]:
    yield f"    {part}:"
    for name, value in values.items():
        given = _value(value, job)
        pair = f"{name}={given}" if name.isidentifier() else f"**{{{_quoted(name)}: {given}}}"
        yield f"        {pair}," + (f"  # on {job.dataset}" if callable(value) else "")


def _value(value: Any, job: Any) -> str:
    """A value as it is written; Snakemake's flags are shown."""
    if callable(value):
        value = value(job)
    if isinstance(value, list | tuple):
        inside = ", ".join(_value(one, job) for one in value)
        return f"[{inside}]"
    if isinstance(value, str):
        flags = getattr(value, "flags", {})
        return next((f"{flag}({_quoted(value)})" for flag in ("temp", "report") if flags.get(flag)), _quoted(value))
    return repr(value)


def _quoted(text: str) -> str:
    return json.dumps(str(text), ensure_ascii=False)
