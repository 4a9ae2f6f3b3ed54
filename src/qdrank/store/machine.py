"""What the bytes of results depend on besides configuration and data: processor, BLAS kernel, library versions.

Rounding differs between BLAS kernels, and between the vector instructions that NumPy picks. The manifest records them, so that two
runs can be compared: where the records are equal, so are the bytes.
"""

from __future__ import annotations

import platform
import re
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_LIBRARIES = (
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "pyarrow",
    "lightgbm",
    "matplotlib",
    "snakemake",
)


def machine_record() -> dict[str, Any]:
    """Processor, vector instructions in use, BLAS kernels and versions; the same for every call on one machine."""
    return {
        "architecture": platform.machine(),
        "system": platform.system(),
        "processor": _processor(),
        "vector_instructions": _vector_instructions(),
        "blas": _blas(),
        "python": platform.python_version(),
        "libraries": {name: version for name in _LIBRARIES if (version := _version(name))},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Model of the processor: its name, or on ARM the numbers of implementer and part."""
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    fields: dict[str, str] = dict(reversed(re.findall(r"^([^\t:]+)\t*: (.*)$", text, re.MULTILINE)))
    if "model name" in fields:
        return fields["model name"]
    numbers = [f"{name} {fields[f'CPU {name}']}" for name in ("implementer", "part") if f"CPU {name}" in fields]
    return ", ".join(numbers) or platform.machine()


def _vector_instructions() -> list[str]:
    """Instruction sets beyond the architecture's base that NumPy uses."""
    core: Any = import_module("numpy._core._multiarray_umath")
    base = set(core.__cpu_baseline__)
    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name) and name not in base]


def _blas() -> list[dict[str, str]]:
    """Each BLAS that is loaded: library, version and kernel."""
    for library in ("numpy", "scipy.linalg"):  # only what is loaded is listed
        import_module(library)
    loaded = [one for one in import_module("threadpoolctl").threadpool_info() if one["user_api"] == "blas"]
    names = {"library": "internal_api", "version": "version", "kernel": "architecture"}
    kernels = [{name: str(one.get(key)) for name, key in names.items()} for one in loaded]
    return sorted(kernels, key=lambda one: tuple(one.values()))
