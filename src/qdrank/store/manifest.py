"""The digest of every file in a folder, the manifest of a run with the machine that it was made on, and the run as an RO-Crate.

What bytes depend on besides configuration and data is the processor, the BLAS kernel and the versions of libraries. Rounding differs between BLAS kernels, and between the vector instructions that NumPy picks. The manifest records them, so that two
runs can be compared: where the records are equal, so are the bytes.

The RO-Crate (Soiland-Reyes et al. 2022) has its files with sizes and digests, the software, and the configuration. It is made from the
manifest, so it lists what the run made and nothing else that lies in the folder.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Collection
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qdrank import __version__
from qdrank.errors import InputError
from qdrank.store.atomic import write_text
from qdrank.store.tables import verify

# Written by the run, but not part of its results.
_NOT_RESULTS = {"manifest.json", "report.html", "report.zip", "ro-crate-metadata.json"}


def digests(folder: str | Path, timed: Collection[str] = (), passing: Collection[str] = ()) -> dict[str, str]:
    """Path below ``folder`` to digest, for every file; artifacts are checked against the digest they carry.

    ``timed`` are names of files, without suffix, that hold times: they differ from run to run and are left out.
    ``passing`` are patterns of files that a run deletes at its end, left out too.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError("no such folder", file=folder, fix="run the workflow first, or give the folder of its results")
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    kept = (p for p in files if p.name not in _NOT_RESULTS and p.stem not in timed)
    named = {str(p.relative_to(folder)): p for p in kept}
    return {name: digest(p) for name, p in named.items() if not any(fnmatchcase(name, one) for one in passing)}


def digest(path: Path) -> str:
    """Digest of one file: the one it carries, checked, if it is an artifact; else that of its bytes."""
    return verify(path) if path.suffix == ".parquet" else _sha256(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest_text(folder: str | Path, timed: Collection[str] = (), passing: Collection[str] = ()) -> str:
    """The manifest of a run as JSON: every file with its digest, one digest of them all, and the machine that wrote it.

    The machine is not part of the digest: runs on different machines can have the same one.
    """
    files = digests(folder, timed, passing)
    rows = "".join(f"{value}  {name}\n" for name, value in files.items())
    record = {"all": hashlib.sha256(rows.encode()).hexdigest(), "machine": machine_record(), "files": files}
    return json.dumps(record, indent=1) + "\n"


def write_manifest(path: str, *, timed: Collection[str], passing: Collection[str]) -> None:
    """Write the manifest of the folder that it is in."""
    write_text(path, manifest_text(Path(path).parent, timed, passing))


def _recorded(place: Path) -> dict[str, Any]:
    """The manifest at ``place``."""
    if not place.is_file():
        raise InputError("no manifest", file=place, fix="run the workflow to its end first")
    try:
        manifest: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        return manifest | {"files": dict(manifest["files"])}
    except (ValueError, KeyError, TypeError):
        raise InputError("not a manifest", file=place, fix="delete it and run the workflow again") from None


def changed(folder: str | Path, timed: Collection[str] = ()) -> list[str]:
    """What differs from the manifest in ``folder``: one line per file that was changed, removed or added."""
    recorded, present = _recorded(Path(folder) / "manifest.json")["files"], digests(folder, timed)
    words = {(True, True): "changed", (True, False): "gone", (False, True): "not in the manifest"}
    names = sorted(name for name in {**recorded, **present} if recorded.get(name) != present.get(name))
    return [f"{name}: {words[name in recorded, name in present]}" for name in names]


_LIBRARIES = ("numpy", "scipy", "numba", "llvmlite", "pyarrow", "lightgbm", "matplotlib", "snakemake")


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


VERSION = "1.1"
NAME = "ro-crate-metadata.json"
_CONTEXT = f"https://w3id.org/ro/crate/{VERSION}/context"
#: Not in the context of RO-Crate 1.1; the term of Workflow Run RO-Crate.
_VOCABULARY = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
_FORMATS = {
    ".parquet": "application/vnd.apache.parquet",
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".tex": "application/x-tex",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".gz": "application/gzip",
}


def write_crate(path: str, *, title: str) -> None:
    """Write the metadata of the crate whose folder ``path`` is in."""
    write_text(path, crate_text(Path(path).parent, name=title, version=__version__))


def crate_text(folder: str | Path, *, name: str, version: str) -> str:
    """The metadata of the crate ``folder``, the results of a finished run, as JSON-LD.

    Raises `InputError` if there is no manifest, or a file of it is gone. ``name`` is the crate's, ``version`` that of the software.
    """
    place = Path(folder) / "manifest.json"
    manifest = _recorded(place)
    made = datetime.fromtimestamp(place.stat().st_mtime, UTC).date().isoformat()
    files = [_file(Path(folder), path, digest) for path, digest in {**manifest["files"], "manifest.json": ""}.items()]
    members = [{"@id": entity["@id"]} for entity in files]
    configuration = [{"@id": "config.yaml"}] if "config.yaml" in manifest["files"] else []
    machine = manifest["machine"]
    used = ", ".join(f"{library} {number}" for library, number in machine["libraries"].items())
    graph: list[dict[str, Any]] = [
        {
            "@id": NAME,
            "@type": "CreativeWork",
            "conformsTo": {"@id": f"https://w3id.org/ro/crate/{VERSION}"},
            "about": {"@id": "./"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": name,
            "description": "Results of a run of qdrank: artifacts, tables, figures and verdicts. All files together have the digest "
            + manifest["all"],
            "datePublished": made,
            "license": "The terms of the data sets hold; see their publishers.",
            "hasPart": members,
            "mentions": {"@id": "#run"},
        },
        {"@id": "#qdrank", "@type": "SoftwareApplication", "name": "qdrank", "version": version},
        {
            "@id": "#run",
            "@type": "CreateAction",
            "name": "The run that made these files",
            "instrument": {"@id": "#qdrank"},
            "object": configuration,
            "result": {"@id": "./"},
            "endTime": made,
            "description": f"On {machine['processor']} ({machine['system']}), Python {machine['python']}; {used}",
        },
        *files,
    ]
    return json.dumps({"@context": [_CONTEXT, _VOCABULARY], "@graph": graph}, indent=1, ensure_ascii=False) + "\n"


def _file(folder: Path, path: str, digest: str) -> dict[str, Any]:
    """A file of the crate; ``digest`` is the manifest's, which for artifacts is that of their content."""
    place = folder / path
    if not place.is_file():
        raise InputError("a file of the manifest is gone", file=place, fix="run the workflow again")
    sha256 = _sha256(place)
    entity: dict[str, Any] = {"@id": quote(path), "@type": "File", "name": path}
    entity |= {"contentSize": str(place.stat().st_size), "sha256": sha256}
    if place.suffix in _FORMATS:
        entity["encodingFormat"] = _FORMATS[place.suffix]
    return entity | ({"identifier": digest} if digest and digest != sha256 else {})
