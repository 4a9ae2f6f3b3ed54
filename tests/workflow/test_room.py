"""The run as the rules ask for it: which data sets and methods, which files, what the first page is told."""

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from qdrank.errors import InputError
from qdrank.measures import CONVENTIONS
from qdrank.rankers import DENSE, FIRST_STAGES, REFERENCE
from qdrank.rankers.methods import CLASSIC
from qdrank.studies import STUDIES
from qdrank.workflow.config_files import resolve
from qdrank.workflow.described import claim_titles, described_run, labels_and_colours, published_counts, representatives
from qdrank.workflow.files import (
    TABLE_FORMS,
    Files,
    all_forms_of_table,
    filled,
    query_files,
    reported_tables,
    rule_name,
    table_outputs,
)
from qdrank.workflow.plan import plan
from qdrank.workflow.run import JobFolds, WorkflowRun, names_pattern, study_measures
from tests.test_ledger import present

GENG, LIN, HOI = (STUDIES[name] for name in ("geng2008", "lin2011", "hoi2008"))
SEEDS = {f"s{seed}": {"kind": "simulated", "like": "sim1", "settings": {"seed": seed, "train": 40}} for seed in (1, 2)}


def run_of(**config: Any) -> WorkflowRun:
    settings = resolve({"datasets": ["sim1", "s1", "s2"], "own": SEEDS, **config})
    return WorkflowRun(settings, plan(settings), config_files=["../my/mine.yaml"], shards=2)


@pytest.fixture
def run() -> WorkflowRun:
    return run_of(lin={"datasets": ["sim1"]}, hoi={"datasets": []})


def on(dataset: str, **wildcards: str) -> SimpleNamespace:
    return SimpleNamespace(dataset=dataset, **wildcards)


# ---- run


def test_short_jobs_take_all_folds_where_folds_are_not_divided() -> None:
    run = run_of()
    five = replace(run.planned.datasets["s1"], folds=("fold1", "fold2", "fold4"))
    run = replace(run, planned=replace(run.planned, datasets={**run.planned.datasets, "s1": five}), shards=1)
    one, several = run.by_folds("do").items()
    assert one == ("do", JobFolds(("{fold}",), ["sim1", "s2"]))
    assert several == ("do_3_folds", JobFolds(five.folds, ["s1"]))
    assert several[1].each("{dataset}/{fold}/a") == [f"{{dataset}}/{fold}/a" for fold in five.folds]
    assert run.by_folds("do", ["s1"]) == {"do": several[1]}
    assert run.by_folds("do", []) == {}
    assert replace(run, shards=2).by_folds("do") == {"do": JobFolds(("{fold}",), ["sim1", "s1", "s2"])}


@pytest.mark.parametrize(("n_queries", "together"), [(None, False), (1001, False), (1000, True)])
def test_jobs_that_grow_take_all_folds_of_small_data_sets_alone(n_queries: int | None, together: bool) -> None:
    run = run_of()
    two = replace(run.planned.datasets["s1"], folds=("fold1", "fold2"), n_queries=n_queries)
    run = replace(run, planned=replace(run.planned, datasets={"s1": two}), shards=1)
    folds = two.folds if together else ("{fold}",)
    assert run.by_folds("do", grows=True) == {"do": JobFolds(folds, ["s1"])}
    assert run.by_folds("do") == {"do": JobFolds(two.folds, ["s1"])}


def test_methods_that_draw_are_fitted_several_times() -> None:
    run = run_of(refits=2)
    methods = ["ranksvm", "lambdamart-tuned", "single", "lambdamart", "knn-random", "bordacount"]
    assert run.refitted(methods) == ["lambdamart", "knn-random"], "no claim names a classic learner"
    assert run_of(refits=1).refitted(methods) == []


def test_claims_name_every_method_that_is_fitted_several_times() -> None:
    """Further fits serve the interval of a verdict; `tests.test_ledger` has the claims of each study."""
    for name in STUDIES:
        named = {method for claim in present(name).claims for pair in claim.pairs.values() for method in pair}
        assert {method.name for method in STUDIES[name].methods if method.refitted} <= named, name


def test_studies_run_where_the_configuration_says(run: WorkflowRun) -> None:
    assert list(run.datasets_of(GENG)) == ["sim1", "s1", "s2"]
    assert list(run.datasets_of(LIN)) == ["sim1"]
    assert not run.datasets_of(HOI)
    assert LIN in run.studies_of("sim1")
    assert LIN not in run.studies_of("s1")


