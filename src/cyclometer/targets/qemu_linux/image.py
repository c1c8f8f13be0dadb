# SPDX-License-Identifier: BSD-2-Clause
"""A Linux kernel to boot: found by path or package, recognised by its header, with what is known
beside it.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import stat
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from cyclometer.errors import BadFile, NotComparable, UsageError
from cyclometer.targets.qemu_linux import debian

IMAGE_BYTES = 256 << 20
_HEAD_BYTES = 0x210
_CONFIG_BYTES = 4 << 20
_REMARK_BYTES = 4096
_OPTION = re.compile(r"^(?:# )?(CONFIG_\w+)(?:=(.*)| is not set)$", re.M)


@dataclass(frozen=True)
class Machine:
    """How one architecture's kernels are booted so that their clock counts instructions, and what
    builds for it.
    """

    name: str  # as `uname -m` says
    emulator: str
    package: str  # that holds the emulator
    board: tuple[str, ...]
    cpu: str
    console: str
    cross: str  # prefix of its compiler
    flags: tuple[str, ...] = ()
    append: str = ""  # to the command line of its kernels
    saved: bool = False  # whether QEMU saves it whole: RISC-V's timer it leaves out (7.2)


# On these two, every 48th system call refills the random numbers that move the kernel's stack:
# thousands of instructions, and the kernel does not report it. x86-64 takes the clock for a random
# number.
_STEADY_STACK = "randomize_kstack_offset=off"

MACHINES = {
    # A processor that people have, of those that the emulator carries nearly whole. A later one has
    # ERMS, by which kernels copy byte by byte: the emulator counts each as an instruction. Its
    # random numbers are the same in every boot.
    "x86_64": Machine(
        "x86_64",
        "qemu-system-x86_64",
        "qemu-system-x86",
        ("-M", "q35", "-seed", "1"),
        "EPYC-Rome-v1",
        "ttyS0",
        "x86_64-linux-gnu-",
        saved=True,
    ),
    # A counter of 1 GHz advances by one for each instruction.
    "aarch64": Machine(
        "aarch64",
        "qemu-system-aarch64",
        "qemu-system-arm",
        ("-M", "virt"),
        "cortex-a57,cntfrq=1000000000",
        "ttyAMA0",
        "aarch64-linux-gnu-",
        append=_STEADY_STACK,
    ),
    # `time` ticks at 10 MHz there; `instret` counts. Linux since 6.6 has the firmware stop it by
    # `mcountinhibit`, which cores before version 1.11 of the privileged architecture do not have;
    # the U54 is one (of version 1.10).
    "riscv64": Machine(
        "riscv64",
        "qemu-system-riscv64",
        "qemu-system-misc",
        ("-M", "virt"),
        "sifive-u54",
        "ttyS0",
        "riscv64-linux-gnu-",
        ("-DCYC_CLOCK_INSTRET",),
        append=_STEADY_STACK,
    ),
}


@dataclass(frozen=True)
class Kernel:
    """An image, its machine, and its identity as far as it is known without booting it."""

    image: Path
    machine: Machine
    sha256: str
    name: str
    # CONFIG_X -> value; "n" where it is not set
    config: dict[str, str] = field(default_factory=dict, compare=False)
    symbols: Path | None = None  # a System.map or vmlinux

    @property
    def debug(self) -> Path | None:
        """A vmlinux that may have debugging information: as given, or of the image's tree."""
        given = [self.symbols] if self.symbols and _is_elf(self.symbols) else []
        found = [*given, *_in_tree(self.image, "vmlinux")]
        return next((path for path in found if path.is_file()), None)

    def facts(self) -> dict[str, object]:
        """For the environment of a bundle."""
        return {"image": {"name": self.name, "sha256": self.sha256}, "config": self.config}


def find(name: str, symbols: Path | None = None) -> Kernel:
    """The kernel at a path, or in a package that `debian:` names; `symbols` instead of what may
    be found beside it.

    Raises UsageError, BadFile or NotComparable.
    """
    if symbols and not symbols.is_file():
        raise UsageError(f"{symbols} is not a file; name the kernel's System.map or vmlinux")
    if debian.is_package(name):
        package, files = debian.fetch(name)
        return _kernel(
            files["vmlinuz"], f"{package.name} {package.version}", files.get("config"), symbols
        )
    image = Path(name)
    return _kernel(image, image.name, _config_beside(image), symbols or _symbols_beside(image))


