"""Leaf functions of the ensembles and their program, compiled by numba."""
