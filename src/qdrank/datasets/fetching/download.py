"""Downloads: retried, resumed, limited in size, checked, and put in place only when complete.

Written on urllib rather than on pooch: pooch neither resumes a download nor notices a web page that is served in
place of the data, and requests undoes a ``Content-Encoding: gzip`` that some servers put on a .tar.gz itself.
"""

from __future__ import annotations

import fcntl
import http.client
import os
import re
import ssl
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TextIO
from urllib.parse import urlsplit

from qdrank import __version__
from qdrank.datasets.fetching.contents import LARGEST_DOWNLOAD, sha256
from qdrank.datasets.sources import LOOPBACK
from qdrank.errors import InputError

_CHUNK = 1 << 16
HTML = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
TITLE = re.compile(rb"<title[^>]*>\s*(.*?)\s*</title", re.IGNORECASE | re.DOTALL)
# Answers that may be different in a moment; every other refusal is final.
PASSING = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True)
class Patience:
    """How often and how long to try; the waits between attempts double."""

    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 30.0
    timeout: float = 60.0

    def wait(self, attempt: int) -> None:
        """Wait before the given attempt; the first (0) comes at once."""
        if attempt:
            time.sleep(min(self.first_wait * 2 ** (attempt - 1), self.longest_wait))


@dataclass(frozen=True)
class Expected:
    """What the file must be: one of these sha256, and one of these sizes where they are known."""

    sha256: tuple[str, ...]
    sizes: tuple[int, ...] = ()

    @property
    def limit(self) -> int:
        """The most bytes to accept."""
        return max(self.sizes, default=LARGEST_DOWNLOAD)


PATIENT = Patience()


class Refused(Exception):
    """The address does not offer the file; trying again would not help."""


class Interrupted(Exception):
    """The transfer broke off; what arrived is kept, and another attempt may continue from there."""