def options(text: str) -> dict[str, str]:
    """The options of a .config by name; "n" for those that it says are not set."""
    return {name: value or "n" for name, value in _OPTION.findall(text)}


def _kernel(image: Path, name: str, config: Path | None, symbols: Path | None) -> Kernel:
    try:
        # a pipe would be waited for, a device read without end
        if not stat.S_ISREG(image.stat().st_mode):
            raise UsageError(f"{image} is not a regular file; name a bzImage or an Image")
        if image.stat().st_size > IMAGE_BYTES:
            raise BadFile(
                f"{image} is larger than {IMAGE_BYTES >> 20} MiB; name a bzImage or an Image"
            )
        data = image.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{image} cannot be read ({error.strerror}); name a bzImage or an Image"
        ) from error
    known = options(_text(config)) if config else {}
    return Kernel(
        image, _machine(image, data), hashlib.sha256(data).hexdigest(), name, known, symbols
    )


def _machine(image: Path, data: bytes) -> Machine:
    """By the image's own header: Linux Documentation, x86/boot, arm64/booting,
    riscv/boot-image-header.
    """
    head = _head(data)
    if head[0x202:0x206] == b"HdrS":
        return MACHINES["x86_64"]
    if head[0x38:0x3C] == b"ARM\x64":
        return MACHINES["aarch64"]
    if head[0x38:0x3C] == b"RSC\x05":
        return MACHINES["riscv64"]
    if head[4:8] == b"zimg":
        raise NotComparable(
            f"{image} is an EFI image that unpacks itself, which the emulator cannot boot; name "
            "the Image"
        )
    raise BadFile(
        f"{image} is not a kernel image that we know; name a bzImage, or an arm64 or riscv64 Image"
    )


def _head(data: bytes) -> bytes:
    if data[:2] != b"\x1f\x8b":
        return data[:_HEAD_BYTES]
    try:
        return zlib.decompressobj(wbits=31).decompress(data, _HEAD_BYTES)
    except zlib.error:
        return b""


def _config_beside(image: Path) -> Path | None:
    """config-V beside vmlinuz-V, or the .config of the tree that an image was built in."""
    found = [
        _named_like(image, "config"),
        image.with_suffix(".config"),
        *_in_tree(image, ".config"),
    ]
    return next((path for path in found if path != image and path.is_file()), None)


def _symbols_beside(image: Path) -> Path | None:
    """System.map-V beside vmlinuz-V, or that of the tree that an image was built in; a
    distribution's is a remark.
    """
    found = [_named_like(image, "System.map"), *_in_tree(image, "System.map", "vmlinux")]
    return next(
        (
            path
            for path in found
            if path != image and path.is_file() and path.stat().st_size > _REMARK_BYTES
        ),
        None,
    )


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _named_like(image: Path, word: str) -> Path:
    return image.with_name(re.sub(r"^(vmlinuz|vmlinux|bzImage|Image)(?=$|[-.])", word, image.name))


def _in_tree(image: Path, *names: str) -> list[Path]:
    """Files of the tree that an image was built in, which is where arch/*/boot/ puts it: others say
    nothing of it.
    """
    folders = image.resolve().parents
    built = len(folders) > 3 and (folders[0].name, folders[2].name) == ("boot", "arch")
    return [folders[3] / name for name in names if built]


def _text(config: Path) -> str:
    with config.open("rb") as file:
        data = file.read(_CONFIG_BYTES + 1)
    if data[:2] == b"\x1f\x8b":
        try:
            with gzip.open(config) as file:
                data = file.read(_CONFIG_BYTES + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BadFile(f"{config} is damaged ({error}); restore it or move it away") from error
    if len(data) > _CONFIG_BYTES:
        raise BadFile(
            f"{config} is larger than {_CONFIG_BYTES >> 20} MiB; it is not a kernel configuration"
        )
    return data.decode("utf-8", "replace")
