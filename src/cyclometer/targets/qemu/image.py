# SPDX-License-Identifier: BSD-2-Clause
"""Which of QEMU's emulators runs an image."""

from __future__ import annotations

from pathlib import Path

from cyclometer.errors import NotComparable, UsageError

_HEADER_BYTES = 20
# e_machine of the ELF header (System V ABI) -> the emulator that runs it, and what it needs to
# start an image
_EMULATORS = {
    243: ("qemu-system-riscv64", ("-bios", "none")),
    183: ("qemu-system-aarch64", ("-cpu", "max")),
    62: ("qemu-system-x86_64", ()),
    3: ("qemu-system-i386", ()),
    40: ("qemu-system-arm", ()),
}


def emulator(image: Path) -> tuple[str, tuple[str, ...]]:
    """The emulator for an ELF image, and its options. Raises UsageError if the file is not an
    image that we can run.
    """
    try:
        with image.open("rb") as file:
            head = file.read(_HEADER_BYTES)
    except OSError as error:
        raise UsageError(f"{image} cannot be read ({error.strerror}); name an ELF image") from error
    if head[:4] != b"\x7fELF" or len(head) < _HEADER_BYTES:
        raise UsageError(
            f"{image} is not an ELF file; name the kernel image as the linker wrote it"
        )
    order = "little" if head[5] == 1 else "big"
    machine = int.from_bytes(head[18:20], order)  # type: ignore[arg-type]
    if machine not in _EMULATORS:
        raise NotComparable(f"{image} is for ELF machine {machine}, for which no emulator is known")
    return _EMULATORS[machine]
