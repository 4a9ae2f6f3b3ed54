"""Simulated data sets: features drawn from a model, and a simulated web."""
