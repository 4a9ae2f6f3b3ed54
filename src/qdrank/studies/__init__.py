"""Studies: one folder per paper."""
