# SPDX-License-Identifier: BSD-2-Clause
"""Boards through labgrid: a serial line that loses, doubles and garbles bytes, a strategy, a place
of a coordinator, and files that describe no board.
"""

from __future__ import annotations

import os
import pty
import random
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cyclometer.bundle import store
from cyclometer.bundle.model import Bundle
from cyclometer.cli import cli
from cyclometer.errors import MeasurementFailed, NotComparable, UsageError
from cyclometer.targets.api import MeasurementResult, Progress, Request
from cyclometer.targets.board.target import BoardTarget
from cyclometer.targets.console import BootResult, read_stream
from tests.streams import CONTRACT, circle, end, group, hello, line

BIN = Path(sys.executable).parent
GROUPS = 60
TRUE = {n: [1000 * n + test for test in range(3)] for n in range(1, GROUPS + 1)}


def console() -> list[bytes]:
    """What a board prints: noise of its boot loader, then a record a line."""
    records = [hello(), circle(1)]
    records += [group(n + 1, values, group=n - 1) for n, values in TRUE.items()]
    records.append(end(GROUPS + 2, 3 * GROUPS))
    return [b"U-Boot 2026.01\r\n", *map(line, records)]


def unharmed(lines: list[bytes], _: int) -> list[bytes]:
    return lines


class SerialBoard:
    """A board on a pseudo-terminal that prints when its power, a file, comes; boot after boot."""

    def __init__(self, folder: Path, harm: Callable[[list[bytes], int], list[bytes]]):
        self.power, self.boots = folder / "power", 0
        self._harm, self._done = harm, threading.Event()
        self._master, self._slave = pty.openpty()
        self.port = os.ttyname(self._slave)
        os.set_blocking(self._master, False)
        self._thread = threading.Thread(target=self._live)

    def __enter__(self) -> SerialBoard:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        os.close(self._master)
        os.close(self._slave)

    def _supply(self) -> int:
        """Which supply of power this is: the time it came; 0 without power."""
        try:
            return self.power.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def _live(self) -> None:
        self._print(b"the end of what was here before\r\n" + line(hello(seq=1)), 0)
        before = 0
        while not self._done.wait(0.01):
            if (supply := self._supply()) not in (0, before):
                before, self.boots = supply, self.boots + 1
                self._print(b"".join(self._harm(console(), self.boots)), supply)

    def _print(self, data: bytes, supply: int) -> None:
        """As fast as the line takes it, while power lasts; the line holds no more than 4 KiB that
        nobody reads.
        """
        while data and not self._done.is_set() and self._supply() == supply:
            if select.select([], [self._master], [], 0.05)[1]:
                data = data[os.write(self._master, data[:512]) :]


def described(folder: Path, drivers: str, more: str = "") -> Path:
    """A labgrid file with these drivers of its target, and an image."""
    (folder / "kernel.elf").write_bytes(b"an image")
    file = folder / "board.yaml"
    file.write_text(
        f"targets:\n  main:\n{drivers}\nimages:\n  kernel: kernel.elf\n{more}", encoding="utf-8"
    )
    return file


def serial(board: SerialBoard) -> str:
    return (
        f"    resources:\n      RawSerialPort: {{port: {board.port}}}\n"
        "    drivers:\n      SerialDriver: {}\n" + power(board)
    )


def power(board: SerialBoard) -> str:
    # A folder's time is set once; that of a touched file when it is made and again.
    return (
        "      ExternalPowerDriver:\n"
        f"        cmd_on: mkdir {board.power}\n        cmd_off: rm -rf {board.power}\n"
    )


def measure(file: Path, runs: int = 2, **asked: Any) -> MeasurementResult:
    config = {"labgrid": str(file)} | asked.pop("config", {})
    request = Request(runs=runs, watchdog_s=30, config=config, **asked)
    return BoardTarget().measure(request, {"cpu_model": "of the host"}, Progress())


