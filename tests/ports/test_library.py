# SPDX-License-Identifier: BSD-2-Clause
"""core/ as an installed library, and the smallest port that uses it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cyclometer.record.decode import Decoder
from cyclometer.record.schema import Circle, Group, Hello, Record
from cyclometer.targets import build

ROOT = Path(__file__).parents[2]


def make(*words: str) -> str:
    command = ["make", "-s", "-C", str(ROOT / "core"), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    make("install", f"BUILD={folder / 'build'}", f"PREFIX={folder}")
    return folder


def flags(prefix: Path) -> list[str]:
    """What the pkg-config file says, read without pkg-config."""
    text = (prefix / "lib" / "pkgconfig" / "cyc.pc").read_text()
    lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    assert f"prefix={prefix}" in text
    return f"{lines['Cflags']} {lines['Libs']}".replace("${prefix}", str(prefix)).split()


@pytest.fixture(scope="module")
def one_file(prefix: Path) -> Path:
    source, program = ROOT / "examples" / "ports" / "one_file.c", prefix / "one_file"
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    command = [build.compiler(), *warnings, str(source), *flags(prefix), "-pthread"]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def records(program: Path, arguments: str) -> list[Record]:
    done = subprocess.run([program, arguments], check=True, capture_output=True)
    decoder = Decoder()
    found = decoder.feed(done.stdout) + decoder.finish()
    assert decoder.damage == []
    return found


def test_all_headers_of_the_core_are_installed(prefix: Path) -> None:
    installed = {path.name for path in (prefix / "include" / "cyc").iterdir()}
    assert installed == {path.name for path in (ROOT / "core" / "include" / "cyc").iterdir()}


def test_each_header_compiles_alone(prefix: Path, tmp_path: Path) -> None:
    for header in (prefix / "include" / "cyc").iterdir():
        unit = tmp_path / f"{header.stem}.c"
        unit.write_text(f"#include <cyc/{header.name}>\nint unit;\n")
        command = [build.compiler(), "-std=c11", "-ffreestanding", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(
            [*command, "-fsyntax-only", f"-I{prefix / 'include'}", str(unit)], check=True
        )


def test_the_smallest_port_prints_what_its_arguments_ask_for(one_file: Path) -> None:
    found = records(one_file, "run=7 tests=3 groups=2 initial=5 delta=4")
    (hello,) = (record for record in found if isinstance(record, Hello))
    assert (hello.target, hello.run, hello.clock.unit) == ("posix", 7, "ns")
    (circle,) = (record for record in found if isinstance(record, Circle))
    assert circle.contract.key == "semaphore.round_trip"
    assert circle.contract.source.split(":")[0].endswith("one_file.c")
    groups = [record for record in found if isinstance(record, Group)]
    assert [(group.turns, len(group.values)) for group in groups] == [(5, 3), (9, 3)]


def test_a_port_lists_its_circles_without_running_them(one_file: Path) -> None:
    assert [type(record).__name__ for record in records(one_file, "list=1")] == [
        "Hello",
        "Circle",
        "End",
    ]


def test_room_for_fewer_counters_makes_samples_smaller(tmp_path: Path) -> None:
    make("install", f"BUILD={tmp_path / 'b'}", f"PREFIX={tmp_path}", "COUNTERS_MAX=1")
    unit = tmp_path / "size.c"
    unit.write_text(
        "#include <cyc/flow.h>\n"
        "_Static_assert(sizeof(struct cyc_sample) == 56,\n"
        '               "value, at, two pairs of readings, one counter");\n'
    )
    includes = [flag for flag in flags(tmp_path) if flag.startswith(("-I", "-D"))]
    subprocess.run([build.compiler(), "-fsyntax-only", *includes, str(unit)], check=True)
