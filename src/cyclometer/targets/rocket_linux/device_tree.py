# SPDX-License-Identifier: BSD-2-Clause
"""The device tree of the machine that QEMU and the RTL have in common.

Format: Devicetree Specification 0.4, chapter 5.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

RAM_BASE = 0x8000_0000
FIRMWARE_BYTES = 0x10000  # machines/firmware/platform.h
FOREIGN_FIRMWARE_BYTES = 0x200000  # up to where a kernel begins
TIMEBASE_HZ = 10_000_000  # mtime: once in 100 cycles of the RTL, or instructions of QEMU
UART_BASE = 0x1000_0000
QEMU_UART_SOURCE, ROCKET_UART_SOURCE = 10, 1  # of the PLIC
ROCKET_SOURCES = 8
UART_FIFO_BYTES = 256  # a driver sends so many at an interrupt
FINISHER_BASE = 0x1000_2000
_HART, _PLIC = 1, 2  # phandles

Property = str | Sequence[int]  # text, or 32-bit cells
Node = Mapping[str, "Property | Node"]

_BEGIN, _END, _PROPERTY, _TREE_END = 1, 2, 3, 9
_HEADER_BYTES, _RESERVATIONS_BYTES = 40, 16


def board(memory_mib: int, uart_source: int, firmware_bytes: int = FIRMWARE_BYTES) -> Node:
    """One hart, its timer and interrupt controllers, RAM, a UART and a finisher.

    The UART interrupts through `uart_source` of the PLIC, which is where the machines differ.
    The kernel leaves `firmware_bytes` at the beginning of RAM alone.
    """
    return {
        "#address-cells": (2,),
        "#size-cells": (2,),
        "compatible": "cyclometer,rocket",
        "model": "Rocket core in simulation",
        "chosen": {"stdout-path": f"/soc/serial@{UART_BASE:x}"},
        "cpus": {
            "#address-cells": (1,),
            "#size-cells": (0,),
            "timebase-frequency": (TIMEBASE_HZ,),
            "cpu@0": _hart(),
        },
        f"memory@{RAM_BASE:x}": {
            "device_type": "memory",
            "reg": (0, RAM_BASE, 0, memory_mib << 20),
        },
        "reserved-memory": {
            "#address-cells": (2,),
            "#size-cells": (2,),
            "ranges": (),
            f"firmware@{RAM_BASE:x}": {"reg": (0, RAM_BASE, 0, firmware_bytes), "no-map": ()},
        },
        "soc": _devices(uart_source),
    }


def _hart() -> Node:
    return {
        "device_type": "cpu",
        "reg": (0,),
        "status": "okay",
        "compatible": "riscv",
        "riscv,isa": "rv64imafdc",
        "mmu-type": "riscv,sv39",
        "interrupt-controller": {
            "compatible": "riscv,cpu-intc",
            "#interrupt-cells": (1,),
            "interrupt-controller": (),
            "phandle": (_HART,),
        },
    }


def _devices(uart_source: int) -> Node:
    return {
        "compatible": "simple-bus",
        "#address-cells": (2,),
        "#size-cells": (2,),
        "ranges": (),
        "clint@2000000": {
            "compatible": "riscv,clint0",
            "reg": (0, 0x200_0000, 0, 0x10000),
            "interrupts-extended": (_HART, 3, _HART, 7),
        },
        "interrupt-controller@c000000": {
            "compatible": "riscv,plic0",
            "reg": (0, 0xC00_0000, 0, 0x400_0000),
            "interrupts-extended": (_HART, 11, _HART, 9),
            "#interrupt-cells": (1,),
            "interrupt-controller": (),
            "riscv,ndev": (max(ROCKET_SOURCES, uart_source),),
            "phandle": (_PLIC,),
        },
        f"serial@{UART_BASE:x}": {
            "compatible": "ns16550a",
            "reg": (0, UART_BASE, 0, 0x100),
            "interrupt-parent": (_PLIC,),
            "interrupts": (uart_source,),
            "clock-frequency": (3_686_400,),  # for the divisor, which neither machine heeds
            "fifo-size": (UART_FIFO_BYTES,),
            "tx-threshold": (1,),
        },
        f"test@{FINISHER_BASE:x}": {
            "compatible": "sifive,test1",
            "reg": (0, FINISHER_BASE, 0, 0x1000),
        },
    }


def flatten(root: Node) -> bytes:
    """The tree as the bytes that firmware hands to a kernel."""
    names: dict[str, int] = {}
    structure = _node("", root, names) + struct.pack(">I", _TREE_END)
    strings = b"".join(name.encode() + b"\0" for name in names)
    at = _HEADER_BYTES + _RESERVATIONS_BYTES
    fields = (
        *(0xD00DFEED, at + len(structure) + len(strings), at, at + len(structure), _HEADER_BYTES),
        *(17, 16, 0, len(strings), len(structure)),
    )
    return struct.pack(">10I", *fields) + bytes(_RESERVATIONS_BYTES) + structure + strings


def _node(name: str, node: Node, names: dict[str, int]) -> bytes:
    parts = [struct.pack(">I", _BEGIN), _padded(name.encode() + b"\0")]
    for key, value in node.items():
        parts.append(
            _node(key, value, names) if isinstance(value, Mapping) else _property(key, value, names)
        )
    return b"".join([*parts, struct.pack(">I", _END)])


def _property(name: str, value: Property, names: dict[str, int]) -> bytes:
    data = (
        value.encode() + b"\0" if isinstance(value, str) else struct.pack(f">{len(value)}I", *value)
    )
    offset = names.setdefault(name, sum(len(known) + 1 for known in names))
    return struct.pack(">III", _PROPERTY, len(data), offset) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
