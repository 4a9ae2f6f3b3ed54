"""How good rankings are: measures per query, tests of differences and their power, verdicts on claims."""
