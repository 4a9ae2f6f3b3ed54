"""One small file per kind of measure; `qdrank.measures.MEASURES` gives the definitions their names."""
