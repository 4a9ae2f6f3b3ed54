# Report: what was run on what, and the digest of everything that was made.
#
# reads:  every table and figure
# writes: results/config.yaml      the configuration as it was resolved
#         results/overview.html    data sets of the run, those left out, software
#         results/manifest.json    digest of every file below results
#         results/ro-crate-metadata.json    the same as an RO-Crate (target `crate`)
#
# The page itself is written by `snakemake --report results/report.html` (`make run` does it).


rule write_config:
    """The resolved configuration: every key, also those left at their default."""
    output:
        "results/config.yaml",
    localrule: True
    resources:
        mem_mb=memory(300, 0),
        runtime=minutes(5),
    params:
        call="qdrank.workflow.recorded:write_configuration",
        files=list(run.config_files),
        settings=settings.model_dump(mode="json"),
    script:
        "../../scripts/run_step.py"


rule write_overview:
    """What was run on what, with which software."""
    output:
        report(
            "results/overview.html",
            category="Overview",
            caption="../report/overview.rst",
            labels={"what": "this run"},
        ),
    localrule: True
    resources:
        mem_mb=memory(300, 0),
        runtime=minutes(5),
    params:
        call="qdrank.figures.overview:write_overview",
        datasets=described_datasets(run),
        left_out=dict(planned.left_out),
    script:
        "../../scripts/run_step.py"


rule write_manifest:
    """The digest of every file that the run made."""
    input:
        rules.single_features.input,
        # One file of each job: this rule waits for the job, and `all` asks for the others. In a storage it sees only what it is given.
        (
            files.everything() + rules.write_index.input.maps
            if workflow.storage_settings.default_storage_provider
            else [files.of_each_job(study) for study in ALL_STUDIES]
        ),
        CLAIMS,
        rules.decide_claims.output.findings,
        filled("results/averages/{study}.svg", study=run.averaged),
        rules.learners.input,
        rules.difficulty.input,
        files.each_dataset("results/{dataset}/measures.parquet"),
        all_forms_of_table("methods", planned.datasets),
        files.each_dataset_and_fold(["results/{dataset}/{fold}/neighbours.parquet"]),
        "results/overview.html",
    output:
        "results/manifest.json",
    localrule: True
    resources:
        mem_mb=memory(300, 0),
        runtime=minutes(15),
    params:
        call="qdrank.store.manifest:write_manifest",
        timed=sorted(timed_outputs()),
        passing=passing_outputs(workflow.rules),
    script:
        "../../scripts/run_step.py"


rule write_crate:
    """The files of the manifest as an RO-Crate."""
    input:
        "results/manifest.json",
    output:
        "results/ro-crate-metadata.json",
    localrule: True
    resources:
        mem_mb=memory(300, 0),
        runtime=minutes(15),
    params:
        call="qdrank.store.manifest:write_crate",
        title="qdrank on "
        + ", ".join(dataset.title for dataset in planned.datasets.values()),
    script:
        "../../scripts/run_step.py"


rule crate:
    """Target: the finished run as an RO-Crate, to be archived or published."""
    input:
        "results/ro-crate-metadata.json",


onsuccess:
    # At the very end: a progress view would draw over it.
    atexit.register(
        print,
        where_to_look(
            "results",
            run.config_files,
            run.started_in,
            workflow.storage_settings.default_storage_prefix,
            run.values,
        ),
        file=sys.stderr,
    )


onerror:
    # Last, below what Snakemake says; read now, because at the end it has left the folder of the run.
    atexit.register(print, last_words(run.started_in), end="", file=sys.stderr)