def values(bundle: Bundle) -> dict[int, list[list[int]]]:
    """run -> the values of each group that arrived."""
    samples = bundle.samples
    found: dict[int, dict[int, list[int]]] = {}
    for run, number, value in zip(samples.run, samples.group, samples.value, strict=True):
        found.setdefault(int(run), {}).setdefault(int(number), []).append(int(value))
    return {run: list(groups.values()) for run, groups in found.items()}


def test_each_boot_is_a_run_and_what_the_line_held_before_is_not_read(tmp_path: Path) -> None:
    with SerialBoard(tmp_path, unharmed) as board:
        measured = measure(described(tmp_path, serial(board)), runs=3)
        assert board.boots == 3
        assert not board.power.exists()
    assert values(measured.bundle) == {run: list(TRUE.values()) for run in (1, 2, 3)}
    identity = measured.bundle.identity
    assert not identity.problems
    assert not measured.broken
    assert [row.contract.key for row in identity.rows] == [CONTRACT["key"]]
    assert "cpu_model" not in identity.environment
    assert identity.environment["images"]["kernel"]["name"] == "kernel.elf"


def noisy(lines: list[bytes], boot: int) -> list[bytes]:
    """Every tenth line loses a byte, every tenth has one twice, and one differs in every tenth."""
    rng = random.Random(boot)
    harmed = []
    for text in lines:
        at = rng.randrange(len(text))
        kind = rng.randrange(10)
        wrong = bytes([text[at] ^ 1 << rng.randrange(8)])
        replaced = {0: b"", 1: text[at : at + 1] * 2, 2: wrong}.get(kind, text[at : at + 1])
        harmed.append(text[:at] + replaced + text[at + 1 :])
    return [*lines[:3], *harmed[3:-1], lines[-1]]  # a boot without its first lines is another test


def test_a_noisy_line_costs_records_and_never_changes_a_value(tmp_path: Path) -> None:
    with SerialBoard(tmp_path, noisy) as board:
        measured = measure(described(tmp_path, serial(board)))
    true = list(TRUE.values())
    found = values(measured.bundle)
    assert sorted(found) == [1, 2]
    assert all(one in true for groups in found.values() for one in groups)
    assert all(GROUPS // 2 < len(groups) < GROUPS for groups in found.values())
    kinds = {problem.kind for problem in measured.bundle.identity.problems}
    assert kinds == {"damaged"}


def test_a_boot_that_lost_its_hello_is_left_out_and_the_others_count(tmp_path: Path) -> None:
    def harm(lines: list[bytes], boot: int) -> list[bytes]:
        return lines[:1] + lines[2:] if boot == 1 else lines

    with SerialBoard(tmp_path, harm) as board:
        measured = measure(described(tmp_path, serial(board)))
    assert values(measured.bundle) == {2: list(TRUE.values())}
    lost = [p for p in measured.bundle.identity.problems if p.kind == "failed"]
    assert [(p.where, "`hello` record is lost" in p.what) for p in lost] == [("run 1", True)]
    assert measured.broken


def test_a_console_of_another_tool_is_ingested_and_a_boot_without_figures_is_a_problem(
    tmp_path: Path,
) -> None:
    text = (Path(__file__).parents[2] / "data" / "cyclictest.txt").read_bytes()

    def harm(_: list[bytes], boot: int) -> list[bytes]:
        return [b"Kernel panic\r\ndone\r\n" if boot == 2 else text + b"\ndone\r\n"]

    with SerialBoard(tmp_path, harm) as board:
        measured = measure(described(tmp_path, serial(board)), runs=3, until="done")
    identity = measured.bundle.identity
    assert {row.contract.key.partition(".")[0] for row in identity.rows} == {"timer"}
    assert {one.run for one in identity.summaries} == {0, 1}
    assert [p.what for p in identity.problems if p.kind == "failed"] == [
        "the boot printed no figures that ingest knows"
    ]


STRATEGY = """
import attr
from labgrid import target_factory
from labgrid.strategy import Strategy

@target_factory.reg_driver
@attr.s(eq=False)
class ImageStrategy(Strategy):
    bindings = {"power": "PowerProtocol", "console": "ConsoleProtocol"}

    def transition(self, status):
        self.target.activate(self.power)
        self.power.off()
        if status == "running":
            image = self.target.env.config.get_image_path("kernel")
            with open(image, "rb") as file:
                if file.read() != b"another image":
                    raise ValueError("the image is not the one asked for")
            self.target.activate(self.console)
            self.power.on()
        elif status != "off":
            raise ValueError(f"there is no state {status}")
"""


def test_a_strategy_of_the_laboratory_brings_the_image_that_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "strategy.py").write_text(STRATEGY)
    image = tmp_path / "other.elf"
    image.write_bytes(b"another image")
    with SerialBoard(tmp_path, unharmed) as board:
        drivers = serial(board) + "      ImageStrategy: {}\n"
        file = described(tmp_path, drivers, "imports: [strategy.py]\n")
        measured = measure(file, image=image, config={"state": "running"})
        assert values(measured.bundle) == {run: list(TRUE.values()) for run in (1, 2)}
        with pytest.raises(MeasurementFailed, match="the image is not the one asked for"):
            measure(file, config={"state": "running"})
        with pytest.raises(MeasurementFailed, match="there is no state broken"):
            measure(file, config={"state": "broken"})
        assert not board.power.exists()


