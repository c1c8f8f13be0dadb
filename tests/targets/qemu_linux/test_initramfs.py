# SPDX-License-Identifier: BSD-2-Clause
"""The archive is what a kernel reads: entries of the newc form, aligned, closed by the trailer, the
same every time.
"""

from __future__ import annotations

import stat

from hypothesis import given
from hypothesis import strategies as st

from cyclometer.targets.qemu_linux.initramfs import archive


def entries(data: bytes) -> dict[str, tuple[int, tuple[int, int], bytes]]:
    """name -> mode, device, content; read as the kernel's init/initramfs.c is documented to."""
    found: dict[str, tuple[int, tuple[int, int], bytes]] = {}
    at = 0
    while True:
        assert at % 4 == 0
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        mode, size, device, name_size = fields[1], fields[6], (fields[9], fields[10]), fields[11]
        name = data[at + 110 : at + 110 + name_size]
        assert name.endswith(b"\0")
        start = (at + 110 + name_size + 3) // 4 * 4
        if name == b"TRAILER!!!\0":
            return found
        found[name[:-1].decode()] = (mode, device, data[start : start + size])
        at = (start + size + 3) // 4 * 4


def test_the_program_is_init_and_may_run_and_the_console_is_a_device() -> None:
    found = entries(archive(b"\x7fELF", {"plan": b"visit"}))
    assert found["init"] == (stat.S_IFREG | 0o755, (0, 0), b"\x7fELF")
    assert found["dev/console"][:2] == (stat.S_IFCHR | 0o600, (5, 1))
    assert list(found).index("dev") < list(found).index("dev/console")


@given(
    st.binary(max_size=70),
    st.dictionaries(st.sampled_from(["plan", "arguments", "a", "abcd"]), st.binary()),
)
def test_every_content_comes_back_whatever_its_length(
    program: bytes, files: dict[str, bytes]
) -> None:
    found = entries(archive(program, files))
    assert {name: found[name][2] for name in files} == files
    assert found["init"][2] == program
    assert archive(program, files) == archive(program, files)


def test_programs_may_run_and_their_folders_come_first() -> None:
    found = entries(archive(b"", {}, {"lib/x/libc.so": b"library", "carried/turns": b"program"}))
    assert found["carried/turns"] == (stat.S_IFREG | 0o755, (0, 0), b"program")
    names = list(found)
    assert names.index("lib") < names.index("lib/x") < names.index("lib/x/libc.so")
    assert found["lib/x"][0] == stat.S_IFDIR | 0o755