def test_tables_name_the_values_that_were_given_beside_the_files(run: WorkflowRun) -> None:
    given = replace(run, config_files=["a/mine.yaml"], values={"studies": ["lin"], "seed": 2})
    assert given.configuration == "mine.yaml, seed=2"
    assert replace(run, config_files=[], values={"studies": []}).configuration == "config.yaml"


def test_studies_that_are_not_named_run_on_nothing() -> None:
    run = run_of(studies=["lin"])
    assert run.studies_of("sim1") == [LIN]
    assert not run.datasets_of(GENG)
    assert run_of(studies=[]).studies_of("sim1") == []


def test_methods_of_a_data_set_have_the_reference_first_and_no_method_twice(run: WorkflowRun) -> None:
    methods = run.methods_of("s1")
    assert methods[0] == REFERENCE
    assert len(set(methods)) == len(methods)
    assert set(run.methods_run(GENG)) <= set(methods)
    assert not set(run.methods_run(LIN)) & set(methods)
    assert run.measured_in(LIN)(on("sim1")) == [REFERENCE, *run.methods_run(LIN)]


def test_learners_are_those_named_and_fit_the_data() -> None:
    run = run_of(learners={"methods": ["regression", "bordacount"], "datasets": ["s1"], "scales": {"s1": "minmax"}})
    assert run.learners_of("s1") == ["regression"]  # an aggregator needs ranks
    assert run.learners_of("s2") == run.learners_of("nothing") == []
    assert run.learner_datasets == ["s1"]
    assert run.learner_scale("s1") == "minmax"
    assert run.learner_scale("s2") == run.settings.training.scale


def test_folds_of_quick_learners_are_one_job_where_folds_are_not_divided() -> None:
    together = replace(run_of(), shards=1).learned_together
    assert {"ranksvm", "regression"} <= set(together)
    assert not {"lambdamart-tuned", "lambdamart-queries", "bordacount"} & set(together)
    assert replace(run_of(), shards=2).learned_together == []


def test_trees_have_several_threads_where_data_are_not_known_to_be_small() -> None:
    planned = run_of().planned
    sized = {"s1": replace(planned.datasets["s1"], n_queries=None), "s2": replace(planned.datasets["s2"], n_queries=90)}
    for given, cores, threads in ((None, None, (4, 1)), (None, 8, (4, 1)), (None, 7, (1, 1)), (3, 7, (3, 3))):
        run = run_of(training={"tree_threads": given})
        run = replace(run, planned=replace(planned, datasets=sized), cores=cores)
        assert tuple(run.learner_threads(on(name, method="lambdamart-tuned")) for name in sized) == threads
        assert run.learner_threads(on("s1", method="ranksvm")) == 1


def test_seeds_of_one_world_are_judged_together(run: WorkflowRun) -> None:
    assert run.claim_members(GENG) == {"sim1": ["sim1"], "s1": ["s1", "s2"]}
    assert run.claim_members(LIN) == {"sim1": ["sim1"]}


def test_options_by_their_path(run: WorkflowRun) -> None:
    assert run.option("training.tol") == run.training["tol"] == run.settings.training.tol
    assert run.configuration == "mine.yaml"
    budget = run.budget(GENG)
    assert len(budget) == len(GENG.budget)
    assert all(
        value == run.option(key.partition(" as ")[0]) for key, value in zip(GENG.budget, budget.values(), strict=True)
    )


def test_measures_of_conventions_and_of_difficulty(run: WorkflowRun) -> None:
    assert set(run.measures) >= {
        *CONVENTIONS[run.settings.evaluation.conventions[0]],
        *run.settings.difficulty.measures,
    }
    assert len(set(run.measures)) == len(run.measures)
    assert "geng" in GENG.measures
    assert set(CONVENTIONS["geng"]) <= set(study_measures(GENG))


@pytest.mark.parametrize(
    ("conventions", "taken"),
    [
        (["letor4", "geng", "exp"], "geng"),
        (["exp", "geng"], "exp"),
        (["zha", "letor4", "trec"], "trec"),
        (["zha", "letor3"], "letor3"),
        (["zha"], "exp"),
    ],
)
def test_methods_are_compared_by_an_ndcg_in_which_short_lists_count(conventions: list[str], taken: str) -> None:
    run = WorkflowRun(resolve({"evaluation": {"conventions": conventions}}), SimpleNamespace(datasets={}))
    assert run.ndcg_convention == taken
    assert {"ap", f"ndcg@10/{taken}"} <= set(run.measures)


