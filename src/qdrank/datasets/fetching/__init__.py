"""Files of registered data sets: where they are, how they are fetched, verified and unpacked."""
