"""Tables and figures: one module a family, one style."""
