# Fetch: the files of the registered data sets, and of a registered encoder.
#
# reads:  a local mirror (QDRANK_MIRROR, mirror:), the download folder, or the publisher's addresses
# writes: resources/downloads/{dataset}.json    where each file of the data set lies, checked by sha256


rule fetch_dataset:
    """Bring every file of a registered data set here, verified; or say how to get it."""
    output:
        "resources/downloads/{dataset}.json",
    wildcard_constraints:
        dataset=names_pattern([*planned.datasets, *planned.encoders]),
    localrule: True
    resources:
        mem_mb=memory(500, 0),
        runtime=minutes(120),
    params:
        call="qdrank.datasets.fetching.fetch:fetch_listed",
    script:
        "../../scripts/run_step.py"
