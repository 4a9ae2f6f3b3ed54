"""One small file per family of measures; `qdrank.measures.MEASURES` gives the definitions their names."""
