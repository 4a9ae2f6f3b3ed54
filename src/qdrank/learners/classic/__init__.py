"""The classic learners that the papers compare with."""
