# SPDX-License-Identifier: BSD-2-Clause
"""The reference kernel, whatever machine runs it: its images, its boot arguments, and bundles out
of its consoles.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import Clock, Contract, Problem
from cyclometer.errors import MeasurementFailed, NothingMeasured, UsageError
from cyclometer.record.address_map import AddressMap
from cyclometer.record.decode import Decoder
from cyclometer.record.instructions import RISCV64
from cyclometer.record.schema import Circle, Flow, Hello, Record
from cyclometer.targets import build
from cyclometer.targets.api import MeasurementResult, Request
from cyclometer.targets.console import BootResult
from cyclometer.targets.disassembly import disassemble, program

CROSS = "riscv64-unknown-elf-gcc"
# program -> Debian package, for every board
PACKAGES = {CROSS: "gcc-riscv64-unknown-elf", "make": "make"}
OPTIONS = {
    "userspace": ("on", "off"),
    "canaries": ("off", "on"),
    "objcore": ("off", "on"),
    "mcs": ("off", "on"),
    "timer": ("rdtime", "mtime"),
    "asid": ("on", "off"),
    "accounting": ("off", "on"),
    "smp": ("off", "biglock", "fine"),
    # bytes by which code and data are moved
    "layout": tuple(str(shift) for shift in range(0, 4096, 4)),
}
_ROOT = Path("/cyclometer")  # what line tables call the repository, by kernel/Makefile
_ONLY_MAX_BYTES = 255  # kernel/bench/parameters.h and core/include/cyc/arguments.h

Runs = Mapping[int, Sequence[BootResult]]  # the boots of each run, in order


def lacking(target: str, packages: Mapping[str, str]) -> str:
    """One sentence that names the packages whose program is not here; empty where nothing is
    missing.
    """
    lacks = [package for program, package in packages.items() if not shutil.which(program)]
    return f"target {target} needs {' and '.join(lacks)}; install with apt-get" if lacks else ""


def image(board: str, config: Mapping[str, str], harts: int = 1) -> Path:
    """Builds an image into the cache, where make keeps it current; one folder per content of the
    sources.
    """
    for name, value in config.items():
        if value not in OPTIONS.get(name, ()):
            known = ", ".join(f"{n}={_choices(v)}" for n, v in OPTIONS.items())
            raise UsageError(f"the kernel has no option {name}={value}; it has {known}")
    if config.get("smp", "off") != "off" and harts == 1:
        raise UsageError(f"smp={config['smp']} needs two harts; give --target rocket-duo")
    root = build.sources()
    parts = [
        p
        for folder in ("core", "kernel")
        for p in sorted((root / folder).rglob("*"))
        if p.is_file()
    ]
    out = build.cache() / f"kernel-{build.content(root, parts, (CROSS,))}"
    settings = [
        f"board={board}",
        f"BUILD={out}",
        *(f"{name}={value}" for name, value in sorted(config.items())),
    ]
    command = ["make", "--no-print-directory", "-s", "-C", str(root / "kernel"), *settings]
    with build.alone(out):
        _make([*command, "all"])
    return Path(_make([*command, "name"]).strip()) / "kernel.elf"


def _choices(values: Sequence[str]) -> str:
    """The values of an option; of many the first ones and the last."""
    shown = values if len(values) < 5 else (*values[:2], "...", values[-1])
    return "|".join(shown)


def places(elf: Path) -> AddressMap:
    """What stands where in the kernel and in the programs that its image carries."""
    objdump = program(RISCV64)
    programs = elf.with_name("user.elf")
    user = disassemble(programs, objdump, _ROOT) if programs.exists() else {}
    return AddressMap(disassemble(elf, objdump, _ROOT), user)


def _make(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        first = next(
            (line for line in done.stderr.splitlines() if "rror" in line), done.stderr[:200]
        )
        raise MeasurementFailed(f"the kernel does not build: {first}")
    return done.stdout


def arguments(request: Request, run: int, flow: Flow, passes: int) -> dict[str, str]:
    """Boot arguments of one run, as kernel/README.md lists them; `flow` and `passes` where the user
    said nothing.
    """
    chosen = request.flow or flow
    numbers = {name: str(getattr(chosen, name)) for name in ("initial", "delta", "groups", "tests")}
    method = {"method": request.method or "accumulated", "passes": str(passes)}
    return numbers | method | {"only": ",".join(request.only), "run": str(run)}


def words(boot_arguments: Mapping[str, str]) -> str:
    """Boot arguments as the kernel's command line. Raises UsageError for patterns that are longer
    than the kernel takes.
    """
    if (length := len(boot_arguments.get("only", "").encode())) > _ONLY_MAX_BYTES:
        raise UsageError(
            f"the patterns of --only are {length} characters long, and the kernel takes "
            f"{_ONLY_MAX_BYTES}; use fewer with `*`, as --only 'endpoint.*'"
        )
    return " ".join(f"{name}={value}" for name, value in boot_arguments.items())


def circles(
    elf: Path, boot: Callable[[Mapping[str, str]], BootResult]
) -> tuple[Clock, list[Contract]]:
    """The clock and all contracts of an image, as it lists them; booted once, since what it lists
    never changes.
    """
    kept = elf.with_name("list.console")
    if not kept.exists():
        ended = boot({"list": "1"})
        if not ended.done:
            raise MeasurementFailed(
                f"{elf.parent.name} did not list its circles: the boot {ended.why}"
            )
        kept.write_bytes(ended.console)
    records = Decoder().feed(kept.read_bytes())
    clock = next(r.clock for r in records if isinstance(r, Hello))
    return clock, [r.contract for r in records if isinstance(r, Circle)]


def assemble(
    target: str,
    environment: dict[str, Any],
    runs: Runs,
    plan: dict[str, Any],
    settings: dict[str, str] | None = None,
) -> MeasurementResult:
    """One bundle of all boots; `settings` of the machine stand in every row's configuration.

    Raises NothingMeasured, or MeasurementFailed if a boot died and none has a value.
    """
    assembler = Assembler(target, environment, settings)
    silent = ""
    for run, boots in runs.items():
        for ended in boots:
            silent = _add(assembler, run, ended) or silent
    if not assembler.values() and silent:
        raise MeasurementFailed(silent)
    if not assembler.values():
        raise NothingMeasured(
            f"{target} measured nothing; no circle of this configuration matches --only"
        )
    assembler.plan |= plan
    consoles = {
        f"run-{run}": b"".join(ended.console for ended in boots) for run, boots in runs.items()
    }
    return MeasurementResult(assembler.bundle(), consoles)


def _add(assembler: Assembler, run: int, ended: BootResult) -> str:
    """Takes what a boot printed; where it died, a sentence about its end."""
    decoder = Decoder()
    records: list[Record] = decoder.feed(ended.console) + decoder.finish()
    if any(isinstance(record, Hello) for record in records):
        assembler.add(run, records)
    elif records:
        what = "the boot's `hello` record is lost, and its clock with it; no value of it is used"
        assembler.problems.append(Problem(what, f"run {run}", "failed"))
    assembler.add_damage(run, decoder.damage)
    if decoder.ended:
        return ""
    assembler.add_early_end(run, f"the boot {ended.why}")
    tail = ended.console[-300:].decode(errors="replace").strip()
    return f"boot {run} {ended.why} before anything was measured; its console ends: {tail!r}"
