# SPDX-License-Identifier: BSD-2-Clause
"""The example ports: each compiles, against declarations of ours if its kernel is not here, and
those that can boot are measured.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cyclometer.bundle.model import Bundle
from cyclometer.estimate.rows import estimates
from cyclometer.targets import build
from cyclometer.targets.api import Progress, Request
from cyclometer.targets.qemu.target import virt

ROOT = Path(__file__).parents[2]
PORTS = ROOT / "examples" / "ports"
CROSS = "riscv64-unknown-elf-gcc"
CHECKED = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
INCLUDES = [f"-I{PORTS / 'stubs'}", f"-I{ROOT / 'core' / 'include'}"]

needs_cross = pytest.mark.skipif(not shutil.which(CROSS), reason=f"{CROSS} is not installed")


def check(compiler: str, *words: str | Path) -> None:
    subprocess.run([compiler, *CHECKED, *INCLUDES, *map(str, words)], check=True)


@pytest.mark.parametrize("side", ["client.c", "server.c"])
def test_the_microkit_port_fits_its_interface(side: str) -> None:
    check(build.compiler(), "-std=c11", "-ffreestanding", PORTS / "microkit" / side)


def test_the_zephyr_port_fits_its_interface() -> None:
    check(build.compiler(), "-std=gnu11", PORTS / "zephyr" / "src" / "main.c")


@needs_cross
def test_the_freertos_port_fits_its_interface() -> None:
    folder = PORTS / "freertos"
    machine = ("-march=rv64imac_zicsr", "-mabi=lp64", "-ffreestanding")
    check(CROSS, "-std=gnu11", *machine, f"-I{folder}", folder / "main.c")


@needs_cross
@pytest.mark.parametrize("name", ["records.c", "thirty_lines.c"])
def test_the_records_without_the_core_compile(name: str) -> None:
    check(CROSS, "-std=c11", "-ffreestanding", PORTS / name)


def test_thirty_lines_are_thirty() -> None:
    _, _, program = (PORTS / "thirty_lines.c").read_text().partition('9} *%\\n";\n')
    lines = (line.partition("//")[0].strip() for line in program.splitlines())
    assert sum(line not in ("", "{", "}") for line in lines) <= 30


def test_the_zephyr_module_names_files_of_the_core() -> None:
    text = (PORTS / "zephyr" / "zephyr" / "CMakeLists.txt").read_text()
    named = {word.removeprefix("${CYC_CORE}/") for word in text.split() if word.endswith(".c")}
    ours = {path.name for path in (ROOT / "core").glob("*.c")}
    assert named == ours - {"chain.c", "coroutine.c", "devicetree.c"}  # which it does not use


def test_the_guide_lists_every_port() -> None:
    guide = (ROOT / "docs" / "howto" / "your-kernel-in-an-hour.md").read_text()
    listed = set(re.findall(r"^\| \[`(.+?)`\]\(../../examples/ports/", guide, re.MULTILINE))
    there = {path.name for path in PORTS.iterdir() if path.suffix != ".h"}
    assert listed == there - {"stubs"}


def port(folder: Path, name: str, *settings: str) -> Path:
    command = ["make", "-s", "-C", str(PORTS / name), f"BUILD={folder}", *settings]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "port.elf"


def measured(image: Path) -> Bundle:
    return virt().measure(Request(image=image), {}, Progress()).bundle


def latencies(bundle: Bundle) -> dict[str, float]:
    """Latency of every circle; all of them must be valid."""
    found = estimates(bundle)
    assert all(e.valid for e in found), [e.reason for e in found]
    return {e.contract.key: e.latency.value for e in found if e.latency}


@pytest.mark.e2e
@needs_cross
@pytest.mark.skipif(not shutil.which("qemu-system-riscv64"), reason="QEMU is not installed")
def test_the_bare_port_boots_and_counts_instructions(tmp_path: Path) -> None:
    bundle = measured(port(tmp_path, "riscv"))
    assert bundle.identity.problems == ()
    assert {(row.clock.unit, row.clock.exact) for row in bundle.identity.rows} == {
        ("instructions", True)
    }
    found = latencies(bundle)
    assert found["floor.empty"] == 2  # an addition and a branch
    assert found["trap.ecall"] > found["floor.empty"]
    assert set(found) == {"floor.empty", "trap.ecall", "coroutine.switch"}


def freertos() -> Path:
    """The FreeRTOS kernel's sources out of the crate that `make setup-all` fetched."""
    manifest = PORTS / "freertos" / "Cargo.toml"
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version", "1"]
    if not shutil.which("cargo"):
        pytest.skip("cargo is not installed, so the FreeRTOS kernel's sources are not here")
    done = subprocess.run([*command, "--manifest-path", manifest], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("the FreeRTOS kernel's sources were not fetched; run make setup-all")
    packages = json.loads(done.stdout)["packages"]
    (path,) = (p["manifest_path"] for p in packages if p["name"] == "freertos-next")
    return Path(path).parent / "FreeRTOS-Kernel"


@pytest.mark.e2e
@needs_cross
@pytest.mark.skipif(not shutil.which("qemu-system-riscv64"), reason="QEMU is not installed")
def test_freertos_boots_and_its_contracts_hold(tmp_path: Path) -> None:
    bundle = measured(port(tmp_path, "freertos", f"FREERTOS={freertos()}"))
    assert bundle.identity.problems == ()
    found = latencies(bundle)
    assert set(found) == {
        "thread.yield.equal",
        "notification.round_trip.server_higher",
        "semaphore.give_take.immediate",
        "semaphore.give_take.blocking",
    }
    assert found["semaphore.give_take.immediate"] < found["semaphore.give_take.blocking"]
