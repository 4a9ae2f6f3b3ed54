"""Tables and figures that belong to no study: one module per kind, one style."""
