"""Ensembles of rankers (SER, SSER) and the quadratic program that they share."""
