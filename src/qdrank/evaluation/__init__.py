"""What rankings are worth: measures per query, tests of differences, their power."""
