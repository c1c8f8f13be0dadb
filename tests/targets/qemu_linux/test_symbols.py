# SPDX-License-Identifier: BSD-2-Clause
"""A kernel's functions are the same by whichever list they are known."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cyclometer.errors import BadFile
from cyclometer.targets import build
from cyclometer.targets.qemu_linux import symbols as kernel_symbols

BASE = 0xFFFFFFFF81000000
REMARK = b"ffffffffffffffff B The real System.map is in the linux-image-dbg package\n"


def listed(count: int) -> bytes:
    """Lines as a kernel prints them to a serial console; every other one is not a function."""
    return "".join(f"{BASE + 16 * i:016x} {'tTdB'[i % 4]} f{i}\r\n" for i in range(count)).encode()


def test_symbols_are_functions_only_and_a_remark_is_none() -> None:
    found = kernel_symbols.read(listed(4000))
    assert found is not None
    assert len(found.names) == 2000
    assert found.at(BASE) == ("f0", True)
    assert found.at(BASE + 0x1F) == ("f1", False)
    assert found.at(0x1234)[0] == "[no symbol, 0x1000]"
    assert found.at(0xFFFFFFFFC0000008)[0] == "[no symbol, 0xffffffffc0000000]"
    assert kernel_symbols.read(REMARK) is None
    assert kernel_symbols.read(found.text()) == found


def test_marks_of_assemblers_are_no_functions() -> None:
    marks = b"".join(
        b"%016x t %s\n" % (BASE + 1, name) for name in (b"$x", b"$d.7", b".L0", b".L12")
    )
    assert kernel_symbols.read(marks + listed(4000)) == kernel_symbols.read(listed(4000))


def test_a_map_is_read_and_what_lists_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "System.map"
    path.write_bytes(listed(4000))
    assert kernel_symbols.load(path) == kernel_symbols.read(listed(4000))
    for content in (REMARK, b"", b"\x7fELF and no more"):
        path.write_bytes(content)
        with pytest.raises(BadFile, match=r"name the System.map or the vmlinux"):
            kernel_symbols.load(path)


@pytest.mark.skipif(not shutil.which("nm"), reason="binutils are not installed")
def test_a_vmlinux_tells_its_functions_with_those_of_assembly(tmp_path: Path) -> None:
    lines = [".text"]
    for i in range(1500):
        lines += [f"{'.globl' if i % 2 else '.local'} f{i}", f"f{i}: nop"]
    (tmp_path / "x.s").write_text("\n".join([*lines, ".data", "datum: .long 0", ""]))
    vmlinux = tmp_path / "vmlinux"
    linked = [
        "-nostdlib",
        "-static",
        "-Wl,-Ttext=0x500000",
        "-Wl,--build-id=none",
        "-Wl,-e,f1",
        str(tmp_path / "x.s"),
        "-o",
        str(vmlinux),
    ]
    subprocess.run([build.compiler(), *linked], check=True)
    found = kernel_symbols.load(vmlinux)
    assert len([name for name in found.names if name.startswith("f")]) == 1500
    assert found.at(0x500000) == ("f0", True)
    assert "datum" not in found.names


@pytest.mark.skipif(not shutil.which("nm"), reason="binutils are not installed")
def test_of_what_a_vmlinux_lists_no_more_is_held_than_a_map_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.s").write_text(".text\n" + "".join(f"f{i}: nop\n" for i in range(5000)))
    vmlinux = tmp_path / "-x"  # no option of a program that reads it
    subprocess.run([build.compiler(), "-c", "x.s", "-o", str(vmlinux)], check=True, cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    whole = kernel_symbols.load(Path("-x"))
    monkeypatch.setattr(kernel_symbols, "_MAP_BYTES", 50_000)
    part = kernel_symbols.load(Path("-x"))
    assert kernel_symbols._FEWEST < len(part.names) < len(whole.names) == 5000
