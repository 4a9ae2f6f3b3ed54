"""What two small studies came to, to four digits, and the comparison with it: ``python -m tests.golden``."""
