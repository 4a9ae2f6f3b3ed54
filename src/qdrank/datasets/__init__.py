"""Data sets: the registry and its files, LETOR text, raw collections, simulated data, folds."""