def download(
    urls: tuple[str, ...], target: Path, expected: Expected, *, patience: Patience = PATIENT, fix: str | None = None
) -> None:
    """Download the file to ``target`` from the first of ``urls`` that offers it.

    Until it is complete, the file is called ``target`` with ``.part`` appended. An interrupted download leaves only
    that behind, and the next one continues it. Two processes that want the same file take turns.

    Raises `InputError` if no address gives a file with the expected sha256; the message says what each one answered.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    told = []
    with _locked_partial(target) as partial:
        for url in urls:
            if target.is_file():  # already here, or another process fetched it while we waited
                return
            try:
                _Transfer(url, partial, expected, patience).run(target.name)
                partial.place(target)
                return
            except (Refused, Interrupted) as failure:
                told.append(f"{url} {failure}")
    raise InputError(f"{target.name} could not be downloaded: " + "; ".join(told), fix=fix)


class _PartialFile:
    """The unfinished file; blocks are appended to it."""

    def __init__(self, handle: IO[bytes], path: Path) -> None:
        self._handle, self.path = handle, path
        self.size = handle.seek(0, os.SEEK_END)

    def append(self, block: bytes) -> None:
        self._handle.write(block)
        self.size += len(block)

    def flush(self) -> None:
        self._handle.flush()

    def clear(self) -> None:
        self._handle.seek(0)
        self._handle.truncate()
        self.size = 0

    def place(self, target: Path) -> None:
        self.flush()
        os.fsync(self._handle.fileno())
        self.path.replace(target)


@contextmanager
def _locked_partial(target: Path) -> Iterator[_PartialFile]:
    """The ``.part`` of ``target``, locked and open for more; removed at the end if it is still empty."""
    path = target.with_name(target.name + ".part")
    while True:
        handle = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644), "r+b")
        fcntl.flock(handle, fcntl.LOCK_EX)
        if _is_still(handle, path):
            break
        handle.close()  # while we waited, the process before us placed or removed it
    with handle:
        partial = _PartialFile(handle, path)
        try:
            yield partial
        finally:
            if partial.size == 0 and _is_still(handle, path):
                path.unlink()


def _is_still(handle: IO[bytes], path: Path) -> bool:
    """Whether ``path`` is the file that ``handle`` has open."""
    try:
        return os.path.samestat(os.fstat(handle.fileno()), path.stat())
    except FileNotFoundError:
        return False


class _Transfer:
    """The attempts to download one file from one address."""

    def __init__(self, url: str, partial: _PartialFile, expected: Expected, patience: Patience) -> None:
        self._url, self._partial, self._expected, self._patience = url, partial, expected, patience
        self._validator: str | None = None

    def run(self, name: str) -> None:
        """Try until the partial is complete and has the expected sha256."""
        failure: Exception = Refused("was not tried")
        for attempt in range(self._patience.attempts):
            self._patience.wait(attempt)
            resumed = self._partial.size > 0
            try:
                if self._partial.size not in self._expected.sizes:
                    self._receive(name)
            except Interrupted as interruption:
                failure = interruption
                continue
            finally:
                self._partial.flush()
            if (digest := sha256(self._partial.path)) in self._expected.sha256:
                return
            self._partial.clear()
            failure = Refused(f"gave a file with the wrong checksum (sha256 {digest})")
            if not resumed:
                raise failure  # a resumed partial may have been bad from the start; a fresh file was not
        raise failure

    def _receive(self, name: str) -> None:
        """Send one request and append the answer to the partial."""
        try:
            with _opener().open(self._request(), timeout=self._patience.timeout) as response:
                total = self._begin(response)
                self._append(response, Progress(name, total))
        except urllib.error.HTTPError as error:
            self._raise_for(error)
        except urllib.error.URLError as error:
            if isinstance(error.reason, ssl.SSLCertVerificationError):
                raise Refused(f"has no valid certificate ({error.reason.verify_message})") from None
            raise Interrupted(f"did not answer ({error.reason})") from None
        except (OSError, http.client.HTTPException) as error:
            raise Interrupted(f"broke off after {self._partial.size} bytes ({error or type(error).__name__})") from None
        if total is not None and self._partial.size < total:
            raise Interrupted(f"broke off after {self._partial.size} of {total} bytes")

    def _request(self) -> urllib.request.Request:
        # identity: the bytes that are stored are the bytes that are hashed
        headers = {"User-Agent": f"qdrank/{__version__}", "Accept-Encoding": "identity"}
        if self._partial.size:
            headers["Range"] = f"bytes={self._partial.size}-"
            # Known within one run only; what an earlier run left is vouched for by the sha256 at the end.
            headers |= {"If-Range": self._validator} if self._validator else {}
        return urllib.request.Request(self._url, headers=headers)  # noqa: S310 (the opener speaks http(s) alone)

    def _begin(self, response: http.client.HTTPResponse) -> int | None:
        """Check the header of an answer; return the size of the file, if it is given."""
        if response.headers.get_content_type() in ("text/html", "application/xhtml+xml"):
            raise self._web_page(response.read1(_CHUNK))
        if response.status == http.HTTPStatus.PARTIAL_CONTENT:
            start, total = _content_range(response.headers.get("Content-Range", ""))
            if start != self._partial.size:
                self._partial.clear()
                raise Interrupted("answered with another range than asked for")
        else:
            self._partial.clear()
            length = response.headers.get("Content-Length", "")
            total = int(length) if length.isdigit() else None
        tag = response.headers.get("ETag", "")
        self._validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")
        return self._plausible(total)

    def _plausible(self, total: int | None) -> int | None:
        """The size that the server gives, unless it cannot be that of the file."""
        sizes = self._expected.sizes
        if total is None:
            return min(sizes, default=None)
        if total > self._expected.limit or (sizes and total not in sizes):
            raise Refused(f"offers {total} bytes, not {' or '.join(map(str, sizes)) or f'at most {LARGEST_DOWNLOAD}'}")
        return total

    def _append(self, response: http.client.HTTPResponse, progress: Progress) -> None:
        while block := response.read1(_CHUNK):
            if self._partial.size == 0 and HTML.match(block):
                raise self._web_page(block)
            self._partial.append(block)
            progress.tell(self._partial.size)
            if self._partial.size > self._expected.limit:
                self._partial.clear()
                raise Refused(f"gives more than {self._expected.limit} bytes")
        progress.close(self._partial.size)

    def _web_page(self, page: bytes) -> Refused:
        title = TITLE.search(page)
        words = title[1].decode("utf-8", "replace")[:80] if title else "without a title"
        return Refused(f"answered with a web page instead of the data ({words})")

    def _raise_for(self, error: urllib.error.HTTPError) -> None:
        """Turn an answer without the file into the right error."""
        with error:
            answer = f"answered {error.code} {' '.join(str(error.reason).split())}"
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            self._partial.clear()
            raise Interrupted(answer)
        raise (Interrupted if error.code in PASSING else Refused)(answer)


def _content_range(text: str) -> tuple[int, int | None]:
    """Start and total of ``bytes 5-9/10``; -1 where there is none."""
    match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", text.strip())
    if match is None:
        return -1, None
    return int(match[1]), None if match[2] == "*" else int(match[2])


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirect to https only; within this machine also to plain http."""

    max_redirections = 5

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Return the next request, unless it would leave https."""
        if not (urlsplit(newurl).scheme == "https" or (_is_local(req.full_url) and _is_local(newurl))):
            raise Refused(f"redirects to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _is_local(url: str) -> bool:
    return urlsplit(url).scheme == "http" and urlsplit(url).hostname in LOOPBACK


def _opener() -> urllib.request.OpenerDirector:
    """An opener for http and https, proxies of the environment included, but not for file:, ftp: or data:."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    return opener


class Progress:
    """Reports progress, at most five times a second on a terminal and every ten seconds in a log."""

    def __init__(self, name: str, total: int | None, stream: TextIO | None = None) -> None:
        self._name, self._total = name, total
        self._stream = stream if stream is not None else sys.stderr
        self._live = self._stream.isatty()
        self._next = time.monotonic() + (0.0 if self._live else 10.0)

    def tell(self, done: int) -> None:
        """Show that ``done`` bytes are here, if it is time to."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + (0.2 if self._live else 10.0)
            self._write(done, end="" if self._live else "\n")

    def close(self, done: int) -> None:
        """Show the last state and end the line."""
        self._write(done, end="\n")

    def _write(self, done: int, end: str) -> None:
        share = f"{100 * done / self._total:3.0f} % of {_megabytes(self._total)}" if self._total else _megabytes(done)
        print(f"{chr(13) if self._live else ''}qdrank: {self._name} {share}", end=end, file=self._stream, flush=True)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