def test_ctrl_c_keeps_the_boots_that_ended_and_leaves_the_board_without_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boots = iter([1, 2])

    def read(*asked: Any) -> BootResult:
        if next(boots) == 2:
            raise KeyboardInterrupt
        return read_stream(*asked)

    monkeypatch.setattr("cyclometer.targets.board.target.read_stream", read)
    with SerialBoard(tmp_path, unharmed) as board:
        measured = measure(described(tmp_path, serial(board)))
        assert not board.power.exists()
    assert measured.interrupted
    assert list(values(measured.bundle)) == [1]


def test_a_silent_board_is_an_error_with_its_bound(tmp_path: Path) -> None:
    with SerialBoard(tmp_path, lambda *_: []) as board:
        config = {"labgrid": str(described(tmp_path, serial(board)))}
        request = Request(runs=1, watchdog_s=1, config=config)
        with pytest.raises(MeasurementFailed, match="was silent after 1 s"):
            BoardTarget().measure(request, {}, Progress())


@pytest.mark.parametrize(
    ("text", "config", "sentence"),
    [
        ("targets: {main: {}}", {"target": "left"}, "has no target left; it has main"),
        ("targets: [", {}, "Error in configuration file"),
        ("", {}, "Configuration file is empty"),
        (
            "targets: {main: {drivers: {NoDriver: {}}}}",
            {},
            "NoDriver",
        ),
        ("targets: {main: {}}", {"place": "here"}, "has no setting place; it has labgrid"),
    ],
)
def test_a_file_that_describes_no_board_is_a_sentence(
    tmp_path: Path, text: str, config: dict[str, str], sentence: str
) -> None:
    file = tmp_path / "board.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=sentence):
        measure(file, config=config)


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LG_ENV", raising=False)
    target = BoardTarget()
    with pytest.raises(UsageError, match="labgrid=FILE or in LG_ENV"):
        target.measure(Request(), {}, Progress())
    with pytest.raises(UsageError, match="--only does not apply to target board"):
        target.measure(Request(only=("pipe.*",)), {}, Progress())
    with pytest.raises(UsageError, match="could not be found"):
        measure(tmp_path / "absent.yaml")
    with pytest.raises(MeasurementFailed, match="PowerProtocol"):
        measure(described(tmp_path, "    resources: {}\n"))
    file = described(tmp_path, "    resources: {}\n", "")
    with pytest.raises(UsageError, match="does not say which image --image replaces"):
        measure(file, image=tmp_path / "kernel.elf", config={"image": "initrd"})
    with pytest.raises(NotComparable, match="builds nothing"):
        target.build()


