"""What all rules with a script have in common: a log, a benchmark, the environment, and the digest of their code.

The rule files do not repeat it. Snakemake itself fills a rule from its file through the setters used here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from snakemake.exceptions import WorkflowError

from qdrank.workflow.provenance import code_digest

_ENVIRONMENT = "../../envs/qdrank.yaml"  # as seen from the rule files


def complete(workflow: Any) -> None:
    """Complete every rule with a script that has been read so far; what a rule sets itself is kept."""
    for rule in workflow.rules:
        # Used as a module of another workflow, only the rules that were read with this Snakefile are ours.
        if rule.script is None or rule.module_globals is not workflow.modifier.globals:
            continue
        place = "/".join([rule.name, *(f"{{{name}}}" for name in _wildcards(rule))])
        if not rule.log:
            rule.log_modifier = rule.output_modifier
            rule.set_log(f"logs/{place}.log")
        if not rule.benchmark:
            rule.benchmark_modifier = rule.output_modifier
            rule.benchmark = f"benchmarks/{place}.tsv"
        if not rule.conda_env:
            rule.conda_env = _ENVIRONMENT
        rule.set_params(code=_digest_of_job(rule.name, dict(rule.params.items())))


def _wildcards(rule: Any) -> list[str]:
    """Wildcards of a rule in the order of its first output."""
    return list(dict.fromkeys(re.findall(r"\{(\w+)", str(rule.output[0]))))


def _digest_of_job(name: str, params: Mapping[str, Any]) -> Callable[[Any], str]:
    """The digest of a job's code, from its wildcards: all its params are searched for names."""
    constant = {name: value for name, value in params.items() if not callable(value)}
    asked = {name: value for name, value in params.items() if callable(value)}

    def code(wildcards: Any) -> str:
        try:
            return code_digest({**constant, **{name: ask(wildcards) for name, ask in asked.items()}})
        except TypeError as error:
            raise WorkflowError(f"rule {name}: a param may be a function of the wildcards alone: {error}") from error

    return code
