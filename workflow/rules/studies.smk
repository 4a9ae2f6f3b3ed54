# Studies: what every study declares (steps, observations for its claims, figures, tables) becomes rules, targets and report entries.
#
# reads, writes: what the study names, see `STEPS` and `STUDY` in its folder in src/qdrank/studies; `qdrank rules` prints the rules
# also writes: results/{dataset}/{study}/measures.parquet      measures of the study's methods alone
#              results/{dataset}/{study}/observations.parquet  values behind each claim
#              results/{dataset}/{fold}/refits/{method}.parquet       scores from further fits of methods that draw at random
#              results/{dataset}/{fold}/runs/{method}.run.gz          what each method ranked, as trec_eval reads it (target `runs`)
#              results/{dataset}/{fold}/runs/{method}.ir-metadata.yml how it was made
#              results/{dataset}/{fold}/runs/judgments.qrels.gz       the judgments of the test queries


# A shard is a set of whole blocks of work; the number of shards changes no bit of what is gathered.
scattergather:
    **scattered(workflow, run),


for _made in emitted(files, gather):

    rule:
        name:
            _made.name
        input:
            **_made.input,
        output:
            **_made.output,
        wildcard_constraints:
            **_made.constraints,
        priority: _made.priority
        threads: _made.threads
        resources:
            mem_mb=memory(*_made.memory),
            runtime=minutes(*_made.minutes),
        params:
            **_made.params,
        script:
            "../../scripts/run_step.py"

    say(workflow, _made.name, _made.says)


# Targets: each figure and table by its id, and each study by its name and its short name. What is about all studies, the
# first page among it, is part of `all`.
for _target, (_says, _files) in files.study_targets().items():

    rule:
        name:
            _target
        input:
            _files,

    say(workflow, _target, _says)


rule rankers:
    """Target: every method of every study as a ranker for `qdrank rank`, and the configuration, for `qdrank features`."""
    input:
        "results/config.yaml",
        files.rankers(),


rule write_runs:
    """Runs of a fold, one of each method, in a folder: one job, since each would spend its time on starting."""
    input:
        judged="results/{dataset}/judged.parquet",
        scores=lambda wc: filled(
            f"results/{wc.dataset}/{wc.fold}/scores/{{method}}.parquet",
            method=run.methods_of(wc.dataset),
        ),
    output:
        # A folder, because its files depend on the data set: Snakemake compares every file that it looks for with every output.
        directory("results/{dataset}/{fold}/runs"),
    resources:
        mem_mb=memory(600, 2),
        runtime=minutes(30, 0.1),
    params:
        call="qdrank.evaluation.measuring:write_runs",
        dataset=lambda wc: wc.dataset,
        title=lambda wc: planned.datasets[wc.dataset].title,
        methods=lambda wc: run.methods_of(wc.dataset),
        measures=run.measures,
    script:
        "../../scripts/run_step.py"


rule runs:
    """Target: every method of every data set as a run, with metadata and judgments, for trec_eval and its like."""
    input:
        files.each_dataset_and_fold(["results/{dataset}/{fold}/runs"]),
