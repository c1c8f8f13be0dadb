# SPDX-License-Identifier: BSD-2-Clause
"""The state of a stopped machine beside its RAM: registers, CSRs, registers of devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cyclometer.targets.qemu.debugger import Debugger
from cyclometer.targets.rocket_linux.device_tree import UART_BASE

# What is kept, in the order in which machines/restore/restore.S puts it back.
CSRS = {
    "fcsr": 0x003,
    "mtvec": 0x305,
    "medeleg": 0x302,
    "mideleg": 0x303,
    "mie": 0x304,
    "mip": 0x344,
    "mcounteren": 0x306,
    "scounteren": 0x106,
    "mscratch": 0x340,
    "sscratch": 0x140,
    "stvec": 0x105,
    "sepc": 0x141,
    "scause": 0x142,
    "stval": 0x143,
    "mcause": 0x342,
    "mtval": 0x343,
    **{f"pmpaddr{i}": 0x3B0 + i for i in range(8)},
    "pmpcfg0": 0x3A0,
    "satp": 0x180,
    "mcycle": 0xB00,
    "minstret": 0xB02,
    "mepc": 0x341,
    "mstatus": 0x300,
}

_UART_INTERRUPTS, _UART_FIFO, _UART_LINE, _UART_MODEM = 1, 2, 3, 4
_UART_FIFO_ENABLED = 0xC0  # as a driver reads it; written as 1
_PLIC_PRIORITIES = range(0xC00_0004, 0xC00_0024, 4)  # of sources 1 to 8
_PLIC_ENABLES, _PLIC_THRESHOLDS = (0xC00_2000, 0xC00_2080), (0xC20_0000, 0xC20_1000)
CLINT_MSIP, CLINT_MTIMECMP, CLINT_MTIME = 0x200_0000, 0x200_4000, 0x200_BFF8
_NEVER = 2**64 - 1

Writes = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class MachineState:
    """`x` begins with x1; the device registers are (address, value) by their width, in the order in
    which they must be written.
    """

    pc: int
    privilege: int  # 0 user, 1 supervisor
    x: Sequence[int]
    f: Sequence[int]
    csrs: Mapping[str, int]
    bytes_: Writes = ()
    words: Writes = ()
    doubles: Writes = ()


def read_state(machine: Debugger) -> MachineState:
    """All that a stopped QEMU holds beside its RAM. Raises MeasurementFailed if QEMU does
    not answer.
    """
    first_x, first_f = machine.number("zero"), machine.number("ft0")
    return MachineState(
        pc=machine.register("pc"),
        privilege=machine.register("priv"),
        x=[machine.numbered(first_x + n) for n in range(1, 32)],
        f=[machine.numbered(first_f + n) for n in range(32)],
        csrs={name: machine.riscv_csr(number) for name, number in CSRS.items()},
        bytes_=_uart(machine),
        words=_words(machine, (*_PLIC_PRIORITIES, *_PLIC_ENABLES, *_PLIC_THRESHOLDS, CLINT_MSIP)),
        doubles=[
            (CLINT_MTIMECMP, _NEVER),  # no interrupt while the time is not yet right
            (CLINT_MTIME, _unsigned(machine, CLINT_MTIME, 8)),
            (CLINT_MTIMECMP, _unsigned(machine, CLINT_MTIMECMP, 8)),
        ],
    )


def _uart(machine: Debugger) -> Writes:
    """Line control first, for a bit of it leads writes of the next register elsewhere."""
    registers = [machine.physical_memory(UART_BASE + i, 1)[0] for i in range(5)]
    fifo = int(registers[_UART_FIFO] & _UART_FIFO_ENABLED == _UART_FIFO_ENABLED)
    return [
        (UART_BASE + _UART_LINE, registers[_UART_LINE]),
        (UART_BASE + _UART_FIFO, fifo),
        (UART_BASE + _UART_MODEM, registers[_UART_MODEM]),
        (UART_BASE + _UART_INTERRUPTS, registers[_UART_INTERRUPTS]),
    ]


def _words(machine: Debugger, addresses: Iterable[int]) -> Writes:
    return [(address, _unsigned(machine, address, 4)) for address in addresses]


def _unsigned(machine: Debugger, address: int, length: int) -> int:
    return int.from_bytes(machine.physical_memory(address, length), "little")
