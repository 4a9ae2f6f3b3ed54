"""Ranking SVM: the estimator, many local models trained together, and their kernels."""
