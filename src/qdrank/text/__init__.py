"""From raw text to features: analyser, field index, BM25, candidates, rank models."""
