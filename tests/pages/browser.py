"""A headless Chromium, spoken to through a pipe: what a page asks for and complains of, what a click does, how it looks."""

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
FLAGS += (
    "--disable-background-networking",
    "--disable-component-update",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def installed() -> str | None:
    """Path of the browser, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class LeavingError(AssertionError):
    """The page was being left while a script was sent to it: there is no answer, and the next page may have one."""


class Browser:
    """One page in a browser. ``problems`` collects what its console complains of, ``requests`` what it asked for."""

    def __init__(self, process: subprocess.Popen[bytes], send: int, receive: int) -> None:
        self.process, self._send, self._receive = process, send, receive
        self._buffer, self._last = b"", 0
        self.problems: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = ""
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if getattr(self, "_session", ""):
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                if re.search("context|navigated", answer.get("error", {}).get("message", "")):
                    raise LeavingError(answer["error"])
                assert "error" not in answer, answer
                return dict(answer["result"])
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            piece = os.read(self._receive, 1 << 20)
            assert piece, "the browser ended"
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"])[:600])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(params["args"])[:600])

    def open(self, path: Path, *, width: int, height: int = 900) -> None:
        """Open a file in a window of this size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def run(self, script: str) -> Any:
        """Value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = 120) -> None:
        """Wait until a JavaScript condition is true; long, since a loaded machine may take long."""
        end = time.monotonic() + seconds
        while True:
            with suppress(LeavingError):
                if self.run(condition):
                    return
            assert time.monotonic() < end, f"never true: {condition}; {self.problems}"
            time.sleep(0.05)

    def press(self, x: float, y: float) -> None:
        """Move the mouse to a place in the window, and click."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left" if kind != "mouseMoved" else "none",
                clickCount=1,
            )

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Save how the page looks."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a profile of its own, ended with the block, and with it the processes that write into its profile."""
    program = installed()
    assert program
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command_read, command_write = os.pipe()
        answer_read, answer_write = os.pipe()

        def at_3_and_4() -> None:
            os.dup2(command_read, 3)
            os.dup2(answer_write, 4)

        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}"],
            preexec_fn=at_3_and_4,
            pass_fds=(3, 4, command_read, answer_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(command_read)
        os.close(answer_write)
        try:
            yield Browser(process, command_write, answer_read)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(command_write)
            os.close(answer_read)
