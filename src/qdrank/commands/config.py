"""``qdrank config``: check a configuration before a run, or write the files that are generated from its models."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from qdrank.errors import InputError
from qdrank.project import PROJECT
from qdrank.registry import did_you_mean
from qdrank.store.atomic import write_text
from qdrank.studies import STUDIES
from qdrank.workflow.config import Settings, WholeSettings
from qdrank.workflow.config_files import generated, load_sources, located, merged, resolve
from qdrank.workflow.plan import Plan, PlannedDataset, plan
from qdrank.workflow.run import WorkflowRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = commands.add_parser("check", help="find what would stop a run, and print what the files resolve to")
    check.add_argument("files", nargs="*", type=Path, metavar="FILE")
    generate = commands.add_parser("generate", help="write config/config.yaml and the reference table")
    generate.add_argument("--project", type=Path, default=Path(), help="the project's folder (default: here)")
    commands.add_parser("schema", help="print the JSON schema of a configuration, for editors")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.action == "generate":
        for path, text in generated().items():
            write_text(args.project / path, text)
        return 0
    if args.action == "schema":
        print(json.dumps(WholeSettings.model_json_schema(), indent=2))
        return 0
    sources = load_sources(args.files)
    settings = resolve(merged(sources), sources)
    with located(sources):
        planned = plan(settings, [*(file.parent for file in args.files), PROJECT])
        for dataset in planned.datasets.values():
            if dataset.kind == "simulated":
                check_simulated(dataset.name, dataset.options)
            elif not dataset.registered:
                check_own(dataset)
        if planned.of_kind("text"):
            check_text(settings)
        check_grids(settings, planned)
    ready = WorkflowRun(settings, planned)
    ready.refuse_leaks()
    print(yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False), end="", flush=True)
    # Below the settings, where a person looks.
    for words in [*(f"{name} is left out: {reason}" for name, reason in planned.left_out.items()), *not_run(settings)]:
        print(f"qdrank: {words}", file=sys.stderr)
    print(f"# ok: {'; '.join(what_runs(ready, dataset) for dataset in planned.datasets.values())}")
    return 0


def what_runs(run: WorkflowRun, dataset: PlannedDataset) -> str:
    """A data set, and what a run would do with it, in words; a comment of YAML has one line."""
    folds, learners = len(dataset.folds), len(run.learners_of(dataset.name))
    does = [study.short for study in run.studies_of(dataset.name)]
    does += [f"{learners} classic {'method' if learners == 1 else 'methods'}"] * bool(learners)
    return f"{dataset.name}, {folds} {'fold' if folds == 1 else 'folds'}: {', '.join(does) or 'the first stage alone'}"


def not_run(settings: Settings) -> Iterator[str]:
    """What the configuration names and does not run, which may be meant, or a name forgotten under ``datasets``."""
    brought = type(settings).model_fields["own"].get_default(call_default_factory=True)
    for name in settings.own:
        if name not in settings.datasets and name not in brought:
            yield f"own.{name} is not run: datasets does not list it"
    for study in STUDIES.values():
        for name in settings.of_study(study).datasets or ():
            if name not in settings.datasets:
                yield f"{study.short}.datasets: {name} is not run: datasets does not list it"


def check_text(settings: Settings) -> None:
    """Raise if words cannot be stemmed as the configuration has it."""
    from qdrank.text.analyser import Analyser

    try:
        Analyser(stemmer=settings.text.stemmer)
    except InputError as error:
        raise InputError(f"text.stemmer: {error.problem}", found=error.found, fix=error.fix) from None


def check_grids(settings: Settings, planned: Plan) -> None:
    """Raise if a learner is to try values of a parameter that it does not have, or one's own has no ``fit`` or ``predict``."""
    from qdrank.learners import LEARNERS
    from qdrank.learners.own import own_parameters
    from qdrank.rankers.methods import CLASSIC

    own = {}
    for name, target in planned.learners.items():
        try:
            own[name] = own_parameters(target)
        except InputError as error:
            raise InputError(f"learners.own.{name}: {error.problem}", found=target, fix=error.fix) from None
    for method, grid in settings.learners.grids.items():
        known = own[method] if method in own else list(LEARNERS[CLASSIC[method].learner]().get_params())
        for parameter in grid:
            if parameter not in known:
                problem = f"learners.grids.{method}.{parameter}: {method} has no such parameter"
                raise InputError(problem, fix=did_you_mean(parameter, known))


def check_own(dataset: PlannedDataset) -> None:
    """Raise if the user's own files show at a glance that a run would stop."""
    like = dataset.options.get("like")
    if like == "beir":
        from qdrank.datasets.collections.beir import refuse_missing_files

        refuse_missing_files(Path(dataset.options["folder"]))
    elif like == "irds":
        from qdrank.datasets.collections.irds import parts_of

        parts_of(Path(dataset.options["folder"]), dataset.options["form"]["id"])
    elif like == "runs":
        from qdrank.datasets.runs.dataset import read_as_data

        read_as_data(dataset.files, seed=0, **{key: value for key, value in dataset.options.items() if key != "like"})
    elif dataset.kind == "letor" and like is None:
        from qdrank.datasets.columns import feature_names
        from qdrank.datasets.letor import letor_form

        width = letor_form(list(dataset.files.values()), sparse=dataset.options["sparse"]).width
        if dataset.options["reference"] > width:
            problem = f"own.{dataset.name}.reference: the data have {width} features"
            fix = f"give the number of the feature that ranks like BM25, 1 to {width}"
            raise InputError(problem, found=str(dataset.options["reference"]), fix=fix)
        try:
            feature_names(width, dataset.options["names"])
        except InputError as error:
            raise InputError(f"own.{dataset.name}.names: {error.problem}", found=error.found, fix=error.fix) from None


def check_simulated(name: str, options: Mapping[str, Any]) -> None:
    """Raise if the simulated data set ``name`` cannot be made with these settings."""
    from qdrank.datasets.simulated.settings import SIMULATIONS, AffineCopies, TwoRuns, WebSimulation, World

    others: dict[str, World] = {"simweb": WebSimulation(), "affine": AffineCopies(), "two-runs": TwoRuns()}
    try:
        (others | SIMULATIONS)[options.get("like", name)].changed({k: v for k, v in options.items() if k != "like"})
    except InputError as error:
        raise InputError(f"own.{name}.settings: {error.problem}", found=error.found, fix=error.fix) from None
