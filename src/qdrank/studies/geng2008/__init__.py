"""Geng 2008: Ranking SVM trained on a query's k nearest training queries."""
