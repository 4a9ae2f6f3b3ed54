"""A finished run as an RO-Crate (Soiland-Reyes et al. 2022): its files with sizes and digests, the software, and the configuration.

The crate is made from the manifest, so it lists what the run made and nothing else that lies in the folder.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qdrank import __version__
from qdrank.errors import InputError
from qdrank.store.atomic import write_text

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

    Raises `InputError` if there is no manifest, or a file of it is gone.

    Parameters
    ----------
    name : name of the crate
    version : version of the software
    """
    place = Path(folder) / "manifest.json"
    if not place.is_file():
        raise InputError("no manifest", file=place, fix="run the workflow to its end first")
    manifest = json.loads(place.read_text(encoding="utf-8"))
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
    with place.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    entity: dict[str, Any] = {"@id": quote(path), "@type": "File", "name": path}
    entity |= {"contentSize": str(place.stat().st_size), "sha256": sha256}
    if place.suffix in _FORMATS:
        entity["encodingFormat"] = _FORMATS[place.suffix]
    return entity | ({"identifier": digest} if digest and digest != sha256 else {})