def test_what_a_study_must_not_see_on_text_is_refused(run: WorkflowRun) -> None:
    (study, (key, reason)), *_ = [
        (study, item) for study in map(STUDIES.get, STUDIES) for item in study.refuses.items()
    ]
    run.refuse_leaks()
    text = SimpleNamespace(name="mine", kind="text", kinds={"text"}, folds=["fold1"])
    section, _, last = key.partition(".")
    settings = resolve({section: {last: True}})
    plain, dense = (
        SimpleNamespace(datasets={"mine": text}, encoder=encoder, of_kind=lambda _: ["mine"])
        for encoder in ({}, {"folder": "e5"})
    )
    leaky = WorkflowRun(settings, plain)
    with pytest.raises(
        InputError, match=re.escape(f"{key} and the study {study.short} do not go together on mine: {reason}")
    ):
        leaky.refuse_leaks()
    assert leaky.first_stages_of("mine") == [name for name in FIRST_STAGES if name != DENSE]
    assert WorkflowRun(settings, dense).first_stages_of("mine") == list(FIRST_STAGES)


def test_a_pattern_admits_its_names_alone() -> None:
    pattern = re.compile(names_pattern(["a.b", "c"]))
    assert [bool(pattern.fullmatch(name)) for name in ("a.b", "c", "axb", "a.bc")] == [True, True, False, False]
    assert not re.compile(names_pattern([])).fullmatch("")


# ---- files


def test_patterns_are_filled_the_last_fastest() -> None:
    assert filled("{a}/{b}", a=["x", "y"], b=["1", "2"]) == ["x/1", "x/2", "y/1", "y/2"]


def test_files_of_folds_and_methods(run: WorkflowRun) -> None:
    files = Files(run)
    assert (
        files.each_fold("{dataset}/{fold}")(on("s1")) == files.first_fold("{dataset}/{fold}")(on("s1")) == ["s1/fold1"]
    )
    assert files.scores(lambda _: ["a", "b"])(on("s1")) == [f"results/s1/fold1/scores/{m}.parquet" for m in "ab"]
    assert files.each_dataset_and_fold(["{dataset}-{fold}"], ["s2"]) == ["s2-fold1"]
    assert query_files("d", "f")["queries"] == "d/f/queries.parquet"


def test_a_learner_reads_vectors_only_if_it_sees_them(run: WorkflowRun) -> None:
    files = Files(run)
    assert set(files.of_learner(on("s1", fold="fold1", method="ranksvm"))) == {"judged"}
    assert set(files.of_learner(on("s1", fold="fold1", method="lambdamart-queries"))) == {
        "judged",
        *query_files("", ""),
    }
    assert files.of_learner(on("s1", fold="f", method="bordacount"))["judged"] == "results/s1/ranks.parquet"


def test_forms_of_tables_and_figures() -> None:
    files = Files(run_of(figures={"formats": ["png"]}))
    assert list(table_outputs("methods", "c", "w", "p_")) == [f"p_{form}" for form in (*TABLE_FORMS, "html")]
    assert len(all_forms_of_table("id", ["s1", "s2"])) == 2 * len([*TABLE_FORMS, "html"])
    assert set(files.figure_outputs("single-features", "c", "w")) == {"parquet", "png", "svg"}
    assert files.all_forms_of_figure("id", ["s1"]) == [
        f"results/s1/figures/id.{form}" for form in ("parquet", "svg", "png")
    ]
    output = next(output for output in GENG.tables if len(output.shows) > 1)
    assert {name.partition("_")[0] for name in reported_tables(GENG, output)} == {
        f"t{i}" for i in range(len(output.shows))
    }


def test_outputs_read_what_their_study_declares(run: WorkflowRun) -> None:
    files = Files(run)
    for output in (*GENG.figures, *GENG.tables):
        for name, path in files.of_output(GENG, output).items():
            paths = path(on("s1")) if callable(path) else [path.format(dataset="s1")]
            assert all(one.startswith("results/s1/") and "{" not in one for one in paths), name
        assert set(files.shown(output)["options"]) == {key.rpartition(".")[2] for key in output.options}


def test_figures_of_the_same_files_are_one_job(run: WorkflowRun) -> None:
    files = Files(run)
    jobs = {figures[0].id: figures for figures in GENG.drawn_together}
    assert [figure.id for figure in jobs["geng-fig7"]] == ["geng-fig7", "geng-differences", "geng-controls"]
    assert sum(map(len, jobs.values())) == len(GENG.figures)
    for figures in jobs.values():
        assert len({str(files.of_output(GENG, figure).keys()) for figure in figures}) == 1
        drawn = files.drawn(figures)
        assert drawn["makes"] == [figure.make for figure in figures]
        assert all(files.shown(figure)["options"].items() <= drawn["options"].items() for figure in figures)
    made = files.reported_figures(GENG, jobs["geng-fig8"])
    assert made["f1_parquet"] == "results/{dataset}/figures/geng-fig9.parquet"
    # Files of one job: `score_lin`.
    assert [[figure.id for figure in figures] for figures in LIN.drawn_together] == [
        ["lin-fig2", "lin-fig3"],
        ["lin-fig4"],
    ]


