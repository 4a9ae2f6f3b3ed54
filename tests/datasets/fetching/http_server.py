"""A web server on this machine that behaves, or misbehaves, as a test asks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers each path with the function that the test gave for it, and remembers what was asked."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        self.close_connection = True
        with suppress(BrokenPipeError, ConnectionResetError):
            self.server.answers.get(self.path, missing)(self)

    def reply(self, body: bytes, status: int = 200, *, length: int | None = None, **headers: str) -> None:
        """Send head and body; ``length`` may lie about the body."""
        self.send_response(status)
        for name, value in {"Content-Type": "application/octet-stream", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def asked_from(self) -> int:
        """First byte asked for."""
        header = self.headers.get("Range", "bytes=0-")
        return int(header.removeprefix("bytes=").removesuffix("-"))

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def serve(self, path: str, *answers: Answer) -> str:
        """Answer ``path`` with each of ``answers`` in turn, the last of them for ever; give the address."""
        left = list(answers)
        self.answers[path] = lambda handler: (left.pop(0) if len(left) > 1 else left[0])(handler)
        return self.url(path)


@contextmanager
def running() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(5)


def missing(handler: Handler) -> None:
    handler.reply(b"not here", 404, Content_Type="text/plain")


def whole(body: bytes, **headers: str) -> Answer:
    """The body, whatever range is asked for."""
    return lambda handler: handler.reply(body, **headers)


def ranged(body: bytes, etag: str = '"v1"') -> Answer:
    """The body, or the rest of it from where the client has it, as long as it is the same version."""

    def answer(handler: Handler) -> None:
        start = handler.asked_from()
        if start and handler.headers.get("If-Range", etag) == etag:
            span = f"bytes {start}-{len(body) - 1}/{len(body)}"
            handler.reply(body[start:], 206, Content_Range=span, ETag=etag)
        else:
            handler.reply(body, ETag=etag)

    return answer


def cut(body: bytes, after: int, etag: str = '"v1"') -> Answer:
    """Promise the whole body (or its rest), send ``after`` bytes of it, hang up."""

    def answer(handler: Handler) -> None:
        start = handler.asked_from()
        if start:
            span = f"bytes {start}-{len(body) - 1}/{len(body)}"
            handler.reply(body[start : start + after], 206, length=len(body) - start, Content_Range=span, ETag=etag)
        else:
            handler.reply(body[:after], length=len(body), ETag=etag)

    return answer


def failing(status: int) -> Answer:
    return lambda handler: handler.reply(b"busy", status)


def redirect(to: str) -> Answer:
    return lambda handler: handler.reply(b"", 302, Location=to)


def unmeasured(body: bytes) -> Answer:
    """The body without a word about its length."""

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def slow(body: bytes, pieces: int, pause: float) -> Answer:
    """The body in pieces, with a pause before each."""

    def answer(handler: Handler) -> None:
        handler.reply(b"", length=len(body))
        step = -(-len(body) // pieces)
        for start in range(0, len(body), step):
            time.sleep(pause)
            handler.wfile.write(body[start : start + step])
            handler.wfile.flush()

    return answer
