# SPDX-License-Identifier: BSD-2-Clause
"""Boots the images of one configuration and checks what they say.

Functional tests (TAP from the test image); then the measured image: checksums, exact counts, equal
runs, and the empty circle against the disassembly; with an eventlog image also every contract's
sequence against what happened.
"""

import argparse
import json
import re
import subprocess
import sys
import threading
import zlib
from pathlib import Path
from typing import Any

Record = dict[str, Any]
failures: list[str] = []
BOOT_S = 120  # most boots take one; a busy machine may take thirty times as long
DATA = Path(__file__).resolve().parents[2] / "tests" / "data"


def expect(holds: bool, sentence: str) -> None:
    """Keep the sentence as a failure unless it holds."""
    if not holds:
        failures.append(sentence)


def boot(machine: str, image: Path, parameters: str) -> str:
    """Return the console of one boot, read until the machine ends or says its last record or
    plan.
    """
    board = f"qemu-system-riscv64 -M {machine} -bios none -display none -serial stdio -net none"
    command = [
        *board.split(),
        "-icount",
        "shift=0,sleep=off",
        "-kernel",
        str(image),
        "-append",
        parameters,
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    lines = []
    assert process.stdout is not None
    watchdog = threading.Timer(BOOT_S, process.kill)
    watchdog.start()
    for raw in process.stdout:
        lines.append(raw.decode("ascii", "replace"))
        if re.match(r'@cyc \{"kind":"end"|1\.\.\d+$|panic', lines[-1]):
            break
    watchdog.cancel()
    # sifive_u cannot switch itself off; with sleep=off an idle guest is deaf to SIGTERM
    process.kill()
    process.wait()
    return "".join(lines)


def records(console: str) -> list[Record]:
    """Return the records of a console, checking checksum and sequence number of each."""
    found = []
    for line in console.splitlines():
        if not line.startswith("@cyc "):
            expect(not line.startswith("panic"), f"the kernel said: {line}")
            continue
        body, _, checksum = line[5:].rpartition(" *")
        expect(f"{zlib.crc32(body.encode()):08x}" == checksum, f"checksum of: {line[:80]}")
        found.append(json.loads(body))
    expect(
        [r["seq"] for r in found] == list(range(len(found))), "records are not numbered in order"
    )
    expect(bool(found) and found[-1]["kind"] == "end", "no end record")
    return found


def check_functional(machine: str, image: Path) -> None:
    """Run the test image and report every test that is not ok."""
    console = boot(machine, image, "")
    plan = re.search(r"^1\.\.(\d+)$", console, re.MULTILINE)
    passed = re.findall(r"^ok \d+ - ", console, re.MULTILINE)
    expect(plan is not None, f"the test image did not finish: ...{console[-300:]}")
    for line in console.splitlines():
        expect(not line.startswith(("not ok", "#")), line)
    if plan is not None:
        expect(len(passed) == int(plan[1]), f"{len(passed)} of {plan[1]} tests passed")
    print(f"{len(passed)} functional tests passed")


FATAL = {
    "overflow_the_stack": "panic: kernel stack overflow",
    "write_to_code": "panic: fault in the kernel: cause 15",
    "write_to_constants": "panic: fault in the kernel: cause 15",
    "execute_data": "panic: fault in the kernel: cause 12",
    "read_the_monitor": "panic: fault in the kernel: cause 13",
    "read_user_memory": "panic: fault in the kernel: cause 13",
    "overrun_a_buffer": "panic: stack overrun in a kernel function",
}


def check_fatal(machine: str, image: Path, configuration: dict[str, str]) -> None:
    """Boot each fatal test that the configuration has and compare the kernel's last words."""
    absent = {
        "read_user_memory": configuration["userspace"] == "off",
        "overrun_a_buffer": configuration["canaries"] == "off",
    }
    tests = {name: words for name, words in FATAL.items() if not absent.get(name)}
    for name, words in tests.items():
        console = boot(machine, image, f"only={name}")
        expect(
            console.startswith(words),
            f"{name}: expected {words!r}, but the kernel said {console!r}",
        )
    print(f"{len(tests)} broken invariants stop the machine")


def check_zephyr(machine: str, image: Path, configuration: dict[str, str]) -> None:
    """Check that the image lists every key of Zephyr's latency_measure that the configuration has,
    and no other one.
    """
    table = (DATA / "zephyr-keys.txt").read_text().splitlines()
    rows = [line.split() for line in table if not line.startswith(("#", "key"))]
    column = 4 if configuration["userspace"] == "on" else 1
    wanted = {row[0] for row in rows if row[column] != "-"}
    listed = {
        r["contract"]["key"]
        for r in records(boot(machine, image, "list=1"))
        if r["kind"] == "circle"
    }
    expect(bool(wanted), "tests/data/zephyr-keys.txt has no rows")
    expect(wanted <= listed, f"Zephyr's keys that are missing: {sorted(wanted - listed)}")
    others = {row[0] for row in rows} - wanted
    expect(
        not others & listed, f"keys that this configuration cannot have: {sorted(others & listed)}"
    )
    print(f"{len(wanted)} keys of Zephyr are here")


def check_rows(keys: set[str], options: set[str]) -> None:
    """Check that every published row, as tests/data maps it, has its key in an image with the
    option it needs.
    """
    tables = sorted(DATA.glob("rows-of-*.tsv"))
    expect(bool(tables), "tests/data has no rows-of-*.tsv")
    rows = [
        (line + "\t").split("\t")[:3]
        for table in tables
        for line in table.read_text().splitlines()
        if line and not line.startswith(("#", "row\t"))
    ]
    here = [(row, key) for row, key, option in rows if not option or option in options]
    for row, key in here:
        expect(key in keys, f"the row {row!r} needs {key}, which this image does not have")
    print(f"{len(here)} of {len(rows)} published rows are here")


def check_parameters(machine: str, image: Path, contracts: int) -> None:
    """Check that a parameter which is not understood measures nothing, and that a list holds every
    contract.
    """
    for bad in (
        "method=quick",
        "tests=ten",
        "tests=99999999999999999999",
        "nonsense",
        "only=" + "x" * 300,
    ):
        console = boot(machine, image, bad)
        expect("is not understood" in console, f"{bad[:30]}: accepted")
        expect(
            [r["kind"] for r in records(console)] == ["hello", "end"],
            f"{bad[:30]}: measured all the same",
        )
    listed = records(boot(machine, image, "list=1"))
    expect(
        len(listed) == contracts + 2,
        f"the list has {len(listed) - 2} contracts, {contracts} were run",
    )
    too_many = records(boot(machine, image, "tests=100000 only=clock.read.kernel"))
    expect(
        [r["kind"] for r in too_many] == ["hello", "failed", "end"],
        "tests beyond the sample buffer are not refused",
    )
    print("parameters are checked")


def check_counts(found: list[Record]) -> None:
    """Check that every test's counter deltas are exactly what the contract expects."""
    contracts = {r["contract"]["key"]: r["contract"] for r in found if r["kind"] == "circle"}
    for record in found:
        expect(record["kind"] != "failed", f"{record.get('circle')}: {record.get('reason')}")
        if record["kind"] not in ("group", "pass"):
            continue
        key, turns = record["circle"], record["turns"]
        for counter, per_turn in contracts[key]["expect"].items():
            seen = set(record["counters"][counter])
            expect(
                seen == {per_turn * turns},
                f"{key}: {counter} is {sorted(seen)}, expected {per_turn} x {turns}",
            )
        for counter, deltas in record["counters"].items():
            stated = counter in contracts[key]["expect"]
            expect(
                stated or set(deltas) == {0},
                f"{key}: {counter} changes and the contract does not say so: {deltas}",
            )
        spread = set(record["values"])
        expect(
            len(spread) == 1,
            f"{key}: an exact clock shows different values for the same turns: {sorted(spread)}",
        )
    print(f"{len(contracts)} contracts counted exactly")


def check_sequences(found: list[Record]) -> None:
    """Compare each contract's sequence with the event log of one turn."""
    contracts = {r["contract"]["key"]: r["contract"] for r in found if r["kind"] == "circle"}
    logs = {r["circle"]: r["events"] for r in found if r["kind"] == "events"}
    for key, contract in contracts.items():
        expect(key in logs, f"{key}: no event log")
        expect(
            logs.get(key) == contract["sequence"],
            f"{key}: sequence {contract['sequence']}, but {logs.get(key)}",
        )
    print(f"{len(logs)} sequences compared with the event log")


def loop_length(listing: Path) -> int:
    """Return the instructions of one turn of the empty circle, read from the disassembly."""
    text = re.search(r"<cyc_empty_turns>:\n(.*?)\n\n", listing.read_text() + "\n\n", re.DOTALL)
    assert text is not None, f"no cyc_empty_turns in {listing}"
    code = [
        (int(a, 16), rest)
        for a, rest in re.findall(r"^\s*([0-9a-f]+):\t[0-9a-f ]+\t(.*)$", text[1], re.MULTILINE)
    ]
    places = {address: i for i, (address, _) in enumerate(code)}
    for i, (_, instruction) in enumerate(code):
        target = re.match(r"b\w+\s.*?([0-9a-f]{5,}) <", instruction)
        if target and places.get(int(target[1], 16), i + 1) <= i:
            return i - places[int(target[1], 16)] + 1
    raise AssertionError(f"no loop in cyc_empty_turns of {listing}")


def check_floor(found: list[Record], key: str, listing: Path) -> None:
    """Compare the empty circle's slope with its disassembly."""
    groups = [r for r in found if r["kind"] == "group" and r["circle"] == key]
    first, last = groups[0], groups[-1]
    slope = (last["values"][0] - first["values"][0]) / (last["turns"] - first["turns"])
    length = loop_length(listing)
    expect(
        slope == length, f"{key}: {slope} instructions per turn, but the disassembly has {length}"
    )
    print(f"{key}: {slope:g} instructions per turn, as the disassembly says")


def main() -> int:
    """Check one configuration; exit 1 with a sentence for each failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--directory", type=Path, required=True, help="build directory of the configuration"
    )
    parser.add_argument(
        "--eventlog", type=Path, help="build directory of the same with eventlog=on"
    )
    parser.add_argument("--machine", required=True)
    options = parser.parse_args()
    check_functional(options.machine, options.directory / "test.elf")
    kernel = options.directory / "kernel.elf"
    flow = "initial=3 delta=2 groups=3 tests=3 passes=3"
    console = boot(options.machine, kernel, flow)
    expect(console == boot(options.machine, kernel, flow), "two runs of one image differ")
    found = records(console)
    check_counts(found)
    check_fatal(options.machine, options.directory / "test.elf", found[0]["configuration"])
    check_parameters(options.machine, kernel, len([r for r in found if r["kind"] == "circle"]))
    check_zephyr(options.machine, kernel, found[0]["configuration"])
    check_floor(found, "floor.empty.kernel", options.directory / "kernel.asm")
    if found[0]["configuration"]["userspace"] == "on":
        options_on = {f"{name}={value}" for name, value in found[0]["configuration"].items()}
        check_rows({r["contract"]["key"] for r in found if r["kind"] == "circle"}, options_on)
        check_floor(found, "floor.empty.user", options.directory / "user.asm")
    if options.eventlog:
        log = "log=1 groups=1 tests=1 passes=1"
        check_sequences(records(boot(options.machine, options.eventlog / "kernel.elf", log)))
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
