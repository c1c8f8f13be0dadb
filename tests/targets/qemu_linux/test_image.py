# SPDX-License-Identifier: BSD-2-Clause
"""A kernel is known by its header, and its configuration is found where people keep it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from cyclometer.errors import BadFile, NotComparable, UsageError
from cyclometer.targets.qemu_linux import image as kernel_image

HEADS = {"x86_64": (0x202, b"HdrS"), "aarch64": (0x38, b"ARM\x64"), "riscv64": (0x38, b"RSC\x05")}


def image(machine: str) -> bytes:
    data = bytearray(0x400)
    at, magic = HEADS[machine]
    data[at : at + len(magic)] = magic
    return bytes(data)


@pytest.mark.parametrize("machine", list(HEADS))
def test_the_header_tells_the_machine(tmp_path: Path, machine: str) -> None:
    (tmp_path / "Image").write_bytes(image(machine))
    assert kernel_image.find(str(tmp_path / "Image")).machine.name == machine


def test_a_compressed_image_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "Image.gz").write_bytes(gzip.compress(image("aarch64")))
    assert kernel_image.find(str(tmp_path / "Image.gz")).machine.name == "aarch64"


def test_what_is_no_kernel_is_one_sentence(tmp_path: Path) -> None:
    for content in (b"", b"\x1f\x8bnot", b"\x7fELF" + bytes(0x300)):
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(BadFile, match="not a kernel image that we know"):
            kernel_image.find(str(tmp_path / "x"))
    with pytest.raises(UsageError, match="cannot be read"):
        kernel_image.find(str(tmp_path / "missing"))
    (tmp_path / "x").write_bytes(b"MZ\0\0zimg" + bytes(0x300))
    with pytest.raises(NotComparable, match="unpacks itself"):
        kernel_image.find(str(tmp_path / "x"))


def test_a_file_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(kernel_image.IMAGE_BYTES + 1)
    with pytest.raises(BadFile, match="larger than 256 MiB"):
        kernel_image.find(str(tmp_path / "big"))


def test_what_is_no_regular_file_is_neither_waited_for_nor_read_without_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "pipe"), "/dev/zero", str(tmp_path)):
        with pytest.raises(UsageError, match="not a regular file"):
            kernel_image.find(name)


@pytest.mark.parametrize(
    ("kernel", "config"),
    [("vmlinuz-6.1", "config-6.1"), ("tree/arch/x86/boot/bzImage", "tree/.config")],
)
def test_the_configuration_beside_an_image_is_its_own(
    tmp_path: Path, kernel: str, config: str
) -> None:
    (tmp_path / kernel).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / kernel).write_bytes(image("x86_64"))
    (tmp_path / config).write_text(
        "CONFIG_HZ=250\n# CONFIG_PSI is not set\n# a remark\nCONFIG_X=m\n"
    )
    found = kernel_image.find(str(tmp_path / kernel))
    assert found.config == {"CONFIG_HZ": "250", "CONFIG_PSI": "n", "CONFIG_X": "m"}
    assert found.facts()["config"] == found.config


@pytest.mark.parametrize(
    ("kernel", "symbols"),
    [
        ("vmlinuz-6.1", "System.map-6.1"),
        ("vmlinux-6.12-riscv64", "System.map-6.12-riscv64"),
        ("tree/arch/x86/boot/bzImage", "tree/vmlinux"),
    ],
)
def test_symbols_beside_an_image_are_its_own_unless_others_are_given_or_they_are_a_remark(
    tmp_path: Path, kernel: str, symbols: str
) -> None:
    image_path, beside = tmp_path / kernel, tmp_path / symbols
    image_path.parent.mkdir(parents=True, exist_ok=True)
    image_path.write_bytes(image("x86_64"))
    beside.write_bytes(b"ffffffffffffffff B The real System.map is elsewhere\n")
    assert kernel_image.find(str(image_path)).symbols is None
    beside.write_bytes(bytes(5000))
    assert kernel_image.find(str(image_path)).symbols == beside.resolve()
    (beside.parent / "given").touch()
    assert (
        kernel_image.find(str(image_path), beside.parent / "given").symbols
        == beside.parent / "given"
    )
    with pytest.raises(UsageError, match="is not a file; name the kernel"):
        kernel_image.find(str(image_path), tmp_path / "missing")


def test_a_tree_that_an_image_only_lies_in_says_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images/bzImage-6.1").write_bytes(image("x86_64"))
    (tmp_path / ".config").write_text("CONFIG_HZ=250\n")
    (tmp_path / "vmlinux").write_bytes(bytes(5000))
    found = kernel_image.find(str(tmp_path / "images/bzImage-6.1"))
    assert (found.config, found.symbols) == ({}, None)


def test_a_configuration_that_is_a_bomb_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vmlinuz-1").write_bytes(image("x86_64"))
    (tmp_path / "config-1").write_bytes(gzip.compress(bytes(8 << 20)))
    with pytest.raises(BadFile, match="not a kernel configuration"):
        kernel_image.find(str(tmp_path / "vmlinuz-1"))


@pytest.mark.parametrize("damage", ["cut", "garbled", "no gzip at all"])
def test_a_damaged_configuration_is_one_sentence(tmp_path: Path, damage: str) -> None:
    (tmp_path / "vmlinuz-6.1").write_bytes(image("x86_64"))
    packed = gzip.compress(b"CONFIG_HZ=250\n" * 1000, mtime=0)
    bad = {
        "cut": packed[:-20],
        "garbled": packed[:20] + b"\xff" * 20 + packed[40:],
        "no gzip at all": b"\x1f\x8bno",
    }
    (tmp_path / "config-6.1").write_bytes(bad[damage])
    with pytest.raises(BadFile, match=r"config-6\.1 is damaged"):
        kernel_image.find(str(tmp_path / "vmlinuz-6.1"))


def test_a_vmlinux_of_the_tree_or_as_given_may_have_debugging_information(tmp_path: Path) -> None:
    machine = kernel_image.MACHINES["x86_64"]
    image, beside = tmp_path / "arch/x86/boot/bzImage", tmp_path / "vmlinux"
    image.parent.mkdir(parents=True)
    beside.write_bytes(b"\x7fELF")
    assert kernel_image.Kernel(image, machine, "", "k").debug == beside
    given = tmp_path / "other"
    given.write_bytes(b"\x7fELF")
    assert kernel_image.Kernel(image, machine, "", "k", symbols=given).debug == given
    given.write_text("ffffffff81000000 T _text\n")
    elsewhere = tmp_path / "bzImage"
    assert kernel_image.Kernel(elsewhere, machine, "", "k", symbols=given).debug is None
