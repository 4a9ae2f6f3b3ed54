"""Where the workflow's own files are: its rules, scripts, configurations and published figures."""

from __future__ import annotations

from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
"""The folder that holds the package."""

_PACKAGED = SOURCE / "qdrank" / "_project"

PROJECT = _PACKAGED if _PACKAGED.is_dir() else SOURCE.parent
"""The folder that holds workflow/, scripts/, config/, envs/ and resources/: inside an installed package (setup.py), else the checkout."""

CHECKOUT = None if _PACKAGED.is_dir() else PROJECT
"""The folder of the checkout; None where the package is installed."""