def test_what_a_board_times_only_its_image_says() -> None:
    result = CliRunner().invoke(cli, ["list", "--target", "board"], standalone_mode=False)
    assert isinstance(result.exception, NotComparable)
    assert "only a measurement shows which circles" in str(result.exception)


@pytest.fixture
def coordinator(tmp_path: Path) -> Iterator[tuple[dict[str, str], Callable[[str], None]]]:
    """The environment of labgrid's coordinator on loopback, and how to export resources to it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    started = [start(tmp_path, "labgrid-coordinator", "-l", address)]

    def export(text: str) -> None:
        (tmp_path / "exported.yaml").write_text(text)
        command = ("labgrid-exporter", "-c", address, "-n", "exporter", "exported.yaml")
        started.append(start(tmp_path, *command))

    yield {**os.environ, "LG_COORDINATOR": address}, export
    for process in reversed(started):
        process.terminate()
        process.wait(10)


def start(folder: Path, name: str, *words: str) -> subprocess.Popen[bytes]:
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen([BIN / name, *words], cwd=folder, stdout=log, stderr=log)


def client(environment: dict[str, str], *words: str) -> None:
    """A command of labgrid's client, tried until its server is there."""
    for _ in range(50):
        done = subprocess.run(
            [BIN / "labgrid-client", *words], env=environment, capture_output=True, check=False
        )
        if done.returncode == 0:
            return
        time.sleep(0.2)
    raise AssertionError(done.stdout + done.stderr)


def run(environment: dict[str, str], file: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """`cyclometer run` in a process of its own, as labgrid keeps a session with a coordinator."""
    command = (BIN / "cyclometer", "run", "--target", "board", "--config", f"labgrid={file}")
    return subprocess.run([*command, *words], env=environment, capture_output=True, check=False)


def test_a_place_of_a_coordinator_is_a_board(
    tmp_path: Path, coordinator: tuple[dict[str, str], Callable[[str], None]]
) -> None:
    environment, export = coordinator
    with SerialBoard(tmp_path, unharmed) as board, Wire(board.port) as wire:
        drivers = (
            "    resources:\n      RemotePlace: {name: bench}\n"
            "    drivers:\n      SerialDriver: {}\n" + power(board)
        )
        file = described(tmp_path, drivers)
        client(environment, "-p", "bench", "create")
        export(
            "bench:\n  NetworkSerialPort: "
            f"{{host: 127.0.0.1, port: {wire.number}, speed: 115200, protocol: raw}}\n"
        )
        client(environment, "-p", "bench", "add-match", "exporter/bench/NetworkSerialPort")
        refused = run(environment, file)
        assert (refused.returncode, b"bench is not acquired" in refused.stderr) == (2, True)
        client(environment, "-p", "bench", "acquire")
        done = run(environment, file, "--runs", "2", "-o", str(tmp_path / "bundle"))
    assert done.returncode == 0, done.stderr
    bundle = store.read(tmp_path / "bundle")
    assert values(bundle) == {run: list(TRUE.values()) for run in (1, 2)}


class Wire:
    """A serial port served over TCP, as ser2net does for an exporter."""

    def __init__(self, port: str):
        self._file = os.open(port, os.O_RDWR | os.O_NOCTTY)
        os.set_blocking(self._file, False)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.number = self._server.getsockname()[1]
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Wire:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._server.close()
        os.close(self._file)

    def _serve(self) -> None:
        client: socket.socket | None = None
        while not self._done.is_set():
            files: list[socket.socket | int] = [self._server, self._file]
            ready, _, _ = select.select(files, [], [], 0.05)
            if self._server in ready:
                if client is not None:
                    client.close()
                client, _ = self._server.accept()
            if self._file in ready:
                data = os.read(self._file, 4096)
                try:
                    if client is not None:
                        client.sendall(data)
                except OSError:
                    client = None
        if client is not None:
            client.close()
