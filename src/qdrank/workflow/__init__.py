"""What the rule files need, typed and tested: the configuration, what is run on what, names of files, digests of code.

The one room that knows Snakemake. The Snakefile imports it in every job, so nothing heavy is imported here.
"""
