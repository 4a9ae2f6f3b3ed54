"""Ways to aggregate rankings; they take ranks (n_documents, n_lists) where other learners take features."""
