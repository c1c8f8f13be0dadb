# SPDX-License-Identifier: BSD-2-Clause
"""What is shown while a command works."""

from __future__ import annotations

import io
import sys

import pytest

from cyclometer.cli.progress import Display

STEERING = "[/b] \x1b[2Jx"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [io.StringIO, _Terminal])
def test_what_an_image_printed_cannot_steer_the_display(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", shown := stream())
    with Display() as display:
        display.show(0, 1, STEERING)
    assert "[/b] " in shown.getvalue()
    assert "\x1b[2J" not in shown.getvalue()
