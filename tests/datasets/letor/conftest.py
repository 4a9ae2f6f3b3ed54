"""These tests are about the compiled reader: small files are read without it only where Numba is not loaded."""

from __future__ import annotations

import numba  # noqa: F401
