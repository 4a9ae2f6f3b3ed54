"""Runs and judgments in the forms of the field: TREC, MS MARCO, BEIR, ranx; `reading` tells them apart by their content."""
