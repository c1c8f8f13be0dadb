# SPDX-License-Identifier: BSD-2-Clause
"""A headless Chromium driven over its debugging pipe: enough to load a page, type, look, and list
what it asked for.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
    "about:blank",
)


def _pipe() -> tuple[int, int]:
    """The two ends, out of the way of the low descriptors that the browser is given."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]


class Browser:
    """One tab. `requests` are the addresses it asked for, `complaints` what it logged, in order."""

    def __init__(self, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        assert CHROMIUM, "Chromium is not installed; run `make setup-all`"
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._serial = 0
        self._session = ""
        self._pending = b""
        self._start()
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self._call(f"{domain}.enable")
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])

    def _start(self) -> None:
        """Chromium reads commands from descriptor 3 and answers on 4."""
        commands, self._to = _pipe()
        self._from, answers = _pipe()
        arguments = [str(CHROMIUM), f"--user-data-dir={self._profile.name}", *_QUIET]
        actions = [
            (os.POSIX_SPAWN_DUP2, commands, 3),
            (os.POSIX_SPAWN_DUP2, answers, 4),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        self._process = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=actions)
        os.close(commands)
        os.close(answers)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._process, signal.SIGTERM)
        os.waitpid(self._process, 0)
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def resize(self, width: int, height: int) -> None:
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def open(self, address: str) -> None:
        """Loads a page and waits until it stands."""
        self._call("Page.navigate", url=address)
        self._until("Page.loadEventFired")

    def go(self, fragment: str) -> None:
        """Follows a link inside the page."""
        self.js(f"location.hash = {json.dumps(fragment)}")

    def js(self, expression: str) -> Any:
        """The value of an expression, promises awaited; AssertionError with the page's own words
        where it throws.
        """
        answer = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]["exception"].get(
            "description"
        )
        return answer["result"].get("value")

    def soon(self, expression: str, wanted: Any) -> None:
        """Waits, at most some seconds, until the expression has this value: keys take effect a
        little later.
        """
        deadline = time.monotonic() + 10
        while (value := self.js(expression)) != wanted and time.monotonic() < deadline:
            time.sleep(0.02)
        assert value == wanted

    def type(self, text: str) -> None:
        """Letters, as from a keyboard."""
        for letter in text:
            self.press(letter, text=letter)

    def press(self, key: str, **more: str) -> None:
        """One key, by its name in KeyboardEvent.key."""
        codes = {
            "Enter": 13,
            "Escape": 27,
            "Tab": 9,
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowRight": 39,
            "ArrowDown": 40,
        }
        which = codes.get(key, ord(key[0].upper()))
        text = {"text": "\r"} if key == "Enter" else more
        self._call(
            "Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=which, **text
        )
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=which)

    def hover(self, selector: str) -> None:
        """Moves the pointer to the middle of an element."""
        box = f"document.querySelector({json.dumps(selector)})"
        self.js(f"{box}.scrollIntoView({{block: 'center'}})")
        x, y = self.js(
            f"(r => [r.x + r.width / 2, r.y + r.height / 2])({box}.getBoundingClientRect())"
        )
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """What is in view, or the whole page, as PNG."""
        answer = self._call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._serial += 1
        message: dict[str, Any] = {"id": self._serial, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        while True:
            answer = self._receive()
            if answer.get("id") == self._serial:
                assert "error" not in answer, f"{method}: {answer['error']['message']}"
                return answer["result"]

    def _until(self, event: str) -> None:
        while self._receive().get("method") != event:
            pass

    def _receive(self) -> dict[str, Any]:
        """The next message; requests and complaints are noted in passing."""
        while b"\0" not in self._pending:
            chunk = os.read(self._from, 1 << 20)
            assert chunk, "Chromium ended"
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\0")
        message = json.loads(line)
        what = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(what["request"]["url"])
            case "Log.entryAdded":
                self.complaints.append(what["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(what["exceptionDetails"]["text"])
        return message
