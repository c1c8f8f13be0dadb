# SPDX-License-Identifier: BSD-2-Clause
"""Bytes from a target -> records; says what was damaged and loses nothing else."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field

import msgspec

from cyclometer.record.schema import End, Group, Hello, Overhead, Pass, Record

LINE_MAX_BYTES = 1 << 20
_FRAME = re.compile(rb"@cyc (\{.*\}) \*([0-9a-f]{8})\s*$", re.DOTALL)
_INT64 = range(-(1 << 63), 1 << 63)
_json = msgspec.json.Decoder(Record)


@dataclass(frozen=True)
class Damage:
    """A line (from 1) that could not be used, or 0 for the stream as a whole, and why."""

    line: int
    what: str


@dataclass
class Decoder:
    """Feed it bytes as they come, in pieces of any size; `finish()` once at the end.

    `damage` grows along the way. Records come out in order, each sequence number once per start of
    the target.
    """

    damage: list[Damage] = field(default_factory=list)
    lines: int = 0
    records: int = 0
    values: int = 0
    ended: bool = False
    _pending: bytearray = field(default_factory=bytearray)
    _skipping: bool = False  # inside a line that is too long to be a record
    _next: int = 0
    _seen: set[int] = field(default_factory=set)
    _hello_crc: bytes = b""

    def feed(self, data: bytes) -> list[Record]:
        """Records completed by `data`, in order; what cannot be used goes to `damage`."""
        self._pending += data
        *lines, rest = self._pending.split(b"\n")
        self._pending = rest
        records = [record for line in lines if (record := self._line(bytes(line))) is not None]
        if len(self._pending) > LINE_MAX_BYTES:
            self._too_long()
        return records

    def finish(self) -> list[Record]:
        """The record of an unfinished last line, if it is whole, and the verdict on the stream's
        end.
        """
        rest, self._pending = bytes(self._pending), bytearray()
        record = self._line(rest) if rest else None
        if self.records and not self.ended:
            self._damaged(
                "the stream stops without its `end` record; what arrived before is kept", line=0
            )
        return [record] if record is not None else []

    def _too_long(self) -> None:
        if not self._skipping and b"@cyc " in self._pending:
            self._damaged(f"a record line exceeds {LINE_MAX_BYTES} bytes", line=self.lines + 1)
        self._skipping = True
        self._pending = bytearray()

    def _line(self, line: bytes) -> Record | None:
        self.lines += 1
        if self._skipping:
            self._skipping = False
            return None
        # the last one, for a record that was cut off may stand before it on the line
        start = line.rfind(b"@cyc ")
        if start < 0:
            return None
        frame = _FRAME.match(line, start)
        if frame is None:
            self._damaged("a record line is cut off or has no checksum")
            return None
        if zlib.crc32(frame[1]) != int(frame[2], 16):
            self._damaged("a record's checksum does not match its bytes")
            return None
        try:
            record = _json.decode(frame[1])
            _check_int64(record)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            self._damaged(f"a record is whole but not understood ({error})")
            return None
        return self._accept(record, frame[2])

    def _accept(self, record: Record, crc: bytes) -> Record | None:
        if isinstance(record, Hello):
            self._restart(crc)
        if record.seq in self._seen:
            self._damaged(f"record {record.seq} arrived twice; the first one is kept")
            return None
        if record.seq > self._next:
            self._damaged(f"records {self._next} to {record.seq - 1} are missing")
        self._seen.add(record.seq)
        self._next = max(self._next, record.seq + 1)
        self.records += 1
        if isinstance(record, Group | Pass | Overhead):
            self.values += len(record.values)
        if isinstance(record, End):
            self._check_end(record)
        return record

    def _restart(self, crc: bytes) -> None:
        """A second, different hello is the target's next start: numbers begin anew."""
        if self._hello_crc not in (b"", crc):
            self._damaged("the target started again; what follows is kept as another run")
            self._seen, self._next, self.records, self.values, self.ended = set(), 0, 0, 0, False
        self._hello_crc = crc

    def _check_end(self, end: End) -> None:
        self.ended = True
        if end.values != self.values:
            self._damaged(f"the target wrote {end.values} values and {self.values} arrived")

    def _damaged(self, what: str, line: int | None = None) -> None:
        self.damage.append(Damage(self.lines if line is None else line, what))


def _check_int64(record: Record) -> None:
    """ValueError if a value does not fit the 64 bits that FORMAT.md promises."""
    if isinstance(record, Group | Pass | Overhead):
        lists = (record.values, record.at, *record.counters.values())
        if any(value not in _INT64 for values in lists for value in values):
            raise ValueError("an integer exceeds 64 bits")
