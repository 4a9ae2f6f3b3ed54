"""Should the weights of a fusion depend on the query? Fixed weights, weights per query and their controls, from run files."""