def test_a_title_has_the_number_of_candidates_where_there_are_any() -> None:
    text = SimpleNamespace(name="mine", title="Mine", kind="text", kinds={"text"}, folds=["fold1"])
    run = WorkflowRun(resolve({"text": {"candidates": 70}}), SimpleNamespace(datasets={"mine": text}))
    titles = {
        output.of_search: Files(run).shown(output)["title"](on("mine"))
        for study in STUDIES.values()
        for output in study.figures
    }
    assert titles == {False: "Mine, 70 candidates", True: "Mine"}


def test_a_simulated_web_is_searched_with_its_own_split() -> None:
    web = SimpleNamespace(
        name="web", title="Web", kind="simulated", folds=["fold1"], options={"like": "simweb", "seed": 7}
    )
    planned = SimpleNamespace(datasets={"web": web}, of_kind=lambda kind: ["web"])
    run = WorkflowRun(resolve({}), planned)
    assert run.is_searched("web")
    assert run.searched("web") == {"like": "simweb", "draw": {"seed": 7}}
    assert run.searched_text("web")["folds"] == "split"
    assert Files(run).searched(on("web")) == []


def test_every_figure_and_every_study_is_a_target(run: WorkflowRun) -> None:
    targets = {name: files(on("")) for name, (_, files) in Files(run).study_targets().items()}
    assert targets["geng"] == targets["geng2008"]
    assert "results/s2/figures/geng-fig7.svg" in targets[rule_name("geng-fig7")]
    assert set(targets[rule_name("geng-fig7")]) < set(targets["geng"])
    assert len(set(targets["geng"])) == len(targets["geng"])
    assert not targets["hoi"]
    assert not any("/lin" in path for path in targets["geng"])


def test_one_file_stands_for_each_job(run: WorkflowRun) -> None:
    files = Files(run)
    whole, once = files.whole_study(LIN), files.of_each_job(LIN)
    assert len(set(once)) == len(once)
    assert set(once) < set(whole)
    assert sum("/scores/" in path or "/served/" in path for path in once) == 1
    assert not any("/shards/" in path for path in whole)
    outputs = [*(figures[0] for figures in LIN.drawn_together), *LIN.tables, LIN.observations]
    for output in outputs:
        assert sum(f"/{id_}." in path for path in once for id_ in output.shows) == 1


def test_every_method_is_served_but_a_search(run: WorkflowRun) -> None:
    rankers = Files(run).rankers()
    assert "results/sim1/fold1/served/reference.parquet" in rankers
    assert len(rankers) == sum(len(run.methods_of(name)) for name in run.planned.datasets)


# ---- the first page


def test_the_first_seed_stands_for_all(run: WorkflowRun) -> None:
    assert representatives(run) == representatives(run, GENG) == ["sim1", "s1"]
    assert representatives(run, HOI) == []
    assert set(claim_titles(run)) == {"sim1", "s1 (2 seeds)"}


def test_the_page_is_told_of_every_study_and_method(run: WorkflowRun) -> None:
    page = described_run(run)
    assert [study["name"] for study in page["studies"]] == list(STUDIES)
    assert set(page["methods"]) == {*CLASSIC, *FIRST_STAGES}
    assert page["datasets"]["s1"]["folds"] == ["fold1"]
    geng = next(study for study in page["studies"] if study["short"] == "geng")
    assert set(geng["datasets"]) == {"sim1", "s1"}
    assert geng["claims"] in {table["id"] for table in geng["tables"]}
    beyond = next(study for study in page["studies"] if study["short"] == "beyond")
    of_search = {output["id"] for output in (*beyond["figures"], *beyond["tables"]) if not output["datasets"]}
    assert {"beyond-gains", "beyond-retrieval"} <= of_search, "no data set here can be searched"
    assert "beyond-ladder" not in of_search
    labels, colours = labels_and_colours(run)
    assert {method.name for name in STUDIES for method in STUDIES[name].methods} == set(colours) <= set(labels)


@pytest.mark.usefixtures("mirror")
def test_registered_data_have_published_counts() -> None:
    planned = run_of(datasets=["cranfield", "mq2008", "sim1"], own={}).planned.datasets
    assert published_counts(planned["cranfield"]) == {"queries": 225, "collection": 1400, "judgments": 1837}
    assert published_counts(planned["mq2008"]) == {"queries": 784, "pairs": 15211}
    assert published_counts(planned["sim1"]) == {}
