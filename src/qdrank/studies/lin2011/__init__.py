"""Lin, Yu and Chen, AIRS 2011: local Ranking SVMs of clusters, one chosen (Naive) or several aggregated.

Much of the paper is lost. What had to be inferred is an option of `Readings`, and its default is a proposal.
"""
