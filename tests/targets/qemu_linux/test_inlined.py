# SPDX-License-Identifier: BSD-2-Clause
"""Calls that a compiler put inline are named by debugging information."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cyclometer.record.instructions import X86_64
from cyclometer.targets.disassembly import disassemble, program
from cyclometer.targets.qemu_linux import inlined

SOURCE = """
static inline __attribute__((always_inline)) int deepest(int a)
{
    return a * a + 3;
}
static inline __attribute__((always_inline)) int inner(volatile int *a)
{
    return deepest(*a);
}
int outer(volatile int *a)
{
    *a = 5;
    return inner(a);
}
int main(void)
{
    return 0;
}
"""


def built(folder: Path, *flags: str) -> tuple[Path, list[int]]:
    source, image = folder / "tree" / "a.c", folder / "tree" / "vmlinux"
    source.parent.mkdir()
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-O2", *flags, "-no-pie", "-o", image, source], check=True)
    places = disassemble(image, program(X86_64), folder)
    return image, [pc for pc, place in places.items() if place.function == "outer"]


def test_the_outermost_call_inline_is_named_with_its_line(tmp_path: Path) -> None:
    image, pcs = built(tmp_path, "-g")
    found = inlined.calls(image, pcs, X86_64)
    assert set(found.values()) == {"inner (a.c:13)"}
    assert set(found) < set(pcs)  # the store and the return are the function's own


@pytest.mark.parametrize("flags", [(), ("-s",)])
def test_without_debugging_information_nothing_is_named(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    image, _ = built(tmp_path, *flags)
    assert inlined.calls(image, [0x401000], X86_64) == {}
    assert inlined.calls(None, [0x401000], X86_64) == {}
