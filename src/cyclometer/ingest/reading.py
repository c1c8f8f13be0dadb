# SPDX-License-Identifier: BSD-2-Clause
"""Reading files nobody vouches for: bounded in size, depth and time, with console noise taken out.

Every parser gets a `Foreign` and never opens a file itself, so these bounds hold for all of them.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from cyclometer.errors import BadFile

MAX_FILE_BYTES = 256 << 20
MAX_JSON_BYTES = 64 << 20
# some 60 bytes of memory each, so that a bomb of empty lists stays below 350 MB
MAX_JSON_VALUES = 5_000_000
# outside of strings, which stay
_NOT_FINITE = re.compile(rb'"(?:[^"\\]|\\.)*"|(-?\b(?:NaN|Infinity)\b)')
_AN_OBJECT = 4  # values that the memory of an object with one member is worth
MAX_LINES = 2_000_000
# of the line-oriented formats; bounds what a regular expression may look at
MAX_LINE_CHARS = 10_000
HEAD_BYTES = 64 << 10  # what a format is recognised by

# what follows an escape
_ESCAPED = re.compile(r"\[[0-?]*[ -/]*[@-~]|\][^\x07]{0,200}\x07?|[@-Z\\^_=>()][0-9AB]?")
_MAGIC = {
    b"\x7fELF": "an ELF binary",
    b"\x1f\x8b": "gzip-compressed",
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "zstd-compressed",
    b"\xfd7zXZ": "xz-compressed",
    b"BZh": "bzip2-compressed",
    b"PAR1": "a Parquet file",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG image",
}


@dataclass(frozen=True)
class Foreign:
    """A foreign file, read whole. `text` has line feeds as its only line ends and no escape
    sequences.
    """

    name: str
    data: bytes
    text: str

    def lines(self, longest: int = MAX_LINE_CHARS) -> Iterator[tuple[int, str]]:
        """(line number from 1, line) in order; a line with more characters comes as an empty one
        (see `long_lines`).
        """
        start, number = 0, 1
        while start <= len(self.text):
            end = self.text.find("\n", start)
            end = len(self.text) if end < 0 else end
            yield number, self.text[start:end] if end - start <= longest else ""
            start, number = end + 1, number + 1

    def long_lines(self) -> list[int]:
        """Numbers of the lines that `lines` does not show unless asked to."""
        numbers, counted, line = list[int](), 0, 1
        for match in re.finditer(rf"[^\n]{{{MAX_LINE_CHARS + 1},}}", self.text):
            line += self.text.count("\n", counted, match.start())
            counted = match.start()
            numbers.append(line)
        return numbers


def read(path: str | Path, *, max_bytes: int = MAX_FILE_BYTES, encoding: str = "utf-8") -> Foreign:
    """Read a foreign file; BadFile if it is missing, special, empty, too large, binary or not in
    `encoding`.

    The size is asked for before anything is opened, so that a huge file or a device is refused at
    once.
    """
    path = Path(path)
    try:
        info = path.stat()
    except (OSError, ValueError) as error:
        raise BadFile(
            f"{_shown(path)} cannot be read ({getattr(error, 'strerror', error)}); check the name"
        ) from None
    if not stat.S_ISREG(info.st_mode):
        raise BadFile(f"{_shown(path)} is not a regular file; give the log or table itself")
    if info.st_size > max_bytes:
        raise BadFile(
            f"{_shown(path)} has {info.st_size} bytes, more than the {max_bytes} that are read; "
            "cut out the results"
        )
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise BadFile(
            f"{_shown(path)} cannot be read ({error.strerror}); check its permissions"
        ) from None
    # its size was asked for before it was opened
    if len(data) > max_bytes:
        raise BadFile(f"{_shown(path)} grew while it was read; wait until it is complete")
    return decode(path.name, data, encoding)


def decode(name: str, data: bytes, encoding: str = "utf-8") -> Foreign:
    """Bytes that came under `name` as a `Foreign`; BadFile if they are empty, binary or not in
    `encoding`.
    """
    if not data.strip():
        raise BadFile(f"{name} is empty; nothing was measured or nothing was captured")
    for magic, what in _MAGIC.items():
        if data.startswith(magic):
            raise BadFile(f"{name} is {what}, not text; give the unpacked log or table")
    try:
        text = data.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
    except LookupError:
        raise BadFile(
            f"{encoding!r} is not an encoding; use for instance --set encoding=latin-1"
        ) from None
    except UnicodeError as error:
        where = f" at byte {error.start}" if isinstance(error, UnicodeDecodeError) else ""
        raise BadFile(
            f"{name} is not {encoding}{where}; say what it is with --set encoding=latin-1"
        ) from None
    # a break on a serial line reads as a zero byte; a binary is full of them
    if "\0" in text and text.count("\0") * 100 > len(text):
        raise BadFile(f"{name} is binary, not text; give the log or table itself")
    text = _plain(text)
    if text.count("\n") > MAX_LINES:
        raise BadFile(f"{name} has more than {MAX_LINES} lines; cut out the results")
    return Foreign(name, data, text)


def _plain(text: str) -> str:
    """Without escape sequences; carriage returns before a line feed go, others become line feeds.

    Splitting at one character is several times as fast as replacing two or searching a pattern.
    """
    first, *rest = text.split("\r")
    text = (
        first + "".join(part if part[:1] in ("\n", "") else f"\n{part}" for part in rest)
        if rest
        else first
    )
    first, *rest = text.split("\x1b")
    return first + "".join(
        part[match.end() :] if (match := _ESCAPED.match(part)) else part for part in rest
    )


def _decoded(data: bytes) -> Any:
    """JSON, in which Python's and other writers' NaN and Infinity count as null: not a figure."""
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        finite = _NOT_FINITE.sub(lambda match: b"null" if match[1] else match[0], data)
        if finite == data:
            raise
        return msgspec.json.decode(finite)


def json_value(text: str | bytes, where: str) -> Any:
    """Decode JSON within MAX_JSON_BYTES and MAX_JSON_VALUES; BadFile names `where` and what is
    wrong.
    """
    data = text.encode() if isinstance(text, str) else text
    if len(data) > MAX_JSON_BYTES:
        raise BadFile(
            f"{where} holds {len(data)} bytes of JSON, of which {MAX_JSON_BYTES} at most are read; "
            "split it"
        )
    if data.count(b",") + data.count(b"[") + _AN_OBJECT * data.count(b"{") > MAX_JSON_VALUES:
        raise BadFile(f"{where} holds more than {MAX_JSON_VALUES} JSON values; split it")
    try:
        return _decoded(data)
    except RecursionError:
        raise BadFile(
            f"{where} nests its JSON too deeply to be a result; check what wrote it"
        ) from None
    except (msgspec.DecodeError, ValueError) as error:
        raise BadFile(f"{where} is not valid JSON ({error}); check that it is complete") from None


def _shown(path: Path) -> str:
    return str(path).encode("ascii", "backslashreplace").decode()[-200:]
