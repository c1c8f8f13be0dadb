# SPDX-License-Identifier: BSD-2-Clause
"""The simulated board: a core's Verilog, fetched, checked, and built into a program once per
content.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclometer.errors import MeasurementFailed
from cyclometer.targets import build

PACKAGES = {"verilator": "verilator", "g++": "g++", "make": "make"}  # program -> Debian package
_UNPACKED_MAX_BYTES = 64 << 20  # of all files taken from the package
_STEPS = 3

Say = Callable[[int, int, str], None]  # steps done, of how many, the next one


@dataclass(frozen=True)
class Family:
    """Cores whose Verilog one package carries, and which one folder of machines/ connects."""

    name: str  # of the folder and of the program
    package: str
    sha256: str
    inside: str  # the Verilog's folder in the package


ROCKET = Family(
    "rocket",
    "pythondata-cpu-rocket==0.0.post7146",
    "5954f2bde8e63e43fe4cbc64649687623b64f849d37b4b0d26b07228127bd592",
    "pythondata_cpu_rocket/verilog/",
)
CVA6 = Family(
    "cva6",
    "pythondata-cpu-cva6==4.2.0.post435",
    "7cb13e1c2f9d30641bc583ca88a2f39f7bb37167d0ef5ca495338a031c88a3bb",
    "pythondata_cpu_cva6/system_verilog/",
)
CORES = {
    "LitexFullConfig": ROCKET,
    "LitexLinuxConfig": ROCKET,
    "LitexLinux2DConfig": ROCKET,
    "cv64a6_imac_sv39": CVA6,
}


def members(core: str) -> list[str]:
    """The files of one core, by their names under its package's folder."""
    if CORES[core] is CVA6:
        return (build.sources() / "machines/cva6/files.txt").read_text().split()
    stem = f"generated-src/freechips.rocketchip.system.{core}"
    return [f"{stem}.v", f"{stem}.behav_srams.v"] + [
        f"vsrc/{name}.v" for name in ("plusarg_reader", "AsyncResetReg", "EICG_wrapper")
    ]


def simulator(core: str, say: Say = lambda *_: None) -> Path:
    """The program that is the board, built if it is new: 14 or 40 MB from PyPI once, then some two
    minutes.

    Raises MeasurementFailed if the package cannot be had or is not the one that is pinned, or
    where the build fails.
    """
    machines = build.sources() / "machines"
    family = CORES[core]
    source = machines / family.name
    folders = (machines / "board", source)
    parts = sorted(p for folder in folders for p in folder.iterdir() if p.suffix != ".md")
    tools = (_first_line("verilator", "--version"), _first_line("g++", "--version"))
    content = build.content(machines, parts, (core, family.sha256, *tools))
    target = build.cache() / f"{family.name}-{content}" / family.name
    with build.alone(target.parent):
        if not target.exists():
            _build(target, source, core, say)
    return target


def _build(target: Path, source: Path, core: str, say: Say) -> None:
    """Fetches, unpacks and compiles in a folder of its own; `target` appears whole or not at
    all.
    """
    family = CORES[core]
    with build.unfinished(target.parent) as folder:
        say(0, _STEPS, f"fetching {family.package}")
        wheel = _fetch(folder, family)
        unpack(wheel, members(core), folder / "verilog", family)
        make = [
            "make",
            "--no-print-directory",
            "-s",
            "-C",
            str(source),
            f"VERILOG={folder / 'verilog'}",
        ]
        make += [f"CONFIG={core}", f"BUILD={folder}", f"JOBS={build.cores()}"]
        say(1, _STEPS, f"translating {core} to C++")
        _make([*make, "model"], family)
        say(2, _STEPS, f"compiling {core}")
        _make([*make, "all"], family)
        (folder / family.name).rename(target)
        say(_STEPS, _STEPS, "the board is built")


def _fetch(folder: Path, family: Family) -> Path:
    """The package from PyPI, or from wherever pip is configured to look, by its hash."""
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{family.package} --hash=sha256:{family.sha256}\n")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--require-hashes",
        "--only-binary=:all:",
    ]
    command = [
        *pip,
        "--disable-pip-version-check",
        "--dest",
        str(folder),
        "--requirement",
        str(wanted),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        why = next(
            (line for line in reversed(done.stderr.splitlines()) if line.strip()),
            "it gave no reason",
        )
        raise MeasurementFailed(
            f"pip cannot fetch {family.package}, the core's Verilog ({why}); is the network there?"
        )
    return wheels[0]


def unpack(wheel: Path, wanted: Sequence[str], to: Path, family: Family) -> None:
    """Takes the files `wanted` out of the package into the folder `to`, under the names we gave,
    never under its own.

    Raises MeasurementFailed if the package is not the pinned one or lacks a file.
    """
    content = wheel.read_bytes()
    if hashlib.sha256(content).hexdigest() != family.sha256:
        raise MeasurementFailed(
            f"{wheel.name} is not the package that is pinned: its SHA-256 differs; remove it"
        )
    left = _UNPACKED_MAX_BYTES
    with zipfile.ZipFile(wheel) as package:
        for name in wanted:
            try:
                left -= package.getinfo(family.inside + name).file_size
            except KeyError as error:
                raise MeasurementFailed(
                    f"{wheel.name} has no {name}; it is not the package we know"
                ) from error
            if left < 0:
                raise MeasurementFailed(
                    f"{wheel.name} holds more than {_UNPACKED_MAX_BYTES >> 20} MiB of Verilog"
                )
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            (to / name).write_bytes(package.read(family.inside + name))


def _make(command: Sequence[str], family: Family) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        first = next(
            (line for line in done.stderr.splitlines() if "rror" in line), done.stderr[:200]
        )
        raise MeasurementFailed(f"the {family.name} board does not build: {first}")


def _first_line(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else ""


def verilator_version() -> str:
    """As `verilator --version` prints it."""
    return _first_line("verilator", "--version")
