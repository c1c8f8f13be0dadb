# SPDX-License-Identifier: BSD-2-Clause
"""The device tree that both machines boot with, read back by a reader of its own."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from cyclometer.targets.rocket_linux.device_tree import board, flatten


def unflatten(blob: bytes) -> dict[str, Any]:
    """A tree as nested dictionaries, with the bytes of each property."""
    magic, total, structure, strings = struct.unpack_from(">4I", blob)
    assert magic == 0xD00DFEED
    assert total == len(blob)
    at, stack = structure, [{}]
    while (token := struct.unpack_from(">I", blob, at)[0]) != 9:
        at += 4
        if token == 1:
            end = blob.index(b"\0", at)
            node: dict[str, Any] = {}
            stack[-1][blob[at:end].decode()] = node
            stack.append(node)
            at += (end - at) // 4 * 4 + 4
        elif token == 3:
            length, name = struct.unpack_from(">2I", blob, at)
            end = blob.index(b"\0", strings + name)
            stack[-1][blob[strings + name : end].decode()] = blob[at + 8 : at + 8 + length]
            at += 8 + (length + 3) // 4 * 4
        else:
            assert token == 2
            stack.pop()
    assert len(stack) == 1
    return stack[0][""]


@pytest.mark.parametrize("source", [1, 10])
def test_the_board_reads_back(source: int) -> None:
    tree = unflatten(flatten(board(128, source)))
    assert struct.unpack(">4I", tree["memory@80000000"]["reg"]) == (0, 0x8000_0000, 0, 128 << 20)
    uart = tree["soc"]["serial@10000000"]
    assert uart["compatible"] == b"ns16550a\0"
    assert struct.unpack(">I", uart["interrupts"]) == (source,)
    plic = tree["soc"]["interrupt-controller@c000000"]
    assert struct.unpack(">I", plic["riscv,ndev"])[0] >= source
    assert plic["interrupt-controller"] == b""
    hart = tree["cpus"]["cpu@0"]
    controller = hart["interrupt-controller"]["phandle"]
    assert plic["interrupts-extended"][:4] == controller
    assert tree["reserved-memory"]["firmware@80000000"]["no-map"] == b""
