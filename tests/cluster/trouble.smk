# Jobs that go wrong on a cluster, with the workflow's own requests for memory and time. Copied beside the Snakefile.


include: "workflow/rules/common.smk"


rule trouble:
    default_target: True
    input:
        expand("trouble/{kind}.txt", kind=["greedy", "slow", "unlucky"]),


rule greedy:
    """Takes 1,000 MB: more than the first try may have, less than the second."""
    output:
        "trouble/greedy.txt",
    resources:
        mem_mb=memory(800, 0),
        runtime=minutes(10),
    shell:
        "python3 -c 'import time; held = b\"x\" * (1000 << 20); time.sleep(8)' && echo {resources.mem_mb} > {output}"


rule slow:
    """Sleeps through its first minute; with more time it has done at once."""
    output:
        "trouble/slow.txt",
    resources:
        mem_mb=memory(800, 0),
        runtime=minutes(1),
    shell:
        "test {resources.runtime} -gt 1 || sleep 300; echo {resources.runtime} > {output}"


rule unlucky:
    """Waits on the first node it is on until that is set down."""
    output:
        "trouble/unlucky.txt",
    resources:
        mem_mb=memory(800, 0),
        runtime=minutes(10),
    shell:
        "echo $SLURMD_NODENAME >> nodes.txt; test $(wc -l < nodes.txt) -gt 1 || sleep 300; echo done > {output}"
