"""Query-dependent learning to rank, done reproducibly."""

from __future__ import annotations

import hashlib
import os
from typing import Any

__version__ = "0.1.0"
_PUBLIC = {"rank": "qdrank.serving.ranking:rank", "results": "qdrank.run_results:results"}
_PUBLIC |= {name: f"qdrank.python:{name}" for name in ("advise", "compare", "evaluate", "fuse", "retrieve")}


def cache_folder() -> str:
    """Folder for files kept between processes that can be made again."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(home, "qdrank")


def _kernel_cache() -> str:
    """Folder for compiled kernels, named after the source of all modules that have any: learners, and files named so.

    Numba recompiles a kernel when its own file changes, but not when a kernel that it calls, in another file, does.
    """
    sha256 = hashlib.sha256()
    home = os.path.dirname(__file__)
    learners = os.path.join(home, "learners")
    paths = [os.path.join(folder, name) for folder, _, files in os.walk(home) for name in files if name.endswith(".py")]
    for path in sorted(path for path in paths if path.startswith(learners) or path.endswith("kernels.py")):
        with open(path, "rb") as file:
            source = file.read()
        if b"@njit" in source:
            sha256.update(source)
    return os.path.join(cache_folder(), f"kernels-{sha256.hexdigest()[:16]}")


def __getattr__(name: str) -> Any:
    """What the package gives, imported on first use: the package itself stays light."""
    if name in _PUBLIC:
        from qdrank.registry import loaded

        return loaded(_PUBLIC[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Set before anything imports numba, which reads them once. If the cache is not writable, the later locators find a
# place.
os.environ.setdefault("NUMBA_CACHE_DIR", _kernel_cache())
os.environ.setdefault(
    "NUMBA_CACHE_LOCATOR_CLASSES", "qdrank.kernel_locator.KernelLocator,InTreeCacheLocator,UserWideCacheLocator"
)
