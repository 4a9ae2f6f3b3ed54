"""Models of a study in one file, and scores for new queries."""
