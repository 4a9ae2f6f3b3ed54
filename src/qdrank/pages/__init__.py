"""The page that a reader opens first: findings, figures, and a map of the queries, in one self-contained file."""
