"""aTVT: a zero and a unit for each query, learned together with a regression."""
