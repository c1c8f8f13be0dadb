# SPDX-License-Identifier: BSD-2-Clause
"""QEMU under its own debugger stub: runs to an address, reads registers and memory, switches QEMU's
log on and off.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cyclometer.errors import MeasurementFailed
from cyclometer.targets import child
from cyclometer.targets.console import CONSOLE_MAX_BYTES

TRIED = "7.2"
"""The version of QEMU that traces are tried with; LIMITS.md says so, too."""
LOG_MAX_BYTES = 256 << 20  # of a window
_CHUNK_BYTES = 1 << 16
_BLOCK_BYTES = 512  # stat(2)
_POLL_S = 0.02  # between two questions to the monitor
_LOOK_S = 0.5  # between two looks at the console
_END = b'{"kind":"end",'
_PACKET_BYTES = 1024  # of a description or of memory, in one packet
_INCLUDED = re.compile(rb'<xi:include href="([^"]+)"')
_REGISTER = re.compile(rb'<reg name="([^"]+)"(?:[^>]*? regnum="(\d+)")?')
_RISCV_SSTATUS = 0x100  # its number as a CSR


class _Ended(MeasurementFailed):
    """QEMU is gone."""


class Debugger:
    """A machine that stands still until a command lets it run; talks GDB's remote serial protocol
    over a socket pair, and takes QEMU's log by a file in memory: a pipe would wake us at each line.
    """

    def __init__(
        self, command: Sequence[str], bound_s: float, stop: threading.Event | None = None
    ) -> None:
        self._stop = stop or threading.Event()
        self._deadline_s = time.monotonic() + bound_s
        self._stub, theirs = socket.socketpair()
        self._log = os.memfd_create("log")
        ends = (theirs.fileno(), self._log)
        debugger = (
            "-S",
            "-chardev",
            f"socket,id=debugger,fd={ends[0]}",
            "-gdb",
            "chardev:debugger",
        )
        self._process = child.started(
            [*command, *debugger, "-D", f"/dev/fd/{ends[1]}"],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        theirs.close()
        assert self._process.stdout is not None
        self._console = self._process.stdout.fileno()
        self._open = [self._stub.fileno(), self._console]
        self._heard = {file: bytearray() for file in self._open}
        self._numbers: dict[str, int] = {}
        if "-incoming" in command:
            self._await("info status", b"inmigrate", gone=True)

    def __enter__(self) -> Debugger:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._stub.close()
        assert self._process.stdout is not None
        self._process.stdout.close()
        os.close(self._log)

    def run_to(self, addresses: Sequence[int]) -> None:
        """Runs until one of `addresses` is next."""
        for address in addresses:
            self._ask(f"Z1,{address:x},2")  # a hardware breakpoint: it changes no instruction
        # T for stopped; W or X for gone
        if self._ask("c")[:1] != b"T":
            raise MeasurementFailed(
                "the traced machine ended before its test; run the circle without tracing"
            )
        for address in addresses:
            self._ask(f"z1,{address:x},2")

    def reach(self, address: int, ends: Sequence[bytes]) -> str:
        """Runs until `address` is next. Empty, or why that never came: the machine's end, a text of
        `ends` in its console, or the bound.
        """
        self._ask(f"Z1,{address:x},2")
        self._send("c")
        console, seen = self._heard[self._console], 0
        try:
            while not self._answered():
                if any(console.find(text, max(0, seen - len(text))) >= 0 for text in ends):
                    return "said that it was done"
                seen = len(console)
                self._listen(_LOOK_S)
                if time.monotonic() >= self._deadline_s:
                    return "had not finished in time (--watchdog allows more)"
            if self._packet()[:1] != b"T":
                return "ended by itself"
            self._ask(f"z1,{address:x},2")
        except _Ended:
            return "ended by itself"
        return ""

    def step(self) -> None:
        """Executes one instruction."""
        if self._ask("s")[:1] != b"T":
            raise _Ended("the traced machine ended; trace something that comes before its end")

    def log(self, what: str, blocks: bool = False) -> None:
        """Starts the log of each instruction, or of each block; `none` stops it."""
        state = "off" if what == "none" or blocks else "on"
        if not self._understood(f"one-insn-per-tb {state}"):  # its name since QEMU 8.1
            self.monitor(f"singlestep {state}")
        self.monitor(f"log {what}")

    def save(self, state: Path) -> None:
        """Writes the machine as it stands to a file, from which `-incoming` continues it."""
        draft = state.with_suffix(".part")
        # renamed last, so that what waits for the file finds it whole
        words = f"cat > {shlex.quote(str(draft))} && mv {shlex.quote(str(draft))} "
        words += shlex.quote(str(state))
        self.monitor("migrate_set_parameter max-bandwidth 4G")  # bytes in a second
        escaped = words.replace("\\", "\\\\").replace('"', '\\"')
        self.monitor(f'migrate -d "exec:{escaped}"')
        self._await("info migrate", b"completed")
        while not state.exists():
            self._look()

    def _await(self, question: str, word: bytes, gone: bool = False) -> None:
        """Asks QEMU's monitor until a word is in its answer, or is gone."""
        while (word in (self._answer(question) or b"")) == gone:
            self._look()

    def _look(self) -> None:
        """Takes what has come, and waits a little if nothing has. Raises MeasurementFailed at the
        bound.
        """
        if time.monotonic() >= self._deadline_s:
            raise MeasurementFailed("the machine was not saved or continued in time")
        self._listen(_POLL_S)

    def monitor(self, words: str) -> None:
        """A command of QEMU's monitor that prints nothing unless it fails."""
        if not self._understood(words):
            raise MeasurementFailed(
                f"QEMU's monitor does not understand {words!r}; version {TRIED} does"
            )

    def _understood(self, words: str) -> bool:
        """Whether the monitor took a command without printing anything, which is a complaint."""
        return self._answer(words) == b""

    def _answer(self, words: str) -> bytes | None:
        """What the monitor prints at a command; None if the stub takes no such commands."""
        answer = self._ask(f"qRcmd,{words.encode().hex()}")
        printed = b""
        while answer.startswith(b"O") and answer != b"OK":  # what it prints comes before the answer
            printed += bytes.fromhex(answer[1:].decode())
            answer = self._packet()
        return printed if answer == b"OK" else None

    def register(self, name: str) -> int:
        """What a register holds, by the number that QEMU's description gives it."""
        return self.numbered(self.number(name))

    def riscv_csr(self, number: int) -> int:
        """What a CSR holds, also of those that QEMU's description leaves out."""
        return self.numbered(self.number("sstatus") - _RISCV_SSTATUS + number)

    def physical_memory(self, address: int, length: int) -> bytes:
        """Memory or device registers, past all translation."""
        self._ask("Qqemu.PhyMemMode:1")
        data = bytearray()
        while len(data) < length:
            wanted = min(_PACKET_BYTES, length - len(data))
            answer = self._ask(f"m{address + len(data):x},{wanted:x}")
            if len(answer) != 2 * wanted:
                raise MeasurementFailed(
                    f"QEMU cannot read its memory at {address + len(data):#x}; a version from 7.0 "
                    "can"
                )
            data += bytes.fromhex(answer.decode())
        self._ask("Qqemu.PhyMemMode:0")
        return bytes(data)

    def memory(self, address: int, length: int) -> bytes:
        """Memory as the processor sees it where it stands, however much."""
        with tempfile.NamedTemporaryFile(prefix="cyclometer-") as file:
            self.monitor(f'memsave {address:#x} {length} "{file.name}"')
            return Path(file.name).read_bytes()

    def logged(self) -> bytes:
        """What it wrote since the last call; the log has to be switched off."""
        with open(self._log, "rb", closefd=False) as file:
            # QEMU keeps it open, and writes on behind what was taken and is a hole since
            file.seek(os.lseek(self._log, 0, os.SEEK_DATA))
            taken = file.read().lstrip(b"\0")
        os.ftruncate(self._log, 0)
        return taken

    def finish(self) -> bytes:
        """Runs to the `end` record and returns the console."""
        self._send("c")
        console = self._heard[self._console]
        while (at := console.find(_END)) < 0 or console.find(b"\n", at) < 0:
            self._listen()
        return bytes(console)

    @property
    def console(self) -> bytes:
        """What the machine has printed so far."""
        return bytes(self._heard[self._console])

    def numbered(self, number: int) -> int:
        """What the register of a number holds."""
        answer = self._ask(f"p{number:x}").decode()
        if not re.fullmatch(r"([0-9a-f]{2})+", answer):
            raise MeasurementFailed(
                f"QEMU gives its debugger no register of number {number}; version {TRIED} does"
            )
        return int.from_bytes(bytes.fromhex(answer), "little")

    def number(self, name: str) -> int:
        """By which the debugger protocol names a register."""
        if not self._numbers:
            self._numbers = self._number_registers()
        if name not in self._numbers:
            raise MeasurementFailed(
                f"QEMU has no register {name} for its debugger; version {TRIED} does"
            )
        return self._numbers[name]

    def _number_registers(self) -> dict[str, int]:
        """All described registers; one without a number follows the one before it."""
        found: dict[str, int] = {}
        following = 0
        for file in _INCLUDED.findall(self._description("target.xml")):
            for name, number in _REGISTER.findall(self._description(file.decode())):
                following = int(number or following)
                found[name.decode()] = following
                following += 1
        return found

    def _description(self, file: str) -> bytes:
        """A file by which QEMU describes the machine to a debugger: more follows after `m`, nothing
        after `l`.
        """
        text, more = b"", True
        while more:
            answer = self._ask(f"qXfer:features:read:{file}:{len(text):x},{_PACKET_BYTES:x}")
            text, more = text + answer[1:], answer[:1] == b"m"
        return text

    def _ask(self, words: str) -> bytes:
        """Sends one packet and returns the answer's body."""
        self._send(words)
        return self._packet()

    def _packet(self) -> bytes:
        """The body of the next packet that comes."""
        heard = self._heard[self._stub.fileno()]
        while not self._answered():
            self._listen()
        end = heard.find(b"#")
        body = bytes(heard[heard.find(b"$") + 1 : end])
        del heard[: end + 3]  # with two digits of a checksum, for which a socket pair has no use
        with suppress(BrokenPipeError, ConnectionResetError):  # QEMU ended behind its last packet
            self._stub.sendall(b"+")
        return body

    def _answered(self) -> bool:
        """Whether a whole packet has come."""
        heard = self._heard[self._stub.fileno()]
        return (end := heard.find(b"#")) >= 0 and len(heard) >= end + 3

    def _send(self, words: str) -> None:
        try:
            self._stub.sendall(f"${words}#{sum(words.encode()) % 256:02x}".encode())
        except OSError as error:
            raise _Ended("QEMU ended before it was traced; run the circle without it") from error

    def _listen(self, patience_s: float | None = None) -> bool:
        """Takes what has come from anywhere; False if nothing has within `patience_s`, by
        default so long that the bound and the log's length are heeded.
        """
        left_s = max(self._deadline_s - time.monotonic(), 0)
        patient_s = min(left_s, _LOOK_S) if patience_s is None else patience_s
        ready, _, _ = select.select(self._open, [], [], patient_s)
        if os.fstat(self._log).st_blocks * _BLOCK_BYTES > LOG_MAX_BYTES:
            raise MeasurementFailed(
                f"a window's log exceeds {LOG_MAX_BYTES >> 20} MiB; trace fewer turns, or less "
                "between two addresses"
            )
        if self._stop.is_set():
            raise MeasurementFailed("the traced machine was interrupted")
        if not ready and patience_s is None and not left_s:
            raise MeasurementFailed(
                "the traced machine did not reach its test in time; allow more with --watchdog"
            )
        for file in ready:
            data = os.read(file, _CHUNK_BYTES)
            if not data and file != self._console:
                self._open.remove(file)  # the console has still to be heard to its end
            elif not data:
                raise _Ended("QEMU ended while it was traced; run the circle without tracing")
            self._heard[file] += data
            if len(self._heard[file]) > CONSOLE_MAX_BYTES:
                raise MeasurementFailed(
                    f"the traced machine printed more than {CONSOLE_MAX_BYTES >> 20} MiB"
                )
        return bool(ready)
