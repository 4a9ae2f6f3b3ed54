"""Query-dependent use of models: which training queries, which model, for which test query."""
